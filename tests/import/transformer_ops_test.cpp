// Attention and its relatives where the answer is known by hand: queries of zeros weigh all keys
// alike, so the result is the mean of the values that they may see.
#include <gtest/gtest.h>

#include <cmath>

#include "base/error.h"
#include "tests/import/one_node.h"

namespace tenon::onnx {
namespace {

// One head of width 1: queries and keys of zeros, these values.
Inputs qkv(int64_t queries, const Floats& v) {
  const auto keys = static_cast<int64_t>(v.size());
  return {{"q", f32({1, 1, queries, 1}, Floats(static_cast<size_t>(queries)))},
          {"k", f32({1, 1, keys, 1}, Floats(v.size()))},
          {"v", f32({1, 1, keys, 1}, v)}};
}

bool uses(const graph::Graph& g, graph::Op op) {
  for (const graph::Node* node : g.topological()) {
    if (node->op() == op) return true;
  }
  return false;
}

const Node kAttention{"Attention", "", 25, {"q", "k", "v"}};

TEST(StandardAttention, SeesThePastOnly) {
  Node causal = kAttention;
  causal.attributes = {{"is_causal", int64_t{1}}};
  EXPECT_EQ(causal(qkv(3, {1, 3, 8})), (Floats{1, 2, 4}));
  Node window = kAttention;
  window.attributes = {{"left_window_size", int64_t{0}}, {"right_window_size", int64_t{1}}};
  EXPECT_EQ(window(qkv(3, {1, 3, 8})), (Floats{2, 5.5f, 8}));
}

TEST(StandardAttention, CountsItsQueriesBehindTheCache) {
  Node node{
      "Attention",          "", 25, {"q", "k", "v", "", "pk", "pv"}, {{"is_causal", int64_t{1}}},
      {"y", "key", "value"}};
  Inputs in = qkv(2, {4, 9});
  in["pk"] = f32({1, 1, 1, 1}, {0});
  in["pv"] = f32({1, 1, 1, 1}, {2});
  const std::vector<graph::Tensor> out = node.run(in);
  EXPECT_EQ(values<float>(out[0]), (Floats{3, 5}));
  EXPECT_EQ(values<float>(out[2]), (Floats{2, 4, 9}));
}

TEST(StandardAttention, CountsItsQueriesFromTheEndOfEachRow) {
  Node node{"Attention", "", 25, {"q", "k", "v", "", "", "", "n"}, {{"is_causal", int64_t{1}}}};
  Inputs in = qkv(2, {4, 8, 100});
  in["n"] = tensor<int64_t>(DType::I64, {1}, {2});
  EXPECT_EQ(node(in), (Floats{4, 6}));
  in["n"] = tensor<int64_t>(DType::I64, {1}, {1});  // the first query has no key
  EXPECT_EQ(node(in), (Floats{0, 4}));
}

TEST(StandardAttention, GivesZeroWhereNothingIsSeen) {
  EXPECT_EQ(kAttention(qkv(2, {})), (Floats{0, 0}));
  Node masked = kAttention;
  masked.inputs.emplace_back("mask");
  Inputs in = qkv(2, {1, 3});
  in["mask"] = tensor<uint8_t>(DType::Bool, {2, 2}, {0, 0, 1, 1});
  EXPECT_EQ(masked(in), (Floats{0, 2}));
}

TEST(StandardAttention, HidesTheKeysThatAMaskIsTooShortFor) {
  Node masked = kAttention;
  masked.inputs.emplace_back("mask");
  Inputs in = qkv(1, {1, 3, 100});
  in["mask"] = f32({1, 2}, {0, 0});
  EXPECT_EQ(masked(in), (Floats{2}));
}

TEST(StandardAttention, IsTheFusedOpWithOrWithoutAMask) {
  EXPECT_TRUE(uses(kAttention.import(qkv(2, {1, 2})), graph::Op::Attention));
  Node causal = kAttention;
  causal.attributes = {{"is_causal", int64_t{1}}};
  EXPECT_TRUE(uses(causal.import(qkv(2, {1, 2})), graph::Op::Attention));
  causal.attributes.push_back({"softcap", 2.0f});
  EXPECT_FALSE(uses(causal.import(qkv(2, {1, 2})), graph::Op::Attention));
}

TEST(StandardAttention, StaysSymbolicWithoutABound) {
  OnnxWriter w({{"", 23}});
  w.input("x", kFloat, {"batch", "seq", 8});
  w.raw_node("n", "Attention", {"x", "x", "x"}, {"y"},
             {{"is_causal", int64_t{1}}, {"q_num_heads", int64_t{2}}, {"kv_num_heads", int64_t{2}}},
             "");
  w.untyped_output("y");
  EXPECT_EQ(import_writer(w).outputs()[0].value.type().to_string(), "f32[batch, seq, 8]");
}

TEST(StandardAttention, RejectsTwoKindsOfCache) {
  Node node{"Attention", "", 25, {"q", "k", "v", "", "pk", "pk", "n"}};
  Inputs in = qkv(1, {1});
  in["pk"] = f32({1, 1, 1, 1}, {0});
  in["n"] = tensor<int64_t>(DType::I64, {1}, {1});
  EXPECT_THROW(node.import(in), Error);
}

TEST(GroupQueryAttention, AppendsBehindWhatEachRowHolds) {
  // Two rows that hold 1 and 2 keys in buffers of 3; one more comes.
  Node node{"GroupQueryAttention",
            "com.microsoft",
            21,
            {"q", "k", "v", "pk", "pv", "n", "total"},
            {{"num_heads", int64_t{1}}, {"kv_num_heads", int64_t{1}}},
            {"y", "key", "value"}};
  const Inputs in = {{"q", f32({2, 1, 1}, {0, 0})},
                     {"k", f32({2, 1, 1}, {5, 6})},
                     {"v", f32({2, 1, 1}, {10, 20})},
                     {"pk", f32({2, 1, 3, 1}, {1, -1, -1, 2, 3, -1})},
                     {"pv", f32({2, 1, 3, 1}, {2, 99, 99, 1, 3, 99})},
                     {"n", tensor<int32_t>(DType::I32, {2}, {1, 2})},
                     {"total", tensor<int32_t>(DType::I32, {1}, {3})}};
  const std::vector<graph::Tensor> out = node.run(in);
  EXPECT_EQ(values<float>(out[0]), (Floats{6, 8}));
  EXPECT_EQ(values<float>(out[1]), (Floats{1, 5, 0, 2, 3, 6}));
  EXPECT_EQ(values<float>(out[2]), (Floats{2, 10, 0, 1, 3, 20}));
}

TEST(RotaryEmbedding, TurnsPairsByAQuarter) {
  Node node{"RotaryEmbedding", "", 23, {"x", "cos", "sin"}};
  const Inputs in = {{"x", f32({1, 1, 1, 4}, {1, 2, 3, 4})},
                     {"cos", f32({1, 1, 2}, {0, 0})},
                     {"sin", f32({1, 1, 2}, {1, 1})}};
  EXPECT_EQ(node(in), (Floats{-3, -4, 1, 2}));
  node.attributes = {{"interleaved", int64_t{1}}};
  EXPECT_EQ(node(in), (Floats{-2, 1, -4, 3}));
}

TEST(RotaryEmbedding, LeavesWhatIsBeyondTheTables) {
  Node node{"RotaryEmbedding", "", 23, {"x", "cos", "sin"}};
  EXPECT_EQ(node({{"x", f32({1, 1, 1, 4}, {1, 2, 3, 4})},
                  {"cos", f32({1, 1, 1}, {0})},
                  {"sin", f32({1, 1, 1}, {1})}}),
            (Floats{-2, 1, 3, 4}));
}

// One head, keys and values of width 1, two steps: k = q = 1, v = 2, 3.
// With free extents the width of a head is a symbol, and so is its scale.
TEST(Attention, HeadsMayHaveASymbolicWidth) {
  const Inputs given = {{"q", f32({1, 1, 1, 4}, {1, 2, 3, 4})},
                        {"k", f32({1, 1, 2, 4}, {1, 0, 0, 0, 0, 0, 0, 1})},
                        {"v", f32({1, 1, 2, 1}, {0, 1})}};
  const Node node{"Attention", "", 23, {"q", "k", "v"}};
  const float expected = 1 / (1 + std::exp(-1.5f));  // of scores 1 / 2 and 4 / 2
  const graph::Graph free = node.import(given, {.free_extents = true});
  for (const graph::Graph& g : {node.import(given), free}) {
    EXPECT_NEAR(values<float>(graph::interpret(g, given)[0])[0], expected, 1e-6f);
  }
  const Inputs narrow = {{"q", f32({1, 1, 1, 1}, {3})},
                         {"k", f32({1, 1, 2, 1}, {0, 1})},
                         {"v", f32({1, 1, 2, 1}, {0, 1})}};
  EXPECT_NEAR(values<float>(graph::interpret(free, narrow)[0])[0], 1 / (1 + std::exp(-3.0f)),
              1e-6f);
}

Floats linear_attention(const std::string& rule, Names more, const Inputs& extra) {
  Names inputs = {"q", "q", "v"};
  inputs.insert(inputs.end(), more.begin(), more.end());
  Node node{"LinearAttention",
            "",
            27,
            inputs,
            {{"update_rule", rule}, {"q_num_heads", int64_t{1}}, {"kv_num_heads", int64_t{1}}},
            {"y", "state"}};
  Inputs in = {{"q", f32({1, 2, 1}, {1, 1})}, {"v", f32({1, 2, 1}, {2, 3})}};
  in.insert(extra.begin(), extra.end());
  const std::vector<graph::Tensor> out = node.run(in);
  Floats all = values<float>(out[0]);
  all.push_back(values<float>(out[1])[0]);
  return all;
}

TEST(LinearAttention, FollowsItsRules) {
  EXPECT_EQ(linear_attention("linear", {}, {}), (Floats{2, 5, 5}));
  EXPECT_EQ(linear_attention("linear", {"s"}, {{"s", f32({1, 1, 1, 1}, {10})}}),
            (Floats{12, 15, 15}));
  const float half = std::log(0.5f);
  const Floats gated = linear_attention("gated", {"", "g"}, {{"g", f32({1, 2, 1}, {half, half})}});
  EXPECT_FLOAT_EQ(gated[0], 2);
  EXPECT_FLOAT_EQ(gated[1], 4);
  // All of the difference to what the state gives is learnt, then half of it.
  EXPECT_EQ(linear_attention("delta", {"", "", "b"}, {{"b", f32({1, 2, 1}, {1, 0.5f})}}),
            (Floats{2, 2.5f, 2.5f}));
  EXPECT_THROW(linear_attention("delta", {}, {}), Error);
  EXPECT_THROW(linear_attention("other", {}, {}), Error);
}

TEST(CausalConvWithState, CarriesTheEndOfItsInput) {
  Node node{"CausalConvWithState", "", 27, {"x", "w"}, {}, {"y", "state"}};
  const std::vector<graph::Tensor> out =
      node.run({{"x", f32({1, 1, 3}, {1, 2, 3})}, {"w", f32({1, 1, 3}, {100, 10, 1})}});
  EXPECT_EQ(values<float>(out[0]), (Floats{1, 12, 123}));
  EXPECT_EQ(values<float>(out[1]), (Floats{2, 3}));
}

TEST(LayerNormalization, GivesItsStatistics) {
  Node node{"LayerNormalization",    "", 17, {"x", "w"}, {{"axis", int64_t{1}}, {"epsilon", 0.0f}},
            {"y", "mean", "inverse"}};
  const std::vector<graph::Tensor> out =
      node.run({{"x", f32({1, 2, 2}, {1, 5, 5, 1})}, {"w", f32({2}, {1, 3})}});
  EXPECT_EQ(values<float>(out[0]), (Floats{-1, 3, 1, -3}));  // the scale is spread
  EXPECT_EQ(values<float>(out[1]), (Floats{3}));
  EXPECT_EQ(values<float>(out[2]), (Floats{0.5f}));
  EXPECT_EQ(out[1].shape, (Ints{1, 1, 1}));
}

TEST(RmsNormalization, TakesTheTypeOfItsScale) {
  Node node{"RMSNormalization", "", 23, {"x", "w"}, {{"epsilon", 0.0f}}};
  const std::vector<graph::Tensor> out =
      node.run({{"x", f32({1, 2}, {1, 7})}, {"w", tensor<double>(DType::F64, {2}, {5, 1})}});
  EXPECT_EQ(out[0].dtype, DType::F64);
  EXPECT_NEAR(values<double>(out[0])[0], 1, 1e-6);
  EXPECT_NEAR(values<double>(out[0])[1], 1.4, 1e-6);
}

}  // namespace
}  // namespace tenon::onnx
