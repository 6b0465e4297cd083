// fuse_attention on the forms that exporters write, and on what only looks like attention.
#include <cmath>

#include "tests/fuse/compare.h"

namespace tenon::fuse {
namespace {

constexpr int64_t kHeads = 2;
constexpr int64_t kDim = 4;
constexpr int64_t kHidden = kHeads * kDim;

// One written-out attention; each test changes a field or two.
struct Form {
  enum class Scale {
    None,
    DivScores,
    MulScores,
    MulQuery,
    MulBoth,
    DivAfterMask
  } scale = Scale::DivScores;
  std::vector<std::vector<int64_t>> key_transposes = {{0, 2, 3, 1}};
  std::vector<int64_t> join = {0, 2, 1, 3};
  Shape mask = {};  // none
  bool mask_first = false;
  int64_t softmax_axis = -1;
  std::vector<Dim> result = {sym::batch(), sym::seq(), kHidden};
  bool probabilities_are_output = false;
  bool flat = false;  // q, k and v are computed as [batch * seq, hidden]
};

Value split(Graph& g, const std::string& name, const Form& form) {
  Value x = f32_input(g, name, {sym::batch(), sym::seq(), kHidden});
  if (form.flat) x = g.relu(g.reshape(x, {Dim(sym::batch()) * Dim(sym::seq()), kHidden}));
  return g.reshape(x, {sym::batch(), sym::seq(), kHeads, kDim});
}

Value scaled_scores(Graph& g, Value q, Value k, const Form& form) {
  double root = std::sqrt(static_cast<double>(kDim));
  using Scale = Form::Scale;
  if (form.scale == Scale::MulQuery) q = g.mul(f32(g, 1 / root), q);
  if (form.scale == Scale::MulBoth) {
    q = g.mul(q, f32(g, 1 / std::sqrt(root)));
    k = g.mul(k, f32(g, 1 / std::sqrt(root)));
  }
  Value s = g.matmul(q, k);
  if (form.scale == Scale::DivScores) s = g.div(s, f32(g, root));
  if (form.scale == Scale::MulScores) s = g.mul(f32(g, 1 / root), s);
  if (form.mask.rank() > 0) {
    Value mask = f32_input(g, "mask", form.mask);
    s = form.mask_first ? g.add(mask, s) : g.add(s, mask);
  }
  if (form.scale == Scale::DivAfterMask) s = g.div(s, f32(g, root));
  return s;
}

Graph written(const Form& form) {
  Graph g;
  Value q = g.transpose(split(g, "q", form), {0, 2, 1, 3});
  Value k = split(g, "k", form);
  for (const std::vector<int64_t>& perm : form.key_transposes) k = g.transpose(k, perm);
  Value v = g.transpose(split(g, "v", form), {0, 2, 1, 3});
  Value p = g.softmax(scaled_scores(g, q, k, form), form.softmax_axis);
  Value context = g.reshape(g.transpose(g.matmul(p, v), form.join), form.result);
  std::vector<graph::Output> outputs = {{"y", context}};
  if (form.probabilities_are_output) outputs.push_back({"p", p});
  g.set_outputs(outputs);
  return g;
}

void expect_attention(const Form& form, double scale = 0.5) {
  Graph source = written(form);
  Graph fused = fuse_attention(source);
  const Node* node = only(fused, Op::Attention);
  ASSERT_NE(node, nullptr);
  EXPECT_EQ(node->attributes().integer("heads"), kHeads);
  EXPECT_EQ(node->attributes().integer("head_dim"), kDim);
  EXPECT_NEAR(node->attributes().number("scale"), scale, 1e-6);
  EXPECT_EQ(node->operand_count(), form.mask.rank() > 0 ? 4 : 3);
  EXPECT_EQ(count(fused, Op::Softmax), 0);
  EXPECT_EQ(count(fused, Op::Transpose), 0);
  expect_same_results(source, fused);
}

void expect_no_attention(const Form& form) {
  EXPECT_EQ(count(fuse_attention(written(form)), Op::Attention), 0);
}

TEST(FuseAttention, FindsTheFormOfTorch) {
  Form form{.mask = {sym::batch(), 1, 1, sym::seq()}};
  expect_attention(form);
  Graph fused = fuse_attention(written(form));
  EXPECT_EQ(count(fused, Op::Reshape), 0) << "packed operands are used as they are";
}

TEST(FuseAttention, FindsTheScaleWhereverItStands) {
  expect_attention({.scale = Form::Scale::MulScores});
  expect_attention({.scale = Form::Scale::MulQuery});
  expect_attention({.scale = Form::Scale::MulBoth});
  expect_attention({.scale = Form::Scale::None}, 1);
}

TEST(FuseAttention, FindsTheKeyTransposedTwice) {
  expect_attention({.key_transposes = {{0, 2, 1, 3}, {0, 1, 3, 2}}});
}

TEST(FuseAttention, TakesAnyMaskThatBroadcastsToTheScores) {
  expect_attention({.mask = {1, 1, sym::seq(), sym::seq()}, .mask_first = true});
  expect_attention({.mask = {sym::batch(), kHeads, sym::seq(), sym::seq()}});
  expect_attention({.mask = {sym::seq(), sym::seq()}});
}

TEST(FuseAttention, ReshapesOperandsThatAreNotPacked) {
  Dim rows = Dim(sym::batch()) * Dim(sym::seq());
  expect_attention({.result = {rows, kHidden}, .flat = true});
}

TEST(FuseAttention, LeavesAnotherAxis) {
  expect_no_attention({.softmax_axis = 2});
  expect_no_attention({.join = {0, 1, 2, 3}});
}

TEST(FuseAttention, LeavesAScaledMask) {
  expect_no_attention(
      {.scale = Form::Scale::DivAfterMask, .mask = {sym::batch(), 1, 1, sym::seq()}});
}

TEST(FuseAttention, LeavesProbabilitiesThatAreNeededElsewhere) {
  expect_no_attention({.probabilities_are_output = true});
}

TEST(FuseAttention, LeavesAKeyThatIsNotSplitIntoHeadsTheSameWay) {
  Graph g;
  Form form;
  Value q = g.transpose(split(g, "q", form), {0, 2, 1, 3});
  Value v = g.transpose(split(g, "v", form), {0, 2, 1, 3});
  Value k = f32_input(g, "k", {sym::batch(), kHeads, kDim, sym::seq()});
  Value context = g.matmul(g.softmax(g.matmul(q, k), -1), v);
  Value joined = g.transpose(context, {0, 2, 1, 3});
  g.set_outputs({{"y", g.reshape(joined, {sym::batch(), sym::seq(), kHidden})}});
  EXPECT_EQ(count(fuse_attention(g), Op::Attention), 0);
}

TEST(FuseAttention, LeavesASymbolicNumberOfHeads) {
  Graph g;
  Symbol heads("heads", {1, 64});
  auto split_symbolic = [&](const std::string& name) {
    return f32_input(g, name, {sym::batch(), sym::seq(), heads, kDim});
  };
  Value q = g.transpose(split_symbolic("q"), {0, 2, 1, 3});
  Value k = g.transpose(split_symbolic("k"), {0, 2, 3, 1});
  Value v = g.transpose(split_symbolic("v"), {0, 2, 1, 3});
  Value joined = g.transpose(g.matmul(g.softmax(g.matmul(q, k), -1), v), {0, 2, 1, 3});
  g.set_outputs({{"y", g.reshape(joined, {sym::batch(), sym::seq(), Dim(heads) * kDim})}});
  EXPECT_EQ(count(fuse_attention(g), Op::Attention), 0);
}

TEST(FuseAttention, KeepsTheOriginOfTheJoiningReshape) {
  Graph source = written({});
  source.set_origin(source.outputs()[0].value.node, "layer0/attention");
  Graph fused = fuse_attention(source);
  EXPECT_EQ(fused.origin(only(fused, Op::Attention)), "layer0/attention");
}

}  // namespace
}  // namespace tenon::fuse
