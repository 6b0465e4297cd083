// Depth, digest and verification: a chain of 100,000 nodes passes through everything, and digests
// are the same in every process and on every machine.
#include <gtest/gtest.h>

#include "graph/context.h"
#include "tests/graph/every_op.h"
#include "tests/graph/tensors.h"

namespace tenon::graph {
namespace {

TEST(DeepGraph, AChainOf100000NodesBuildsPrintsParsesVerifiesHashesRebuildsAndDies) {
  constexpr int kDepth = 100000;
  std::string text;
  Digest before;
  {
    Graph g;
    const Value x = g.input("x", {{sym::batch(), 4}, DType::F32});
    const Value y = g.input("y", {{4}, DType::F32});
    Value v = x;
    for (int i = 0; i < kDepth; ++i) v = g.add(v, y);
    g.set_outputs({{"v", v}});
    EXPECT_EQ(g.topological().size(), kDepth + 2u);
    EXPECT_EQ(UseLists(g).uses(y).size(), static_cast<size_t>(kDepth));
    verify(g);
    before = digest(g);
    text = print(g);
    const Graph h = rebuild(
        g, [](Graph&, const Node&, std::span<const Value>) { return std::vector<Value>(); });
    EXPECT_EQ(digest(h), before);
    const Tensor result =
        interpret(g, {{"x", f32({1, 4}, {0, 1, 2, 3})}, {"y", f32({4}, {0, 1, 0, 1})}})[0];
    EXPECT_EQ(numbers(result), (std::vector<double>{0, 100001, 2, 100003}));
  }
  const Graph again = parse(text);
  verify(again);
  EXPECT_EQ(digest(again), before);
}

// The digests below were computed once. They must never change silently: caches on disk are keyed
// by them.
TEST(Digest, OfASmallGraphIsTheSameOnEveryMachine) {
  Graph g;
  const Value x = g.input("x", {{sym::batch(), 4}, DType::F32});
  const Value w = g.param("w", {{4, 2}, DType::F32});
  g.set_outputs({{"y", g.mul(g.matmul(x, w), g.scalar(DType::F32, 0.5))}});
  EXPECT_EQ(digest(g).hex(), "ee4f083efb93668b000ebb3f8eb153dfce810534912bd561784b752e35168c2d");
}

TEST(Digest, DependsOnEverythingThatDecidesCompilation) {
  const auto build = [](int64_t hi, double factor, const char* output, Op op) {
    Graph g;
    const Value x = g.input("x", {{Symbol("n", {1, hi})}, DType::F32});
    g.set_outputs({{output, g.unary(op, g.mul(x, g.scalar(DType::F32, factor)))}});
    return digest(g);
  };
  const Digest base = build(8, 2, "y", Op::Relu);
  EXPECT_EQ(build(8, 2, "y", Op::Relu), base);
  EXPECT_NE(build(9, 2, "y", Op::Relu), base);
  EXPECT_NE(build(8, 3, "y", Op::Relu), base);
  EXPECT_NE(build(8, 2, "z", Op::Relu), base);
  EXPECT_NE(build(8, 2, "y", Op::Tanh), base);
}

TEST(Digest, LeavesOutTheDataOfParametersAndOrigins) {
  const auto build = [](float value, const char* origin) {
    Graph g;
    const Value w = g.param("w", {{1}, DType::F32}, {std::as_bytes(std::span(&value, 1)), nullptr});
    g.set_outputs({{"y", g.relu(w)}});
    g.set_origin(w.node, origin);
    return digest(g);
  };
  EXPECT_EQ(build(1, "a"), build(2, "b"));
}

TEST(Verify, AcceptsEveryOp) { EXPECT_NO_THROW(verify(every_op())); }

TEST(Verify, FindsMissingOutputsAndInputsOfAnotherGraph) {
  Graph g;
  EXPECT_EQ(error_of([&] { verify(g); }), "Internal the graph has no outputs");
  const Value x = g.input("x", {{4}, DType::F32});
  Graph other(g.context());
  other.set_outputs({{"y", other.relu(x)}});
  EXPECT_EQ(error_of([&] { verify(other); }),
            "Internal verify: [input] \"x\" is not in the graph's list");
}

TEST(Verify, FindsTypesThatDoNotFollow) {
  Graph g;
  const Value x = g.input("x", {{4}, DType::F32});
  const Ref<Node> wrong = g.context()->intern({Op::Relu, {x}, {}, {{{5}, DType::F32}}, "", {}});
  g.set_outputs({{"y", {wrong.get(), 0}}});
  EXPECT_EQ(error_of([&] { verify(g); }),
            "Internal verify: [relu] result 0 is f32[5], inferred f32[4]");
}

}  // namespace
}  // namespace tenon::graph
