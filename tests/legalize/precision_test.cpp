// Precision policies as they show in the graph, and by the interpreter's arithmetic.
#include "legalize/precision.h"

#include <gtest/gtest.h>

#include <cmath>

#include "tenon/error.h"
#include "tests/lower/random_tensors.h"

namespace tenon::legalize {
namespace {

using namespace graph;
using graph_test::Tensors;

// y = softmax(norm(x) @ w + bias) @ table^T, where x, y and table are data.
Graph some_graph() {
  Graph g;
  const Value x = g.input("x", {{Symbol("b", {1, 64}), 24}, DType::F32});
  const Value table = g.input("table", {{16, 16}, DType::F32});
  const Value norm = g.layer_norm(x, g.param("scale", {{24}, DType::F32}),
                                  g.param("shift", {{24}, DType::F32}), 1e-5);
  const Value scores = g.linear(norm, g.param("w", {{24, 16}, DType::F32}),
                                g.param("bias", {{16}, DType::F32}), {}, Activation::None);
  const Value weights = g.softmax(g.mul(scores, g.scalar(DType::F32, 0.5)), 1);
  g.set_outputs({{"y", g.matmul(weights, g.transpose(table, {1, 0}))}});
  return g;
}

const Node& only(const Graph& g, Op op) {
  const Node* found = nullptr;
  for (const Node* node : g.topological()) {
    if (node->op() != op) continue;
    EXPECT_EQ(found, nullptr) << "several " << info(op).text;
    found = node;
  }
  EXPECT_NE(found, nullptr) << info(op).text;
  return *found;
}

Graph with(const Graph& g, PrecisionPolicy policy) {
  Graph result = apply_precision(g, {.policy = policy});
  verify(result);
  return result;
}

// cast(f32, cast(dtype, ...))
bool is_rounded(Value value, DType dtype) {
  return value.op() == Op::Cast && value.dtype() == DType::F32 &&
         value.node->operand(0).op() == Op::Cast && value.node->operand(0).dtype() == dtype;
}

TEST(Precision, AlwaysF32ChangesNothing) {
  const Graph g = some_graph();
  EXPECT_EQ(print(with(g, PrecisionPolicy::AlwaysF32)), print(g));
}

TEST(Precision, InputsAndOutputsStayWhatTheyAre) {
  const Graph g = some_graph();
  for (int i = 0; i < static_cast<int>(PrecisionPolicy::Custom); ++i) {
    const Graph changed = with(g, static_cast<PrecisionPolicy>(i));
    ASSERT_EQ(changed.inputs().size(), g.inputs().size());
    for (size_t k = 0; k < g.inputs().size(); ++k)
      EXPECT_EQ(changed.inputs()[k].type(), g.inputs()[k].type());
    EXPECT_EQ(changed.params().size(), g.params().size());
    EXPECT_EQ(changed.outputs()[0].value.type(), g.outputs()[0].value.type());
  }
}

TEST(Precision, StoragePoliciesComputeEveryOpInTheirDtype) {
  for (const auto& [policy, dtype] : {std::pair{PrecisionPolicy::AlwaysF16, DType::F16},
                                      {PrecisionPolicy::AlwaysBf16, DType::BF16}}) {
    const Graph g = with(some_graph(), policy);
    for (const Op op : {Op::LayerNorm, Op::Linear, Op::Mul, Op::Softmax, Op::MatMul})
      EXPECT_EQ(only(g, op).types()[0].dtype, dtype) << info(op).text;
  }
}

TEST(Precision, AutoMixedRoundsFactorsOnly) {
  const Graph g = with(some_graph(), PrecisionPolicy::AutoMixed);
  const Node& linear = only(g, Op::Linear);
  EXPECT_TRUE(is_rounded(linear.operand(0), DType::BF16));
  EXPECT_TRUE(is_rounded(linear.operand(1), DType::BF16));
  EXPECT_EQ(linear.operand(2).op(), Op::Param);
  EXPECT_TRUE(is_rounded(only(g, Op::MatMul).operand(0), DType::BF16));
  for (const Op op : {Op::LayerNorm, Op::Softmax}) {
    EXPECT_EQ(only(g, op).types()[0].dtype, DType::F32);
    EXPECT_NE(only(g, op).operand(0).op(), Op::Cast);
  }
}

TEST(Precision, TheConservativeOneKeepsProductsOfData) {
  const Graph g = with(some_graph(), PrecisionPolicy::AutoMixedConservative);
  EXPECT_TRUE(is_rounded(only(g, Op::Linear).operand(1), DType::BF16));
  EXPECT_EQ(only(g, Op::MatMul).operand(0).op(), Op::Softmax);
}

TEST(Precision, CustomIsByCategory) {
  PrecisionOptions options{.policy = PrecisionPolicy::Custom};
  options.custom[static_cast<size_t>(OpCategory::Contraction)] = Numbers::ByF16;
  options.custom[static_cast<size_t>(OpCategory::Norm)] = Numbers::Bf16;
  const Graph g = apply_precision(some_graph(), options);
  verify(g);
  EXPECT_TRUE(is_rounded(only(g, Op::MatMul).operand(1), DType::F16));
  EXPECT_EQ(only(g, Op::LayerNorm).types()[0].dtype, DType::BF16);
  EXPECT_EQ(only(g, Op::Linear).operand(1).op(), Op::Param);

  options.custom[static_cast<size_t>(OpCategory::Softmax)] = Numbers::ByBf16;
  EXPECT_THROW(apply_precision(some_graph(), options), Error);
}

TEST(Precision, NumbersByCategoryAndThePolicyCustomBelongTogether) {
  const auto error_of = [](const PrecisionOptions& options) -> std::string {
    try {
      apply_precision(some_graph(), options);
    } catch (const Error& error) {
      EXPECT_EQ(error.kind(), ErrorKind::User);
      return error.what();
    }
    return "no error";
  };
  EXPECT_NE(error_of({.policy = PrecisionPolicy::Custom}).find("custom needs numbers"),
            std::string::npos);
  PrecisionOptions options{.custom = {Numbers::Bf16}};
  EXPECT_NE(error_of(options).find("this is always_f32"), std::string::npos);
  options.policy = PrecisionPolicy::AutoMixed;
  EXPECT_NE(error_of(options).find("this is auto_mixed"), std::string::npos);
}

TEST(Precision, OnlyF32Changes) {
  Graph g;
  const Value x = g.input("x", {{4, 8}, DType::F64}), i = g.input("i", {{4, 8}, DType::I64});
  const Value half = g.input("half", {{4, 8}, DType::F16});
  g.set_outputs({{"x", g.matmul(x, g.transpose(x, {1, 0}))},
                 {"i", g.add(i, i)},
                 {"half", g.softmax(half, 1)}});
  EXPECT_EQ(print(with(g, PrecisionPolicy::AlwaysBf16)), print(g));
}

// A mask of -1e9 is more than f16 has: as infinity it would be NaN times 0.
TEST(Precision, ConstantsStayFinite) {
  Graph g;
  const Value x = g.input("x", {{2}, DType::F32});
  g.set_outputs({{"y", g.mul(x, g.scalar(DType::F32, -1e9))}});
  const float numbers[] = {0, 1};
  Tensor x_data{DType::F32, {2}, {}};
  x_data.bytes.assign(reinterpret_cast<const std::byte*>(numbers),
                      reinterpret_cast<const std::byte*>(numbers + 2));
  const auto y = interpret(with(g, PrecisionPolicy::AlwaysF16), {{"x", x_data}})[0];
  EXPECT_EQ(load_as_f64(DType::F32, y.bytes.data()), 0);
  EXPECT_EQ(load_as_f64(DType::F32, &y.bytes[4]), -65504);
}

Tensor of(std::vector<int64_t> shape, const std::vector<float>& numbers) {
  Tensor result{DType::F32, std::move(shape), {}};
  const auto* bytes = reinterpret_cast<const std::byte*>(numbers.data());
  result.bytes.assign(bytes, bytes + numbers.size() * sizeof(float));
  return result;
}

// Rows and columns whose largest magnitudes are 127 steps of their own are exact: row scales 1 and
// 1/2, column scales 1 and 2.
TEST(Precision, Int8IsExactWhereNumbersAreSteps) {
  Graph g;
  const Value x = g.input("x", {{2, 2}, DType::F32});
  const Value w = g.param("w", {{2, 2}, DType::F32}), bias = g.param("bias", {{2}, DType::F32});
  g.set_outputs({{"y", g.linear(x, w, bias, x, Activation::Relu)}});
  const Graph quantized = with(g, PrecisionPolicy::DynamicInt8);
  EXPECT_EQ(only(quantized, Op::MatMul).types()[0].dtype, DType::I32);
  const Tensors inputs = {{"x", of({2, 2}, {127, -3, 5, -63.5})},
                          {"w", of({2, 2}, {127, 10, 2, -254})},
                          {"bias", of({2}, {1, -1})}};
  const auto y = interpret(quantized, inputs)[0];
  const double expected[] = {127. * 127 - 6 + 1 + 127, 1270 + 762 - 1 - 3, 5. * 127 - 127 + 1 + 5,
                             50 + 63.5 * 254 - 1 - 63.5};
  for (size_t i = 0; i < 4; ++i)
    EXPECT_NEAR(load_as_f64(DType::F32, &y.bytes[i * 4]), expected[i], 0.01) << i;
}

// Both products of a gated linear have steps of their own; a scale of the row comes after.
TEST(Precision, GatedLinearsAreTwoProductsIn8Bits) {
  Graph g;
  const Value x = g.input("x", {{1, 2}, DType::F32}), s = g.input("s", {{1, 1}, DType::F32});
  const Value gate = g.param("gate", {{2, 1}, DType::F32}),
              up = g.param("up", {{2, 1}, DType::F32});
  g.set_outputs({{"y", g.gated_linear(x, gate, up, Activation::Relu, s)}});
  const Tensors inputs = {{"x", of({1, 2}, {127, 3})},
                          {"s", of({1, 1}, {0.5})},
                          {"gate", of({2, 1}, {127, -1})},
                          {"up", of({2, 1}, {2, 254})}};
  const auto y = interpret(with(g, PrecisionPolicy::DynamicInt8), inputs)[0];
  const double expected = 0.5 * (127. * 127 - 3) * 0.5 * (2. * 127 + 3. * 254);
  EXPECT_NEAR(load_as_f64(DType::F32, y.bytes.data()), expected, 1);
}

TEST(Precision, ARowOfZerosIsZeroIn8Bits) {
  Graph g;
  const Value x = g.input("x", {{1, 2}, DType::F32});
  g.set_outputs({{"y", g.matmul(x, g.param("w", {{2, 2}, DType::F32}))}});
  const auto y = interpret(with(g, PrecisionPolicy::DynamicInt8),
                           {{"x", of({1, 2}, {0, 0})}, {"w", of({2, 2}, {1, 0, 2, 0})}})[0];
  for (size_t i = 0; i < 2; ++i) EXPECT_EQ(load_as_f64(DType::F32, &y.bytes[i * 4]), 0);
}

// Each policy within what its numbers have: 11 bits, 8 bits, 7 bits and a sign.
TEST(Precision, ResultsStayClose) {
  const Graph g = some_graph();
  const Tensors inputs = graph_test::random_tensors(g, {{"b", 5}});
  const auto expected = interpret(g, inputs)[0];
  const std::pair<PrecisionPolicy, double> bounds[] = {
      {PrecisionPolicy::AlwaysF16, 0.003},  {PrecisionPolicy::AlwaysBf16, 0.03},
      {PrecisionPolicy::AutoMixed, 0.01},   {PrecisionPolicy::AutoMixedConservative, 0.01},
      {PrecisionPolicy::DynamicInt8, 0.02},
  };
  for (const auto& [policy, bound] : bounds) {
    graph_test::expect_close(interpret(with(g, policy), inputs)[0], expected, bound,
                             std::string(kPrecisionPolicies[static_cast<size_t>(policy)]));
  }
}

TEST(Precision, PoliciesHaveNames) {
  for (size_t i = 0; i < std::size(kPrecisionPolicies); ++i)
    EXPECT_EQ(parse_precision_policy(kPrecisionPolicies[i]), static_cast<PrecisionPolicy>(i));
  EXPECT_EQ(parse_precision_policy("half"), std::nullopt);
}

}  // namespace
}  // namespace tenon::legalize
