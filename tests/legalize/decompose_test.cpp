// The pass itself, and symbols that get their values from data.
#include "base/error.h"
#include "tests/legalize/same_results.h"

namespace tenon::legalize {
namespace {

using namespace graph;

Tensor integers(std::vector<int64_t> values) {
  const auto bytes = std::as_bytes(std::span(values));
  return {DType::I64, {static_cast<int64_t>(values.size())}, {bytes.begin(), bytes.end()}};
}

Graph reshape_by_data() {
  Graph g;
  const Value x = g.input("x", {{sym::batch()}, DType::F32});
  const Value shape = g.input("shape", {{2}, DType::I64});
  const std::vector<Dim> dims = decompositions::define(g, shape, "extent");
  g.set_outputs({{"y", g.reshape(x, dims)}});
  return g;
}

TEST(Define, GivesSymbolsTheValuesOfElements) {
  const Graph g = reshape_by_data();
  const auto run = [&](const std::vector<int64_t>& shape) {
    Tensor x{DType::F32, {6}, std::vector<std::byte>(24)};
    return interpret(g, {{"x", x}, {"shape", integers(shape)}})[0].shape;
  };
  EXPECT_EQ(run({2, 3}), (std::vector<int64_t>{2, 3}));
  EXPECT_EQ(run({6, 1}), (std::vector<int64_t>{6, 1}));
  EXPECT_THROW(run({4, 2}), Error);
  EXPECT_THROW(run({-2, -3}), Error);
}

TEST(Define, SurvivesTextAndRebuilding) {
  const Graph g = reshape_by_data();
  EXPECT_EQ(digest(parse(print(g))), digest(g));
  const Graph again =
      rebuild(g, [](Graph&, const Node&, std::span<const Value>) { return std::vector<Value>(); });
  EXPECT_TRUE(contains(again, Op::Define));
}

}  // namespace
}  // namespace tenon::legalize
