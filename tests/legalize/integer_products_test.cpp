// Products of bytes less zero points, in the form that kernels multiply, against plain loops over
// integers.
#include "legalize/integer_products.h"

#include <fmt/format.h>
#include <gtest/gtest.h>

#include "tests/lower/random_tensors.h"

namespace tenon::legalize {
namespace {

using namespace graph;
using graph_test::Tensors;

constexpr int64_t kRows = 5, kDepth = 37, kColumns = 6;

// Bytes and a zero point for all of them, one for each row (column), or none.
enum class Zero : uint8_t { None, One, Each };
struct Operand {
  DType dtype = DType::U8;
  Zero zero = Zero::None;
};
struct Product {
  Operand rows, columns;
};

// cast(i32, x) - zero
Value integers(Graph& g, const std::string& name, std::vector<Dim> shape, const Operand& operand,
               size_t each) {
  const Value x = g.cast(g.input(name, {Shape(shape), operand.dtype}), DType::I32);
  if (operand.zero == Zero::None) return x;
  std::vector<Dim> of_zero(shape.size(), 1);
  if (operand.zero == Zero::Each) of_zero[each] = shape[each];
  return g.sub(x, g.cast(g.input(name + "0", {Shape(of_zero), operand.dtype}), DType::I32));
}

Graph product_graph(const Product& product) {
  Graph g;
  const Value a = integers(g, "a", {kRows, kDepth}, product.rows, 0);
  const Value b = integers(g, "b", {kDepth, kColumns}, product.columns, 1);
  g.set_outputs({{"y", g.matmul(a, b)}});
  return g;
}

int64_t number(const Tensors& tensors, const std::string& name, int64_t at) {
  const Tensor& tensor = tensors.at(name);
  return load_as_i64(tensor.dtype, &tensor.bytes[static_cast<size_t>(at % tensor.elements())]);
}
int64_t zero_of(const Tensors& tensors, const std::string& name, const Operand& operand,
                int64_t at) {
  return operand.zero == Zero::None ? 0 : number(tensors, name + "0", at);
}

std::vector<Product> products() {
  std::vector<Product> result;
  for (const DType rows : {DType::U8, DType::I8}) {
    for (const DType columns : {DType::U8, DType::I8}) {
      for (const Zero zero : {Zero::None, Zero::One, Zero::Each}) {
        for (const Zero other : {Zero::None, Zero::One, Zero::Each})
          result.push_back({{rows, zero}, {columns, other}});
      }
    }
  }
  return result;
}

TEST(IntegerProducts, AreExactForAllSignsAndZeroPoints) {
  for (const Product& product : products()) {
    const Graph before = product_graph(product);
    const Graph after = integer_products(before, true);
    verify(after);
    for (const Node* node : after.topological()) {
      if (node->op() != Op::MatMul) continue;
      EXPECT_EQ(node->operand(0).node->operand(0).dtype(), DType::U8);
      EXPECT_EQ(node->operand(1).node->operand(0).dtype(), DType::I8);
    }
    const Tensors inputs = graph_test::random_tensors(before, {});
    const Tensor y = interpret(after, inputs)[0];
    for (int64_t i = 0; i < kRows; ++i) {
      for (int64_t j = 0; j < kColumns; ++j) {
        int64_t sum = 0;
        for (int64_t k = 0; k < kDepth; ++k) {
          sum += (number(inputs, "a", i * kDepth + k) - zero_of(inputs, "a", product.rows, i)) *
                 (number(inputs, "b", k * kColumns + j) - zero_of(inputs, "b", product.columns, j));
        }
        const size_t at = static_cast<size_t>(i * kColumns + j) * 4;
        EXPECT_EQ(load_as_i64(DType::I32, &y.bytes[at]), sum) << i << " " << j;
      }
    }
  }
}

// (a - za) * sa by ((b - zb) * sb)^T, scales for each row of b: what the integers give, scaled.
TEST(IntegerProducts, AreFoundBetweenDequantizedFactors) {
  Graph g;
  const auto real = [&](const std::string& name, const Shape& shape, const Shape& scales) {
    const Value x = g.cast(g.input(name, {shape, DType::I8}), DType::I32);
    const Value zero = g.cast(g.input(name + "0", {scales, DType::I8}), DType::I32);
    const Value scale = g.input(name + "s", {scales, DType::F32});
    return g.mul(g.cast(g.sub(x, zero), DType::F32), scale);
  };
  const Value a = real("a", {kRows, kDepth}, {}), b = real("b", {kColumns, kDepth}, {kColumns, 1});
  g.set_outputs({{"y", g.matmul(a, g.transpose(b, {1, 0}))}});
  const Graph after = integer_products(g, true);
  verify(after);
  int products = 0;
  for (const Node* node : after.topological()) {
    if (node->op() != Op::MatMul) continue;
    EXPECT_EQ(node->types()[0].dtype, DType::I32);
    ++products;
  }
  EXPECT_EQ(products, 1);
  const Tensors inputs = graph_test::random_tensors(g, {});
  graph_test::expect_close(interpret(after, inputs)[0], interpret(g, inputs)[0], 1e-5, "");
}

// A scale along the depth belongs to each product.
TEST(IntegerProducts, OfFactorsScaledAlongTheDepthAreReal) {
  Graph g;
  const Value a = g.cast(g.input("a", {{4, 8}, DType::U8}), DType::F32);
  const Value b = g.cast(g.input("b", {{8, 4}, DType::I8}), DType::F32);
  const Value along = g.input("sa", {{8}, DType::F32}), scale = g.input("sb", {{4}, DType::F32});
  g.set_outputs({{"y", g.matmul(g.mul(a, along), g.mul(b, scale))}});
  EXPECT_EQ(print(integer_products(g, true)), print(g));
}

// A zero point along the depth belongs to each product.
TEST(IntegerProducts, ZeroPointsAlongTheDepthStay) {
  Graph g;
  const Value a = g.cast(g.input("a", {{4, 8}, DType::U8}), DType::I32);
  const Value b = g.cast(g.input("b", {{8, 4}, DType::I8}), DType::I32);
  const Value zero = g.cast(g.input("zero", {{8}, DType::U8}), DType::I32);
  g.set_outputs({{"y", g.matmul(g.sub(a, zero), b)}});
  EXPECT_EQ(print(integer_products(g, true)), print(g));
}

// Convolutions: a scale for each kernel is one of the result, one for each channel is not.
TEST(IntegerProducts, OfConvolutionsHaveOneScaleForEachKernel) {
  const auto is_integer = [](const Shape& scales) {
    Graph g;
    const Value x = g.mul(g.cast(g.input("x", {{2, 16, 5, 5}, DType::U8}), DType::F32),
                          g.input("sx", {{}, DType::F32}));
    const Value w = g.mul(g.cast(g.input("w", {{16, 16, 3, 3}, DType::I8}), DType::F32),
                          g.input("sw", {scales, DType::F32}));
    g.set_outputs({{"y", g.apply(Op::Conv, {x, w},
                                 {{"extents", std::vector<Dim>{5, 5}},
                                  {"begins", std::vector<Dim>{1, 1}},
                                  {"strides", std::vector<int64_t>{1, 1}},
                                  {"dilations", std::vector<int64_t>{1, 1}},
                                  {"groups", int64_t{1}}})}});
    const Graph after = integer_products(g, true);
    verify(after);
    EXPECT_EQ(print(integer_products(g, false)), print(g)) << "the target has no such products";
    const Tensors inputs = graph_test::random_tensors(g, {});
    graph_test::expect_close(interpret(after, inputs)[0], interpret(g, inputs)[0], 1e-3, "");
    return print(after) != print(g);
  };
  EXPECT_TRUE(is_integer({}));
  EXPECT_TRUE(is_integer({16, 1, 1, 1}));
  EXPECT_FALSE(is_integer({1, 16, 1, 1}));
}

TEST(IntegerProducts, ZeroPointsThatAreZeroCostNothing) {
  Graph g;
  const Value a = g.cast(g.input("a", {{4, 8}, DType::U8}), DType::I32);
  const Value b = g.cast(g.input("b", {{8, 4}, DType::I8}), DType::I32);
  const std::vector<std::byte> zeros(4);
  const Value zero = g.cast(g.constant({{4}, DType::I8}, {zeros, nullptr}), DType::I32);
  g.set_outputs({{"y", g.matmul(a, g.sub(b, zero))}});
  const Graph exact = integer_products(g, true);
  for (const Node* node : exact.topological()) EXPECT_NE(node->op(), Op::ReduceSum);
}

}  // namespace
}  // namespace tenon::legalize
