// Linear attention: what inference and evaluation refuse, and empty extents.
#include <gtest/gtest.h>

#include "base/error.h"
#include "graph/interpret.h"

namespace tenon::graph {
namespace {

TEST(LinearAttention, NeedsWholeGroupsOfHeads) {
  Graph g;
  const auto input = [&](const char* name, Shape shape) {
    return g.input(name, {std::move(shape), DType::F32});
  };
  const Value q = input("q", {1, 3, 4, 2}), k = input("k", {1, 2, 4, 2});
  const Value s = input("s", {1, 2, 2, 2}), rate = input("rate", {1, 2, 4, 1});
  EXPECT_THROW(g.apply_all(Op::LinearAttention, {q, k, k, s, k, rate}, {{"delta", int64_t{0}}}),
               Error);
}

TEST(LinearAttention, OfNoStepsKeepsItsState) {
  Graph g;
  const auto input = [&](const char* name, Shape shape) {
    return g.input(name, {std::move(shape), DType::F32});
  };
  const Value q = input("q", {1, 1, 0, 1}), s = input("s", {1, 1, 1, 1});
  const std::vector<Value> r =
      g.apply_all(Op::LinearAttention, {q, q, q, s, q, q}, {{"delta", int64_t{1}}});
  g.set_outputs({{"y", r[0]}, {"last", r[1]}});
  const float state = 7;
  const auto bytes = std::as_bytes(std::span(&state, 1));
  const std::vector<Tensor> out =
      interpret(g, {{"q", {DType::F32, {1, 1, 0, 1}, {}}},
                    {"s", {DType::F32, {1, 1, 1, 1}, {bytes.begin(), bytes.end()}}}});
  EXPECT_EQ(out[1].bytes, std::vector<std::byte>(bytes.begin(), bytes.end()));
}

}  // namespace
}  // namespace tenon::graph
