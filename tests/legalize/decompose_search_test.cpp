// Positions that are not zero, slices that differ, boxes that are kept, n-grams and unpooling,
// against the ops themselves.
#include <limits>

#include "tests/legalize/same_results.h"
#include "tests/legalize/some_tensors.h"

namespace tenon::legalize {
namespace {

using namespace graph;
using List = std::vector<int64_t>;
using Floats = std::vector<float>;

constexpr float kNan = std::numeric_limits<float>::quiet_NaN();

Dim own(Graph& g) { return fresh(g, 1)[0]; }

TEST(NonZero, OfAnyRankAndNumberOfElements) {
  Graph g;
  const Value x = g.input("x", {{Symbol("n", {0, 100}), 3}, DType::F32});
  const Value flags = g.input("flags", {{Symbol("m", {0, 100})}, DType::Bool});
  const auto found = [&](Value of) {
    return g.apply(Op::NonZero, {of}, {{"count", std::vector<Dim>{own(g)}}});
  };
  g.set_outputs({{"x", found(x)}, {"flags", found(flags)}});
  EXPECT_FALSE(contains(decompose(g), Op::NonZero));
  const auto run = [&](const Floats& values, const std::vector<uint8_t>& set) {
    const auto rows = static_cast<int64_t>(values.size() / 3);
    const auto width = static_cast<int64_t>(set.size());
    expect_same_results(g, {{"x", tensor(DType::F32, {rows, 3}, values)},
                            {"flags", tensor(DType::Bool, {width}, set)}});
  };
  run({0, 1, 0, kNan, 0, -0.0F}, {1, 0, 1});
  run({}, {});
  run({0, 0, 0}, {0});
  run({1, 2, 3}, {1, 1});
}

TEST(NonZero, OfAScalar) {
  Graph g;
  const Value x = g.input("x", {{}, DType::I64});
  g.set_outputs({{"y", g.apply(Op::NonZero, {x}, {{"count", std::vector<Dim>{own(g)}}})}});
  expect_same_results(g, {{"x", integer(0)}});
  expect_same_results(g, {{"x", integer(7)}});
}

TEST(Unique, InBothOrdersAlongAnyAxis) {
  for (const int64_t sorted : {0, 1}) {
    Graph g;
    const Value v = g.input("v", {{Symbol("n", {0, 100})}, DType::F32});
    const Value x = g.input("x", {{3, 4}, DType::I64});
    const auto unique = [&](Value of, int64_t axis) {
      return g.apply_all(Op::Unique, {of},
                         {{"axis", axis}, {"sorted", sorted}, {"count", std::vector<Dim>{own(g)}}});
    };
    std::vector<Output> outputs;
    for (const auto& results : {unique(v, 0), unique(x, 0), unique(x, 1)}) {
      for (const Value& value : results) {
        outputs.push_back({"r" + std::to_string(outputs.size()), value});
      }
    }
    g.set_outputs(outputs);
    const Tensor table = tensor(DType::I64, {3, 4}, List{3, 1, 3, 1, 2, 2, 2, 2, 3, 1, 3, 1});
    for (const Floats& values : {Floats{3, 1, kNan, 3, -1, 1, kNan}, Floats{}, Floats{5}}) {
      const auto n = static_cast<int64_t>(values.size());
      expect_same_results(g, {{"v", tensor(DType::F32, {n}, values)}, {"x", table}});
    }
  }
}

TEST(NonMaxSuppression, KeepsTheBestOfWhatOverlaps) {
  for (const int64_t center : {0, 1}) {
    Graph g;
    const Dim n = Symbol("n", {0, 100});
    const Value boxes = g.input("boxes", {{2, n, 4}, DType::F32});
    const Value scores = g.input("scores", {{2, 3, n}, DType::F32});
    const Value most = g.input("most", {{}, DType::I64});
    const Value kept =
        g.apply(Op::NonMaxSuppression,
                {boxes, scores, most, g.scalar(DType::F32, 0.25), g.scalar(DType::F32, 0.1)},
                {{"center", center}, {"count", std::vector<Dim>{own(g)}}});
    g.set_outputs({{"y", kept}});
    EXPECT_FALSE(contains(decompose(g), Op::NonMaxSuppression));
    for (const int64_t count : {0, 1, 7}) {
      Floats corners, values;
      for (int64_t i = 0; i < 2 * count; ++i) {
        const auto at = static_cast<float>(i * 5 % 7);
        corners.insert(corners.end(), {at, at / 2, at + 3, at / 2 + 2});
        for (int64_t k = 0; k < 3; ++k)
          values.push_back(static_cast<float>((i * 3 + k * 5) % 8) / 8);
      }
      for (const int64_t limit : {0, 2, 100}) {
        expect_same_results(g, {{"boxes", tensor(DType::F32, {2, count, 4}, corners)},
                                {"scores", tensor(DType::F32, {2, 3, count}, values)},
                                {"most", integer(limit)}});
      }
    }
  }
}

TEST(CountGrams, WithElementsLeftOut) {
  for (const int64_t skips : {0, 2, 9}) {
    Graph g;
    const graph::Attributes attributes = {{"pool", List{2, 3, 5, 4, 5, 6, 7, 8, 6, 7}},
                                          {"lengths", List{1, 1, 2, 2, 2, 2}},
                                          {"places", List{0, 1, 4, 3, 5, 3}},
                                          {"skips", skips},
                                          {"size", int64_t{7}}};
    const Value row = g.input("row", {{Symbol("w", {1, 100})}, DType::I64});
    const Value rows = g.input("rows", {{Symbol("r", {0, 100}), 6}, DType::I64});
    g.set_outputs({{"row", g.apply(Op::CountGrams, {row}, attributes)},
                   {"rows", g.apply(Op::CountGrams, {rows}, attributes)}});
    const Tensor table = tensor(DType::I64, {2, 6}, List{1, 1, 3, 3, 3, 7, 8, 6, 7, 5, 6, 8});
    for (const List& values : {List{2}, List{5, 6}, List{5, 4, 6, 5, 6, 7, 7, 8, 2}}) {
      expect_same_results(g, {{"row", integers(values)}, {"rows", table}});
    }
  }
}

TEST(MaxUnpool, PutsElementsBackAndFillsUp) {
  for (const int64_t larger : {0, 1}) {
    Graph g;
    const Value x = g.input("x", {{1, 1, 2, 2}, DType::F32});
    const Value at = g.input("at", {{1, 1, 2, 2}, DType::I64});
    g.set_outputs(
        {{"y", g.apply(Op::MaxUnpool, {x, at},
                       {{"inner", std::vector<Dim>{1, 1, 4, 4}},
                        {"shape", std::vector<Dim>{1, 1, 4 + larger, 5 * larger + 4}}})}});
    const auto indices = [](const List& list) { return tensor(DType::I64, {1, 1, 2, 2}, list); };
    expect_same_results(g, {{"x", floats({1, 1, 2, 2})}, {"at", indices({5, 7, 13, 15})}});
    expect_same_results(g, {{"x", floats({1, 1, 2, 2})}, {"at", indices({5, 5, 0, 0})}});
    expect_same_error(g, {{"x", floats({1, 1, 2, 2})}, {"at", indices({5, 16, 0, 0})}});
    expect_same_error(g, {{"x", floats({1, 1, 2, 2})}, {"at", indices({5, -1, 0, 0})}});
  }
}

}  // namespace
}  // namespace tenon::legalize
