// States and their updates: values worked out by hand, what is refused, text, and specialization.
#include "graph/state.h"

#include <gtest/gtest.h>

#include "graph/specialize.h"
#include "tests/graph/tensors.h"

namespace tenon::graph {
namespace {

// A cache of pairs that a run makes longer by its rows.
struct Cache {
  Graph g;
  Value cache = g.state("cache", {{2, sym::past(), 2}, DType::F32}, {.axis = 1, .capacity = 4});
  Value rows = g.input("rows", {{2, sym::seq(), 2}, DType::F32});
};

TEST(Update, AppendsAlongTheAxis) {
  Cache c;
  const Value grown = c.g.update(c.cache, c.rows, sym::past());
  EXPECT_EQ(grown.shape()[1], Dim(sym::past()) + sym::seq());
  c.g.set_outputs({{"sum", c.g.reduce(Op::ReduceSum, grown, {1})}});
  verify(c.g);
  const Graph read = parse(print(c.g));
  EXPECT_EQ(print(read), print(c.g));
  const std::vector<Tensor> results = interpret(
      read, {{"cache", f32({2, 1, 2}, {1, 2, 5, 6})}, {"rows", f32({2, 1, 2}, {3, 4, 7, 8})}});
  ASSERT_EQ(results.size(), 2u);
  expect_near(results[0], {4, 6, 12, 14});
  EXPECT_EQ(results[1].shape, (std::vector<int64_t>{2, 2, 2}));
  expect_near(results[1], {1, 2, 3, 4, 5, 6, 7, 8});
}

TEST(Update, BeginsWithNothing) {
  Cache c;
  c.g.update(c.cache, c.rows, sym::past());
  c.g.set_outputs({});
  const std::vector<Tensor> results =
      interpret(c.g, {{"cache", f32({2, 0, 2}, {})}, {"rows", f32({2, 1, 2}, {3, 4, 7, 8})}});
  expect_near(results[0], {3, 4, 7, 8});
}

TEST(Update, ReplacesRows) {
  Graph g;
  const Value s = g.state("s", {{3}, DType::I64}, {.axis = 0, .capacity = 3});
  const Value once = g.update(s, g.integers({7}), 1);
  EXPECT_EQ(once.shape()[0], Dim(3));
  g.update(once, g.integers({8, 9}), 1);
  g.set_outputs({{"first", g.add(once, s)}});
  verify(g);
  const std::vector<Tensor> results = interpret(g, {{"s", i64({3}, {1, 2, 3})}});
  expect_near(results[0], {2, 9, 6});
  expect_near(results[1], {1, 8, 9});
}

TEST(Update, KeepsItsStateWhereSymbolsGetValues) {
  Cache c;
  c.g.update(c.cache, c.rows, sym::past());
  c.g.set_outputs({});
  const Graph one = specialize(c.g, {{"past", 3}, {"seq", 1}});
  EXPECT_EQ(one.outputs()[0].value.shape(), (Shape{2, 4, 2}));
  EXPECT_EQ(state_layout(one.inputs()[0])->capacity, 4);
  EXPECT_NE(error_of([&] { specialize(c.g, {{"past", 3}, {"seq", 2}}); }).find("capacity"),
            std::string::npos);
}

TEST(Update, RefusesWhatDoesNotFit) {
  Cache c;
  const auto error = [&](Value state, Value value, const Dim& offset) {
    return error_of([&] { Graph(c.g).update(state, value, offset); });
  };
  EXPECT_EQ(error(c.rows, c.rows, 0),
            "User [update] the first operand is no state, nor an update of one: f32[2, seq, 2] x "
            "f32[2, seq, 2]");
  EXPECT_EQ(error(c.cache, c.g.cast(c.rows, DType::F16), 0),
            "User [update] state and value have different dtypes (cast them): f32[2, past, 2] x "
            "f16[2, seq, 2]");
  EXPECT_EQ(error(c.cache, c.g.input("wide", {{2, 1, 3}, DType::F32}), 0),
            "User [update] extents of axis 2 differ: f32[2, past, 2] x f32[2, 1, 3]");
  EXPECT_EQ(error(c.cache, c.g.input("flat", {{2, 2}, DType::F32}), 0),
            "User [update] state and value have different ranks: f32[2, past, 2] x f32[2, 2]");
  EXPECT_EQ(error(c.cache, c.g.input("long", {{2, 5, 2}, DType::F32}), 0),
            "User [update] the state \"cache\" has too small a capacity (5 is more than 4): "
            "f32[2, past, 2] x f32[2, 5, 2]");
  EXPECT_EQ(error(c.cache, c.rows, -1),
            "User [update] the offset is negative (0 is more than -1): f32[2, past, 2] x "
            "f32[2, seq, 2]");
  EXPECT_EQ(error(c.cache, c.rows, Dim(sym::past()) + 1),
            "User [update] the offset leaves a gap (past + 1 is more than past): f32[2, past, 2] x "
            "f32[2, seq, 2]");
}

TEST(Update, RefusesTwoOfOneValue) {
  Cache c;
  c.g.update(c.cache, c.rows, sym::past());
  EXPECT_EQ(error_of([&] { c.g.update(c.cache, c.rows, 0); }),
            "User [update] the state \"cache\" has a later value: update that one");
}

TEST(State, RefusesAxesAndCapacitiesThatAreNone) {
  Graph g;
  const TensorType type{{4, 2}, DType::F32};
  EXPECT_EQ(error_of([&] { g.state("s", type, {.axis = 2, .capacity = 4}); }),
            "User [state] \"s\" has no axis 2: f32[4, 2]");
  EXPECT_EQ(error_of([&] { g.state("s", type, {.axis = 0, .capacity = 0}); }),
            "User [state] \"s\" needs a capacity of at least 1, not 0");
  EXPECT_NE(error_of([&] { g.state("s", type, {.axis = 0, .capacity = 3}); }).find("User"),
            std::string::npos);
}

TEST(State, IsNoNameForAnotherOutput) {
  Cache c;
  c.g.update(c.cache, c.rows, sym::past());
  EXPECT_EQ(error_of([&] { c.g.set_outputs({{"cache", c.rows}}); }),
            "User [outputs] \"cache\" is a state: another output needs another name");
}

}  // namespace
}  // namespace tenon::graph
