// What each precision policy costs in accuracy, on a layer of an encoder and one of a decoder: the
// numbers of docs/numerics.md, with room for a factor of two.
#include "legalize/precision.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>

#include "tests/hir/layer_weights.h"
#include "tests/hir/model.h"

namespace tenon::graph_test {
namespace {

using graph::Activation;
using graph::Graph;
using graph::Op;
using graph::Value;

constexpr int64_t kWidth = 128, kInner = 512, kHeads = 4, kKvHeads = 2, kHeadWidth = 32,
                  kLength = 24;

// A weight whose products with numbers of magnitude 1 are of magnitude 1.
Value weight(Graph& g, const char* name, int64_t rows, int64_t columns) {
  const Value raw = g.param(name, {{rows, columns}, DType::F32});
  const double scale = std::sqrt(3.0 / static_cast<double>(rows));
  return g.mul(raw, g.scalar(DType::F32, scale));
}
Value vector(Graph& g, const char* name, int64_t count) {
  return g.param(name, {{count}, DType::F32});
}

Value input(Graph& g) {
  const Value x = g.input("x", {{Symbol("b", {1, 16}), kLength, kWidth}, DType::F32});
  return g.mul(x, g.scalar(DType::F32, 2));
}

// As BERT has it: attention and feed-forward, each added and normalized.
Graph encoder_layer() {
  Graph g;
  const Value x = input(g);
  const auto linear = [&](Value from, const char* w, const char* b, int64_t rows, int64_t columns,
                          Value residual, Activation activation) {
    return g.linear(from, weight(g, w, rows, columns), vector(g, b, columns), residual, activation);
  };
  const auto plain = [&](Value from, const char* w, const char* b) {
    return linear(from, w, b, kWidth, kWidth, {}, Activation::None);
  };
  const Value attended =
      g.attention(plain(x, "wq", "bq"), plain(x, "wk", "bk"), plain(x, "wv", "bv"),
                  {.heads = kHeads, .head_dim = kHeadWidth});
  const Value mixed = linear(attended, "wo", "bo", kWidth, kWidth, x, Activation::None);
  const Value once = g.layer_norm(mixed, vector(g, "s1", kWidth), vector(g, "t1", kWidth), 1e-12);
  const Value wide = linear(once, "w1", "b1", kWidth, kInner, {}, Activation::Gelu);
  const Value back = linear(wide, "w2", "b2", kInner, kWidth, once, Activation::None);
  g.set_outputs(
      {{"y", g.layer_norm(back, vector(g, "s2", kWidth), vector(g, "t2", kWidth), 1e-12)}});
  return g;
}

// As Llama has it: norms come first, positions turn queries and keys, heads share keys, the
// feed-forward is gated.
Graph decoder_layer() {
  HirModule m;
  const auto times = [&](const HirValue& value, double factor) {
    return m.op1("mul", {value, m.constant<float>({static_cast<float>(factor)}, {1})});
  };
  const auto scaled = [&](HirModule& to, const std::string& name, int64_t k, int64_t n) {
    return times(hir_test::matrix(to, name, k, n), std::sqrt(3.0 / static_cast<double>(k)));
  };
  const HirValue x = m.input("x", {{Symbol("b", {1, 16}), kLength, kWidth}, DType::F32});
  const auto weights =
      hir_test::decoder_weights(m, {kWidth, kKvHeads * kHeadWidth, kInner}, scaled);
  const HirValue y = m.decoder_block(
      times(x, 2), weights, {.attention = {.heads = kHeads, .kv_heads = kKvHeads, .causal = true}});
  m.set_outputs({{"y", y}});
  return hir_test::lowered(m, FusionPolicy::Direct);
}

driver::Options options_for(PrecisionPolicy policy, CpuIsa isa) {
  driver::Options options{.cpu = detect_cpu(isa)};
  options.precision_policy.policy = policy;
  return options;
}

// The largest error, by the largest number.
double error_of(const graph::Tensor& actual, const graph::Tensor& expected) {
  EXPECT_EQ(actual.shape, expected.shape);
  double error = 0, largest = 0;
  for (size_t at = 0; at < expected.bytes.size(); at += sizeof(float)) {
    const double want = load_as_f64(DType::F32, &expected.bytes[at]);
    const double got = load_as_f64(DType::F32, &actual.bytes[at]);
    EXPECT_TRUE(std::isfinite(got));
    error = std::max(error, std::abs(got - want));
    largest = std::max(largest, std::abs(want));
  }
  return error / largest;
}

// Measured errors.
struct PolicyRow {
  PrecisionPolicy policy;
  double encoder, decoder;
};
constexpr PolicyRow kMeasured[] = {
    {PrecisionPolicy::AlwaysF32, 2.1e-7, 3.0e-7},
    {PrecisionPolicy::AlwaysF16, 6.4e-4, 7.5e-4},
    {PrecisionPolicy::AlwaysBf16, 4.8e-3, 6.1e-3},
    {PrecisionPolicy::AutoMixed, 2.0e-3, 2.2e-3},
    {PrecisionPolicy::AutoMixedConservative, 2.0e-3, 2.2e-3},
    {PrecisionPolicy::DynamicInt8, 6.8e-3, 9.5e-3},
};

// The graph, and the errors that are known of it.
void expect_errors(const Graph& g, double PolicyRow::* measured) {
  const Tensors inputs = random_tensors(g, {{"b", 3}});
  const auto expected = graph::interpret(g, inputs)[0];
  for (const PolicyRow& row : kMeasured) {
    for (const CpuIsa isa : isas_here()) {
      const auto actual = RunGraph(g, options_for(row.policy, isa)).run(inputs)[0];
      const double error = error_of(actual, expected);
      const auto name = legalize::kPrecisionPolicies[static_cast<size_t>(row.policy)];
      ::testing::Test::RecordProperty(fmt::format("{}_{}", name, to_string(isa)),
                                      fmt::format("{:.1e}", error));
      EXPECT_LE(error, row.*measured * 2) << name << " " << to_string(isa);
      EXPECT_GE(error, row.*measured / 2) << name << " is not honoured " << to_string(isa);
    }
  }
}

TEST(PrecisionPolicies, ErrorsOfAnEncoderLayerAreThoseOfTheDocumentation) {
  expect_errors(encoder_layer(), &PolicyRow::encoder);
}

TEST(PrecisionPolicies, ErrorsOfADecoderLayerAreThoseOfTheDocumentation) {
  expect_errors(decoder_layer(), &PolicyRow::decoder);
}

// Stored in 16 bits: the same steps as in f32, but for one cast of the input and one of the result.
TEST(PrecisionPolicies, WeightsAreConvertedOnce) {
  const RunGraph wide(encoder_layer(), options_for(PrecisionPolicy::AlwaysF32, CpuIsa::Avx2));
  for (const PrecisionPolicy policy : {PrecisionPolicy::AlwaysF16, PrecisionPolicy::AlwaysBf16}) {
    const RunGraph narrow(encoder_layer(), options_for(policy, CpuIsa::Avx2));
    EXPECT_LE(narrow.program().steps.size(), wide.program().steps.size() + 2);
  }
}

// Squares of such rows are too large for f16; their norms are not.
TEST(PrecisionPolicies, NormsOfLargeRowsStayWhatTheyAre) {
  Graph g;
  const Value x = g.mul(input(g), g.scalar(DType::F32, 1000));
  const Value normed = g.rms_norm(x, vector(g, "s", kWidth), 1e-6);
  g.set_outputs(
      {{"y", g.linear(normed, weight(g, "w", kWidth, kWidth), {}, {}, Activation::None)}});
  const Tensors inputs = random_tensors(g, {{"b", 2}});
  const auto expected = graph::interpret(g, inputs)[0];
  for (const PrecisionPolicy policy : {PrecisionPolicy::AlwaysF16, PrecisionPolicy::AlwaysBf16}) {
    const auto actual = RunGraph(g, options_for(policy, CpuIsa::Avx2)).run(inputs)[0];
    EXPECT_LE(error_of(actual, expected), 0.02);
  }
}

// 1001 has more digits than bf16.
TEST(PrecisionPolicies, PositionsKeepTheirDigits) {
  Graph g;
  const Value position = g.input("p", {{4}, DType::I64});
  const Value angle = g.mul(g.cast(position, DType::F32), g.scalar(DType::F32, 1));
  g.set_outputs({{"y", g.unary(Op::Sin, angle)}});
  const Tensors inputs = {{"p", graph::i64({4}, {1, 257, 1001, 4099})}};
  const auto actual =
      RunGraph(g, options_for(PrecisionPolicy::AlwaysBf16, CpuIsa::Avx2)).run(inputs)[0];
  graph::expect_near(actual, {std::sin(1), std::sin(257), std::sin(1001), std::sin(4099)}, 0.01);
}

TEST(PrecisionPolicies, ConvolutionsAndPoolsFollowThem) {
  Graph g;
  const Value x = g.input("x", {{Symbol("b", {1, 16}), 8, 12, 12}, DType::F32});
  const Value raw = g.param("w", {{16, 8, 3, 3}, DType::F32});
  const Value w = g.mul(raw, g.scalar(DType::F32, 0.2));
  const Value y = g.apply(Op::Conv, {x, w},
                          {{"extents", std::vector<Dim>{10, 10}},
                           {"begins", std::vector<Dim>{0, 0}},
                           {"strides", std::vector<int64_t>{1, 1}},
                           {"dilations", std::vector<int64_t>{1, 1}},
                           {"groups", int64_t{1}}});
  const auto pooled = g.apply_all(Op::MaxPool, {g.relu(y)},
                                  {{"extents", std::vector<Dim>{5, 5}},
                                   {"begins", std::vector<Dim>{0, 0}},
                                   {"kernel", std::vector<int64_t>{2, 2}},
                                   {"strides", std::vector<int64_t>{2, 2}},
                                   {"dilations", std::vector<int64_t>{1, 1}},
                                   {"column_major", int64_t{0}}});
  g.set_outputs({{"y", pooled[0]}});
  const Tensors inputs = random_tensors(g, {{"b", 2}});
  const auto expected = graph::interpret(g, inputs)[0];
  constexpr struct {
    PrecisionPolicy policy;
    double least, most;
  } kRows[] = {{PrecisionPolicy::AlwaysF16, 5e-5, 1e-3},
               {PrecisionPolicy::AlwaysBf16, 5e-4, 1e-2},
               {PrecisionPolicy::AutoMixed, 1e-4, 1e-2},
               {PrecisionPolicy::DynamicInt8, 0, 1e-6}};  // of linears only
  for (const auto& row : kRows) {
    const auto actual = RunGraph(g, options_for(row.policy, CpuIsa::Avx2)).run(inputs)[0];
    const double error = error_of(actual, expected);
    EXPECT_GE(error, row.least) << static_cast<int>(row.policy);
    EXPECT_LE(error, row.most) << static_cast<int>(row.policy);
  }
}

TEST(PrecisionPolicies, MixedProductsGoByPairsWhereTheCpuHasThem) {
  CpuInfo cpu = detect_cpu(std::nullopt);
  if (!cpu.bf16) GTEST_SKIP() << "this machine has no products of bf16";
  int pairs = 0, others = 0;
  driver::Options options = options_for(PrecisionPolicy::AutoMixed, cpu.isa);
  options.see_kernel = [&](const kernel::Kernel& kernel) {
    kernel::for_each(kernel.body, [&](const kernel::Stmt& stmt) {
      const auto* mma = stmt.as<kernel::Mma>();
      if (!mma || kernel.name.find("attention") != std::string::npos) return;
      ++(mma->kind == kernel::MmaKind::Dot2 ? pairs : others);
    });
  };
  driver::compile(encoder_layer(), options);
  EXPECT_GT(pairs, 0);
  EXPECT_EQ(others, 0);
}

}  // namespace
}  // namespace tenon::graph_test
