// Single ops with the corners of ONNX's definitions. Expected values are worked out by hand from
// the ONNX text.
#include <gtest/gtest.h>

#include <cmath>
#include <limits>

#include "tests/import/model_helpers.h"

namespace tenon::onnx {
namespace {

using Ints = std::vector<int64_t>;
using Floats = std::vector<float>;

// A model of one node on "x" of type f32[dims], with `op_inputs` after x.
struct OneNode {
  OnnxWriter w;
  explicit OneNode(int64_t opset, std::vector<make_encoder::Dimension> dims)
      : w({{"", opset}, {"com.microsoft", 1}}) {
    w.input("x", kFloat, dims);
  }
  void finish(const std::string& op, std::vector<std::string> more = {},
              std::vector<make_encoder::Attribute> attributes = {},
              const std::string& domain = "") {
    more.insert(more.begin(), "x");
    w.raw_node("n", op, more, {"y"}, attributes, domain);
    declare();
  }
  // An output without a declared shape: what the importer infers is what counts.
  void declare() { w.untyped_output("y"); }
  std::string type() { return import_writer(w).outputs()[0].value.type().to_string(); }
};

TEST(Reshape, KeepsExtentsAtZeroAndDerivesTheOneAtMinusOne) {
  OneNode m(14, {"batch", "seq", 12});
  m.w.int64s("shape", {0, 0, 3, -1});
  m.finish("Reshape", {"shape"});
  EXPECT_EQ(m.type(), "f32[batch, seq, 3, 4]");
}

TEST(Reshape, DerivesAProductOfSymbols) {
  OneNode m(14, {"batch", "seq", 12});
  m.w.int64s("shape", {-1, 6});
  m.finish("Reshape", {"shape"});
  const Dim rows = import_writer(m.w).outputs()[0].value.shape()[0];
  EXPECT_EQ(rows, Dim(sym::batch()) * Dim(sym::seq()) * 2);
}

TEST(Slice, ClampsASymbolicAxis) {
  OneNode m(14, {"n", 4});
  m.w.int64s("starts", {1, 0});
  m.w.int64s("ends", {8, -1});
  m.finish("Slice", {"starts", "ends"});
  const Shape shape = import_writer(m.w).outputs()[0].value.shape();
  const Dim n = Symbol("n");
  EXPECT_EQ(prove_equal(shape[0], min(n, 8) - 1), Proof::Yes) << shape.to_string();
  EXPECT_TRUE(shape[1].is_const(3));
}

TEST(Slice, WalksBackwards) {
  OneNode m(14, {5});
  m.w.int64s("starts", {-1});
  m.w.int64s("ends", {std::numeric_limits<int64_t>::min()});
  m.w.int64s("axes", {0});
  m.w.int64s("steps", {-2});
  m.finish("Slice", {"starts", "ends", "axes", "steps"});
  EXPECT_EQ(run_unary(m.w, {5}, {0, 1, 2, 3, 4}), (Floats{4, 2, 0}));
}

TEST(Slice, OfOldOpsetsHasItsBoundsAsAttributes) {
  OneNode m(9, {5});
  m.finish("Slice", {}, {{"starts", Ints{1}}, {"ends", Ints{2147483647}}, {"axes", Ints{0}}});
  EXPECT_EQ(run_unary(m.w, {5}, {0, 1, 2, 3, 4}), (Floats{1, 2, 3, 4}));
}

TEST(Unsqueeze, CountsNegativeAxesInTheResult) {
  OneNode m(13, {"n", 4});
  m.w.int64s("axes", {-1, 0});
  m.finish("Unsqueeze", {"axes"});
  EXPECT_EQ(m.type(), "f32[1, n, 4, 1]");
}

TEST(Squeeze, WithoutAxesDropsEveryExtentOfOne) {
  OneNode m(11, {1, "n", 1, 4});
  m.finish("Squeeze");
  EXPECT_EQ(m.type(), "f32[n, 4]");
}

TEST(Expand, KeepsExtentsWhereTheTargetIsOne) {
  OneNode m(13, {"n", 1});
  m.w.int64s("shape", {3, 1, 5});
  m.finish("Expand", {"shape"});
  EXPECT_EQ(m.type(), "f32[3, n, 5]");
}

TEST(Softmax, BeforeOpset13TakesTheRestOfTheTensorAsOneAxis) {
  OneNode m(11, {1, 2, 2});
  m.finish("Softmax", {}, {{"axis", int64_t{1}}});
  for (float y : run_unary(m.w, {1, 2, 2}, {3, 3, 3, 3})) EXPECT_FLOAT_EQ(y, 0.25f);
  OneNode n(13, {1, 2, 2});
  n.finish("Softmax", {}, {{"axis", int64_t{1}}});
  for (float y : run_unary(n.w, {1, 2, 2}, {3, 3, 3, 3})) EXPECT_FLOAT_EQ(y, 0.5f);
}

TEST(Gemm, ScalesAndTransposes) {
  OneNode m(13, {2, 1});
  m.w.floats("b", {3, 2}, Floats{1, 2, 3, 4, 5, 6});
  m.w.floats("c", {3}, Floats{1, 1, 2});
  m.finish("Gemm", {"b", "c"},
           {{"alpha", 2.0f}, {"beta", 10.0f}, {"transA", int64_t{1}}, {"transB", int64_t{1}}});
  // x' = [1 10]; x' b' = [21 43 65]
  EXPECT_EQ(run_unary(m.w, {2, 1}, {1, 10}), (Floats{52, 96, 150}));
}

TEST(MatMul, OfAVectorLosesTheAxisItGained) {
  OneNode m(13, {"n", 2, 3});
  m.w.floats("b", {3}, Floats{1, 2, 3});
  m.finish("MatMul", {"b"});
  EXPECT_EQ(m.type(), "f32[n, 2]");
  EXPECT_EQ(run_unary(m.w, {1, 2, 3}, {1, 0, 0, 1, 1, 1}), (Floats{1, 6}));
}

TEST(Reduce, TakesAxesAsAttributeOrOperandAndMayDropThem) {
  OneNode m(11, {2, 3});
  m.finish("ReduceSum", {}, {{"axes", Ints{-1}}, {"keepdims", int64_t{0}}});
  EXPECT_EQ(run_unary(m.w, {2, 3}, {1, 2, 3, 4, 5, 6}), (Floats{6, 15}));
  OneNode n(18, {2, 3});
  n.w.int64s("axes", {0});
  n.finish("ReduceMax", {"axes"}, {{"keepdims", int64_t{1}}});
  EXPECT_EQ(n.type(), "f32[1, 3]");
  OneNode all(18, {2, 3});
  all.finish("ReduceMean", {}, {{"keepdims", int64_t{0}}});
  EXPECT_EQ(run_unary(all.w, {2, 3}, {1, 2, 3, 4, 5, 6}), (Floats{3.5f}));
}

TEST(Split, DividesEvenlyOrAsTold) {
  OnnxWriter w({{"", 18}});
  w.input("x", kFloat, {"n", 6});
  const auto parts =
      w.nodes("Split", {"x"}, 3, {{"axis", int64_t{1}}, {"num_outputs", int64_t{3}}});
  w.output(parts[2], kFloat, {"n", 2});
  EXPECT_EQ(import_writer(w).outputs()[0].value.type().to_string(), "f32[n, 2]");
}

TEST(LayerNormalization, MayHaveNoBias) {
  OneNode m(17, {1, 2});
  m.w.floats("scale", {2}, Floats{1, 2});
  m.finish("LayerNormalization", {"scale"}, {{"epsilon", 0.0f}});
  EXPECT_EQ(run_unary(m.w, {1, 2}, {1, 3}), (Floats{-1, 2}));
}

TEST(Gelu, HasAnErfAndATanhForm) {
  OneNode m(20, {1});
  m.finish("Gelu", {}, {{"approximate", std::string("tanh")}});
  EXPECT_NEAR(run_unary(m.w, {1}, {1})[0], 0.841192f, 1e-6);
  OneNode n(20, {1});
  n.finish("Gelu");
  EXPECT_NEAR(run_unary(n.w, {1}, {1})[0], 0.841345f, 1e-6);
}

TEST(Attention, MasksKeysByARawMaskOrByLengths) {
  // One head of width 1, q = k = 0 (zero weights), v = x: the output is the mean of the keys left.
  for (const bool raw : {true, false}) {
    OnnxWriter w({{"", 14}, {"com.microsoft", 1}});
    w.input("x", kFloat, {1, 4, 1});
    w.floats("qkv", {1, 3}, Floats{0, 0, 1});
    const int32_t mask[] = {1, 1, 0, 0}, length[] = {2};
    const std::string bytes(reinterpret_cast<const char*>(raw ? mask : length), raw ? 16 : 4);
    w.tensor("mask", kInt32, raw ? Ints{1, 4} : Ints{1}, bytes);
    w.raw_node("n", "Attention", {"x", "qkv", "", "mask"}, {"y"}, {{"num_heads", int64_t{1}}},
               "com.microsoft");
    w.output("y", kFloat, {1, 4, 1});
    EXPECT_EQ(run_unary(w, {1, 4, 1}, {1, 3, 100, 100}), (Floats{2, 2, 2, 2}));
  }
}

TEST(Dims, WithoutNameOrValueAreNamedAfterInputAndAxis) {
  OneNode m(14, {std::string(), "seq len", "seq_len"});
  m.finish("Relu");
  EXPECT_EQ(m.type(), "f32[x_0, seq_len, seq_len_2]");
}

TEST(FreeExtents, NumbersOfInputsBecomeSymbolsUnlessFixed) {
  OnnxWriter w({{"", 17}});
  w.input("x", kFloat, {2, 3});
  w.raw_node("n", "Relu", {"x"}, {"y"}, {});
  w.untyped_output("y");
  const graph::Graph free = import_writer(w, {.free_extents = true});
  EXPECT_EQ(free.outputs()[0].value.type().to_string(), "f32[x_0, x_1]");
  EXPECT_EQ(free.symbols().at("x_1").bounds(), (Bounds{0, 6}));
  const graph::Graph half = import_writer(w, {.free_extents = true, .fixed_extents = {"x_1"}});
  EXPECT_EQ(half.outputs()[0].value.type().to_string(), "f32[x_0, 3]");
}

}  // namespace
}  // namespace tenon::onnx
