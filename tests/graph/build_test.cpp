// Building graphs: inference at construction, broadcasting of symbols, interning, use-lists and
// rebuild.
#include <gtest/gtest.h>

#include "graph/context.h"
#include "graph/graph.h"
#include "graph/interpret.h"
#include "tests/graph/tensors.h"

namespace tenon::graph {
namespace {

const Symbol kBatch = sym::batch(), kSeq = sym::seq();

TensorType f(Shape shape) { return {std::move(shape), DType::F32}; }

TEST(Graph, InfersTheTypeOfEachNodeWhenItIsBuilt) {
  Graph g;
  const Value x = g.input("x", f({kBatch, kSeq, 384}));
  const Value w = g.param("w", f({384, 1536}));
  EXPECT_EQ(g.matmul(x, w).type().to_string(), "f32[batch, seq, 1536]");
  EXPECT_EQ(g.reshape(x, {kBatch * kSeq, 384}).type().to_string(), "f32[batch*seq, 384]");
  EXPECT_EQ(g.reduce(Op::ReduceMax, x, {-1}).type().to_string(), "f32[batch, seq, 1]");
  EXPECT_EQ(g.transpose(x, {2, 0, 1}).type().to_string(), "f32[384, batch, seq]");
  EXPECT_EQ(g.binary(Op::Less, x, x).type().to_string(), "bool[batch, seq, 384]");
  EXPECT_TRUE(g.constraints().empty());
}

TEST(Graph, GivesEachPartOfASplitItsOwnType) {
  Graph g;
  const Value x = g.input("x", f({kBatch, 6}));
  const std::vector<Value> parts = g.split(x, -1, {2, 4});
  ASSERT_EQ(parts.size(), 2u);
  EXPECT_EQ(parts[0].type().to_string(), "f32[batch, 2]");
  EXPECT_EQ(parts[1].type().to_string(), "f32[batch, 4]");
  EXPECT_EQ(parts[0].node, parts[1].node);
}

TEST(Graph, BroadcastsOneAndEqualExtentsWithoutAnyConstraint) {
  Graph g;
  const Value x = g.input("x", f({kBatch, kSeq, 4}));
  const Value row = g.input("row", f({4}));
  const Value column = g.input("column", f({kBatch, 1, 1}));
  EXPECT_EQ(g.add(x, row).shape(), x.shape());
  EXPECT_EQ(g.add(column, x).shape(), x.shape());
  EXPECT_TRUE(g.constraints().empty());
}

TEST(Graph, DecidesAtRunTimeWhichOfTwoSymbolsIsOne) {
  Graph g;
  const Value a = g.input("a", f({kBatch})), b = g.input("b", f({kSeq}));
  EXPECT_EQ(g.add(a, b).shape()[0], max(Dim(kBatch), Dim(kSeq)));
  ASSERT_EQ(g.constraints().size(), 1u);
  EXPECT_EQ(g.constraints()[0].kind, Constraint::Kind::Broadcastable);
}

// An extent that may be 1 meets what it was spread to: still 1, or the same.
TEST(Graph, AnExtentMeetsWhatItWasSpreadTo) {
  Graph g;
  const Dim n = Symbol("n", {0, 6}), m = Symbol("m", {0, 2});
  const Value x = g.input("x", {{n}, DType::F32}), y = g.input("y", {{m}, DType::F32});
  const Value both = g.add(x, y);
  g.set_outputs({{"z", g.mul(both, y)}});
  EXPECT_EQ(g.outputs()[0].value.shape(), both.shape());
  const auto floats = [](int64_t count) {
    return Tensor{DType::F32, {count}, std::vector<std::byte>(static_cast<size_t>(count) * 4)};
  };
  for (const auto& [a, b] : {std::pair<int64_t, int64_t>{5, 1}, {1, 2}, {2, 2}, {0, 1}}) {
    EXPECT_EQ(interpret(g, {{"x", floats(a)}, {"y", floats(b)}})[0].shape[0], a == 1 ? b : a);
  }
  EXPECT_THROW(interpret(g, {{"x", floats(5)}, {"y", floats(2)}}), Error);
}

TEST(Graph, ASymbolThatMayBeOneBroadcastsToTheConstant) {
  Graph g;
  const Value a = g.input("a", f({kSeq})), b = g.input("b", f({8}));
  EXPECT_EQ(g.add(a, b).shape()[0], Dim(8));
  ASSERT_EQ(g.constraints().size(), 1u);
  EXPECT_EQ(g.constraints()[0].kind, Constraint::Kind::Broadcastable);
}

TEST(Graph, SymbolsThatCannotBeOneMustBeEqual) {
  Graph g;
  const Symbol p("p", {2, 64}), q("q", {2, 64});
  const Value a = g.input("a", f({p})), b = g.input("b", f({q}));
  EXPECT_EQ(g.add(a, b).shape()[0], Dim(p));
  ASSERT_EQ(g.constraints().size(), 1u);
  EXPECT_EQ(g.constraints()[0].kind, Constraint::Kind::Equal);
}

TEST(Graph, AnExpressionOfTheSameSymbolMustBeEqualAndThePlainSymbolIsTheResult) {
  Graph g;
  const Value a = g.input("a", f({min(Dim(kSeq), Dim(512))})), b = g.input("b", f({kSeq}));
  EXPECT_EQ(g.add(a, b).shape()[0], Dim(kSeq));
  ASSERT_EQ(g.constraints().size(), 1u);
  EXPECT_EQ(g.constraints()[0].kind, Constraint::Kind::Equal);
}

TEST(Graph, ASymbolicContractionAgainstAConstantIsAConstraintKeptOnce) {
  Graph g;
  const Value x = g.input("x", f({2, kSeq}));
  const Value w = g.param("w", f({9, 2})), v = g.param("v", f({9, 3}));
  g.matmul(x, w);
  g.matmul(x, v);
  ASSERT_EQ(g.constraints().size(), 1u);
  EXPECT_EQ(g.constraints()[0].left, Dim(kSeq));
  EXPECT_EQ(g.constraints()[0].right, Dim(9));
  EXPECT_EQ(g.constraints()[0].why, "[matmul] inner extents: f32[2, seq] x f32[9, 2]");
}

TEST(Graph, KeepsOneNodePerStructure) {
  Graph g;
  const Value x = g.input("x", f({4}));
  EXPECT_EQ(g.relu(x), g.relu(x));
  EXPECT_EQ(g.softmax(x, 0), g.softmax(x, -1));  // the same axis
  EXPECT_EQ(g.scalar(DType::F32, 2), g.scalar(DType::F32, 2));
  EXPECT_NE(g.scalar(DType::F32, 0.0), g.scalar(DType::F32, -0.0));
  EXPECT_NE(g.scalar(DType::F32, 2), g.scalar(DType::F16, 2));
  EXPECT_NE(g.add(x, g.relu(x)), g.add(g.relu(x), x));
}

TEST(Graph, CopiesConstantsSoThatTheCallersBytesMayGo) {
  Graph g;
  std::vector<float> values{1, 2};
  const Value c = g.constant(f({2}), {std::as_bytes(std::span(values)), nullptr});
  values = {3, 4};
  const auto* stored = reinterpret_cast<const float*>(c.node->bytes().data());
  EXPECT_EQ(stored[0], 1);
  EXPECT_EQ(stored[1], 2);
}

TEST(Graph, SharesNodesAmongGraphsOfOneContext) {
  Graph a;
  Graph b(a.context());
  EXPECT_EQ(a.input("x", f({4})), b.input("x", f({4})));
  EXPECT_NE(a.input("y", f({Symbol("n", {1, 4})})), b.input("y", f({Symbol("n", {1, 8})})));
}

TEST(Graph, KeepsWhatItBuiltAndNoMore) {
  Graph a;
  {
    Graph b(a.context());
    const Value used = b.relu(b.input("x", f({4})));
    b.gelu(used);
    EXPECT_EQ(a.context()->size(), 3u);
    a.set_outputs({{"y", used}});
  }
  EXPECT_EQ(a.context()->size(), 2u);  // x and relu; gelu went with the graph that built it
  EXPECT_EQ(a.outputs()[0].value.op(), Op::Relu);
  a = Graph(a.context());
  EXPECT_EQ(a.context()->size(), 0u);
}

TEST(UseLists, NameEveryUserOfAValue) {
  Graph g;
  const Value x = g.input("x", f({4}));
  const Value r = g.relu(x), s = g.mul(r, r), t = g.add(r, s);
  g.set_outputs({{"t", t}});
  const UseLists uses(g);
  EXPECT_EQ(uses.uses(r).size(), 3u);
  EXPECT_EQ(uses.only_user(r), nullptr);
  EXPECT_EQ(uses.only_user(s), t.node);
  EXPECT_EQ(uses.only_user(x), r.node);
  EXPECT_EQ(uses.only_user(t), nullptr);
  EXPECT_TRUE(uses.is_output(t));
  EXPECT_FALSE(uses.is_output(s));
}

TEST(Rebuild, KeepsInputsAndOriginsAndDropsUnusedParameters) {
  Graph g;
  const Value x = g.input("x", f({4})), unused = g.input("unused", f({4}));
  const Value w = g.param("w", f({4}));
  g.param("dead", f({4}));
  const Value r = g.relu(x);
  g.set_origin(r.node, "layer.0");
  g.set_outputs({{"y", g.add(r, w)}});
  const Graph h = rebuild(g, [](Graph& graph, const Node& node, std::span<const Value> operands) {
    if (node.op() != Op::Relu) return std::vector<Value>();
    return std::vector{graph.unary(Op::Tanh, operands[0])};
  });
  ASSERT_EQ(h.inputs().size(), 2u);
  EXPECT_EQ(h.inputs()[1], unused);
  ASSERT_EQ(h.params().size(), 1u);
  EXPECT_EQ(h.params()[0], w);
  const Value y = h.outputs()[0].value;
  EXPECT_EQ(y.node->operand(0).op(), Op::Tanh);
  EXPECT_EQ(h.origin(y.node->operand(0).node), "layer.0");
  verify(h);
}

TEST(Rebuild, WithoutAnyRewriteGivesTheSameNodes) {
  Graph g;
  const Value x = g.input("x", f({kBatch, 6}));
  const std::vector<Value> parts = g.split(x, 1, {2, 4});
  g.set_outputs({{"a", parts[1]}, {"b", g.relu(parts[0])}});
  const Graph h =
      rebuild(g, [](Graph&, const Node&, std::span<const Value>) { return std::vector<Value>(); });
  EXPECT_EQ(h.outputs()[0].value, g.outputs()[0].value);
  EXPECT_EQ(digest(h), digest(g));
}

}  // namespace
}  // namespace tenon::graph
