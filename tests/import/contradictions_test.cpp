// Nodes whose attributes contradict their operands, and numbers at the ends of i64: errors that
// name the attribute, or the result that arithmetic by hand gives.
#include <gtest/gtest.h>

#include <limits>

#include "tests/import/one_node.h"

namespace tenon::onnx {
namespace {

constexpr int64_t kMost = std::numeric_limits<int64_t>::max();
constexpr int64_t kLeast = std::numeric_limits<int64_t>::min();

graph::Tensor zeros(Ints shape) {
  int64_t count = 1;
  for (const int64_t extent : shape) count *= extent;
  return f32(std::move(shape), Floats(static_cast<size_t>(count), 0));
}

graph::Tensor i64(Ints shape, const Ints& values) {
  return tensor<int64_t>(DType::I64, std::move(shape), values);
}

std::string error_of(const Node& node, const Inputs& inputs) {
  try {
    node.run(inputs);
  } catch (const Error& error) {
    return error.what();
  }
  return "no error";
}

void expect_error(const Node& node, const Inputs& inputs, const std::string& text) {
  const std::string error = error_of(node, inputs);
  EXPECT_NE(error.find(text), std::string::npos) << error;
}

TEST(Conv, RefusesAKernelShapeThatIsNotItsKernels) {
  const Inputs inputs{{"x", zeros({1, 1, 4, 4})}, {"w", zeros({1, 1, 3, 3})}};
  for (const Ints& shape : {Ints{3}, Ints{3, 3, 3}, Ints{2, 3}}) {
    for (const char* op : {"Conv", "ConvTranspose"}) {
      expect_error({op, "", 13, {"x", "w"}, {{"kernel_shape", shape}}}, inputs,
                   "attribute 'kernel_shape' is [");
    }
  }
  EXPECT_EQ(error_of({"Conv", "", 13, {"x", "w"}, {{"kernel_shape", Ints{3, 3}}}}, inputs),
            "no error");
}

TEST(Conv, WithAKernelOfSymbolsWantsItsKernelShape) {
  OnnxWriter w({{"", 13}});
  w.input("x", kFloat, {1, 1, 4});
  w.input("w", kFloat, {1, 1, "k"});
  w.untyped_output(w.node("Conv", {"x", "w"}, {{"kernel_shape", Ints{3}}}));
  const graph::Graph g = import_writer(w);
  EXPECT_NO_THROW(graph::interpret(g, {{"x", zeros({1, 1, 4})}, {"w", zeros({1, 1, 3})}}));
  EXPECT_THROW(graph::interpret(g, {{"x", zeros({1, 1, 4})}, {"w", zeros({1, 1, 2})}}), Error);
}

TEST(ConvTranspose, RefusesNegativeOutputPadding) {
  expect_error({"ConvTranspose", "", 13, {"x", "w"}, {{"output_padding", Ints{-1}}}},
               {{"x", zeros({1, 1, 4})}, {"w", zeros({1, 1, 3})}},
               "attribute 'output_padding' must not hold -1");
}

TEST(Recurrent, RefusesAHiddenSizeThatIsNotItsWeights) {
  const std::pair<const char*, int64_t> cells[] = {{"RNN", 1}, {"GRU", 3}, {"LSTM", 4}};
  for (const auto& [op, gates] : cells) {
    const Inputs inputs{
        {"x", zeros({2, 1, 3})}, {"w", zeros({1, gates * 6, 3})}, {"r", zeros({1, gates * 6, 6})}};
    expect_error({op, "", 14, {"x", "w", "r"}, {{"hidden_size", int64_t{7}}}}, inputs,
                 "attribute 'hidden_size' is 7");
    EXPECT_EQ(error_of({op, "", 14, {"x", "w", "r"}, {{"hidden_size", int64_t{6}}}}, inputs),
              "no error");
  }
}

TEST(MultiHeadAttention, SaysThatItHasNoHeads) {
  expect_error({"MultiHeadAttention", "com.microsoft", 17, {"q"}, {{"num_heads", int64_t{0}}}},
               {{"q", zeros({1, 3, 8})}}, "attribute 'num_heads' is 0");
}

TEST(ReduceMean, OfWideIntegersIsExact) {
  const Node mean{"ReduceMean", "", 13, {"x"}, {{"keepdims", int64_t{0}}}};
  const auto of = [&](const Ints& x) {
    return values<int64_t>(mean.run({{"x", i64({static_cast<int64_t>(x.size())}, x)}})[0])[0];
  };
  EXPECT_EQ(of({kLeast, kMost, 0, 1, 2, 3}), 0);  // 5 / 6
  EXPECT_EQ(of({kMost, kMost}), kMost);
  EXPECT_EQ(of({kMost, kMost - 1, kMost - 1}), kMost - 1);
  EXPECT_EQ(of({kLeast, kLeast, kLeast}), kLeast);
  EXPECT_EQ(of({-7, -2}), -4);  // towards 0
  EXPECT_EQ(of({5, -6}), 0);
  EXPECT_EQ(of({-7, 1, 1}), -1);
  EXPECT_EQ(of({7, -1, -1}), 1);
}

TEST(Hardmax, OfNothingIsEmpty) {
  const Node hardmax{"Hardmax", "", 13, {"x"}, {{"axis", int64_t{1}}}};
  EXPECT_EQ(hardmax.run({{"x", zeros({2, 0, 3})}})[0].shape, (Ints{2, 0, 3}));
}

TEST(Hardmax, IsAtTheFirstMaximum) {
  const float low = -std::numeric_limits<float>::infinity();
  const Node hardmax{"Hardmax", "", 13, {"x"}};
  EXPECT_EQ(hardmax({{"x", f32({2, 3}, {1, 2, 2, low, low, low})}}), (Floats{0, 1, 0, 1, 0, 0}));
  OnnxWriter w({{"", 13}});  // an axis that may be empty
  w.input("x", kFloat, {"past"});
  w.untyped_output(w.node("Hardmax", {"x"}));
  const graph::Graph g = import_writer(w);
  EXPECT_EQ(values<float>(graph::interpret(g, {{"x", f32({2}, {low, low})}})[0]), (Floats{1, 0}));
  EXPECT_EQ(graph::interpret(g, {{"x", f32({0}, {})}})[0].shape, (Ints{0}));
}

TEST(Slice, OfTheLargestStepsTakesOneElement) {
  for (const auto& [step, expected] : {std::pair<int64_t, float>{kMost, 1}, {kLeast, 3}}) {
    OnnxWriter w({{"", 13}});
    w.input("x", kFloat, {3});
    w.int64s("start", {step > 0 ? 0 : 2});
    w.int64s("end", {step > 0 ? kMost : kLeast});
    w.int64s("axes", {0});
    w.int64s("step", {step});
    w.untyped_output(w.node("Slice", {"x", "start", "end", "axes", "step"}));
    EXPECT_EQ(run_unary(w, {3}, {1, 2, 3}), (Floats{expected}));
  }
}

TEST(OneHot, OfANegativeDepthIsAnError) {
  const Node one_hot{"OneHot", "", 13, {"i", "d", "v"}};
  const auto with = [](int64_t depth) {
    return Inputs{{"i", i64({2}, {0, -1})}, {"d", i64({}, {depth})}, {"v", f32({2}, {0, 1})}};
  };
  EXPECT_EQ(one_hot(with(2)), (Floats{1, 0, 0, 1}));
  EXPECT_EQ(one_hot(with(0)), Floats{});
  EXPECT_NE(error_of(one_hot, with(-1)), "no error");
}

TEST(Range, OfConstantsAtTheEndsOfI64IsCountedByTheRun) {
  OnnxWriter w({{"", 13}});
  const std::string from = w.int64s("from", {}, {kMost - 3}), to = w.int64s("to", {}, {kMost});
  w.untyped_output(w.node("Range", {from, to, w.int64s("by", {}, {2})}));
  EXPECT_EQ(values<int64_t>(graph::interpret(import_writer(w), {})[0]),
            (Ints{kMost - 3, kMost - 1}));
}

TEST(Results, ThatNobodyCanCountNameTheirNode) {
  OnnxWriter w({{"", 13}});
  const std::string shape = w.int64s("shape", {int64_t{1} << 40, int64_t{1} << 40});
  w.untyped_output(w.node("ConstantOfShape", {shape}));
  try {
    import_writer(w);
    ADD_FAILURE() << "no error";
  } catch (const Error& error) {
    EXPECT_NE(std::string(error.what()).find("node 'ConstantOfShape_"), std::string::npos)
        << error.what();
  }
}

}  // namespace
}  // namespace tenon::onnx
