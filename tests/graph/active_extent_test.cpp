// The graph derived for an active extent, with a value in the symbol's place, is the graph that a
// builder makes for that value.
#include "graph/active_extent.h"

#include <gtest/gtest.h>

#include "base/error.h"
#include "graph/specialize.h"
#include "types/active_extent.h"

namespace tenon::graph {
namespace {

constexpr int64_t kUpper = 64;
using Build = void (*)(Graph& g, const Dim& rows);

struct Case {
  const char* name;
  Build build;
};

Value input(Graph& g, const Dim& rows, int64_t width = 8) {
  return g.input("x", {{rows, width}, DType::F32});
}
Value weights(Graph& g, const char* name, const Shape& shape) {
  return g.param(name, {shape, DType::F32});
}

// Padding counts in the means at the ends, however long the axis is.
Value pooled(Graph& g, const Dim& rows) {
  const Value x = g.input("x", {{1, 2, rows}, DType::F32});
  const std::vector<int64_t> one{1};
  return g.apply(Op::AveragePool, {x},
                 {{"begins", std::vector<Dim>{1}},
                  {"ends", std::vector<Dim>{1}},
                  {"dilations", one},
                  {"extents", std::vector<Dim>{rows}},
                  {"kernel", std::vector<int64_t>{3}},
                  {"strides", one}});
}

constexpr Case kCases[] = {
    {"activations and binaries",
     [](Graph& g, const Dim& rows) {
       const Value x = input(g, rows);
       g.set_outputs({{"y", g.add(g.gelu(x), g.mul(x, weights(g, "s", {8})))}});
     }},
    {"a width as large as the bucket",
     [](Graph& g, const Dim& rows) {
       const Value x = input(g, rows, kUpper);
       const Value heads = g.reshape(g.matmul(x, weights(g, "w", {kUpper, kUpper})), {rows, 8, 8});
       g.set_outputs({{"y", g.reshape(heads, {rows, kUpper})}});
     }},
    {"reshapes that merge and split the axis",
     [](Graph& g, const Dim& rows) {
       const Value x = g.input("x", {{2, rows, 6}, DType::F32});
       const Value merged = g.reshape(x, {rows * 2, 6});
       g.set_outputs({{"y", g.reshape(g.relu(merged), {2, rows, 3, 2})},
                      {"merged", merged},
                      {"turned", g.reshape(x, {12, rows})}});
     }},
    {"means, softmax and products over the axis",
     [](Graph& g, const Dim& rows) {
       const Value x = input(g, rows);
       const Value scores = g.matmul(x, g.transpose(x, {1, 0}));
       g.set_outputs({{"mean", g.reduce(Op::ReduceMean, x, {0})},
                      {"probabilities", g.softmax(scores, 0)},
                      {"gram", g.matmul(g.transpose(x, {1, 0}), x)}});
     }},
    {"a mean that is spread over the axis again",
     [](Graph& g, const Dim& rows) {
       const Value x = input(g, rows);
       const Value mean = g.reduce(Op::ReduceMean, x, {0});
       g.set_outputs({{"y", g.sub(x, g.expand(mean, {rows, 8}))}});
     }},
    {"the table of positions as far as the rows go",
     [](Graph& g, const Dim& rows) {
       const Value x = input(g, rows);
       const Value table = weights(g, "positions", {100, 8});
       g.set_outputs({{"y", g.add(x, g.slice(table, {0, 0}, {rows, 8}, {1, 1}))}});
     }},
    {"a causal mask of positions",
     [](Graph& g, const Dim& rows) {
       const Value x = input(g, rows);
       const Value zero = g.scalar(DType::I64, 0), one = g.scalar(DType::I64, 1);
       const Value at = g.apply(Op::Range, {zero, g.dims({rows}, true), one},
                                {{"shape", std::vector<Dim>{rows}}});
       const Value seen =
           g.binary(Op::LessEqual, g.reshape(at, {1, rows}), g.reshape(at, {rows, 1}));
       const Value scores = g.matmul(x, g.transpose(x, {1, 0}));
       const Value masked =
           g.apply(Op::Where, {seen, scores, g.expand(g.scalar(DType::F32, -100), {rows, rows})});
       g.set_outputs({{"y", g.softmax(masked, 1)}});
     }},
    {"attention, causal and with a mask that is an input",
     [](Graph& g, const Dim& rows) {
       const Value x = g.input("x", {{1, rows, 16}, DType::F32});
       const Value mask = g.input("mask", {{rows, rows}, DType::F32});
       const Value y = g.attention(x, x, x, {.heads = 2, .head_dim = 8, .causal = true});
       const Value z = g.attention(y, x, x, {.heads = 2, .head_dim = 8, .mask = mask});
       g.set_outputs({{"z", z}, {"first", g.slice(z, {0, 0, 0}, {1, 1, 16}, {1, 1, 1})}});
     }},
    {"backwards, joined and padded",
     [](Graph& g, const Dim& rows) {
       const Value x = input(g, rows);
       const Value back = g.slice(x, {rows - 1, 0}, {rows, 8}, {-1, 1});
       const Value joined = g.concat({x, back}, 0);
       const Value ends = g.cast(g.cast(g.integers({0, -1}), DType::I32), DType::I64);
       const Value moved = g.expand(g.reshape(ends, {1, 2}), {3, 2});
       const Value padded =
           g.apply(Op::Pad, {joined, g.integers({1, 2}), g.integers({0})},
                   {{"mode", "constant"}, {"shape", std::vector<Dim>{rows * 2 + 3, 8}}});
       g.set_outputs({{"y", padded},
                      {"last", g.gather(x, g.scalar(DType::I64, -1), 0)},
                      {"ends", g.gather(x, moved, 0)}});
     }},
    {"windows that reach into padding",
     [](Graph& g, const Dim& rows) { g.set_outputs({{"y", pooled(g, rows)}}); }},
};

ActiveGraph active_of(const Graph& g) { return with_guessed_extent(g, bucket_axes(g, {}, kUpper)); }

Graph built(const Case& c, const Dim& rows) {
  Graph g;
  c.build(g, rows);
  return g;
}

TEST(ActiveExtent, IsWhatABuilderMakesOfAnyExtent) {
  for (const Case& c : kCases) {
    const ActiveGraph active = active_of(built(c, kUpper));
    EXPECT_EQ(active.report.fallback, "") << c.name;
    EXPECT_TRUE(active.graph.symbols().contains(std::string(kActiveExtent))) << c.name;
    for (const int64_t rows : {int64_t{1}, int64_t{2}, int64_t{31}, kUpper}) {
      const Graph special = specialize(active.graph, {{std::string(kActiveExtent), rows}});
      EXPECT_EQ(print(special), print(built(c, rows))) << c.name << " at " << rows;
    }
  }
}

std::string fallback_of(Build build) {
  Graph g;
  build(g, kUpper);
  const ActiveGraph active = active_of(g);
  EXPECT_EQ(digest(active.graph), digest(g));
  return active.report.fallback;
}

TEST(ActiveExtent, StaysAwayFromWhatCannotBeKnown) {
  constexpr Case kUnknown[] = {
      {"[param] \"positions\" f32[64, 8] has the bucket's extent 64 for a constant",
       [](Graph& g, const Dim& rows) {
         g.set_outputs({{"y", g.add(input(g, rows), weights(g, "positions", {rows, 8}))}});
       }},
      {"[expand] extent 64 of axis 0 of f32[64, 8] may be the bucket's or not",
       [](Graph& g, const Dim& rows) {
         const Value mean = g.reduce(Op::ReduceMean, input(g, rows), {0});
         g.set_outputs({{"y", g.expand(mean, {rows, 8})}});
       }},
      {"[div] the number 64 may be the bucket's extent",
       [](Graph& g, const Dim& rows) {
         const Value sum = g.reduce(Op::ReduceSum, input(g, rows), {0});
         g.set_outputs({{"y", g.div(sum, g.scalar(DType::F32, 64))}});
       }},
      {"[mul] the number 0.015625 may be the bucket's extent",
       [](Graph& g, const Dim& rows) {
         const Value sum = g.reduce(Op::ReduceSum, input(g, rows), {0});
         g.set_outputs({{"y", g.mul(sum, g.expand(g.scalar(DType::F32, 1.0 / 64), {1, 8}))}});
       }},
      {"[mul] the number 64 may be the bucket's extent",
       [](Graph& g, const Dim& rows) {
         const Value sum = g.reduce(Op::ReduceSum, input(g, rows), {0});
         const Value part = g.unary(Op::Reciprocal, g.scalar(DType::F32, 64));
         g.set_outputs({{"y", g.mul(sum, part)}});
       }},
      {"[reduce_sum] what is added up is scaled by 64, the bucket's extent",
       [](Graph& g, const Dim& rows) {
         const Value part = g.div(input(g, rows), g.scalar(DType::F32, 64));
         g.set_outputs({{"y", g.reduce(Op::ReduceSum, g.transpose(part, {1, 0}), {1})}});
       }},
      {"[gather] positions on the bucket's axis are constants",
       [](Graph& g, const Dim& rows) {
         g.set_outputs({{"y", g.gather(input(g, rows), g.scalar(DType::I64, 63), 0)}});
       }},
      {"[gather] positions on the bucket's axis are constants",
       [](Graph& g, const Dim& rows) {
         const Value at = g.cast(g.cast(g.integers({0, 40}), DType::I32), DType::I64);
         g.set_outputs({{"y", g.gather(input(g, rows), at, 0)}});
       }},
      {"[gather] positions on the bucket's axis are constants",
       [](Graph& g, const Dim& rows) {
         const Value at = g.concat({g.integers({0}), g.add(g.integers({20}), g.integers({20}))}, 0);
         g.set_outputs({{"y", g.gather(input(g, rows), g.reshape(at, {2, 1}), 0)}});
       }},
      {"[scatter_elements] positions on the bucket's axis are constants",
       [](Graph& g, const Dim& rows) {
         const Value at = g.expand(g.reshape(g.integers({40}), {1, 1}), {1, 8});
         const Value ones = weights(g, "ones", {1, 8});
         g.set_outputs({{"y", g.apply(Op::ScatterElements, {input(g, rows), at, ones},
                                      {{"axis", int64_t{0}}, {"reduction", "none"}})}});
       }},
      {"[mul] the integer 64 may be the bucket's extent",
       [](Graph& g, const Dim& rows) {
         const Value by = g.input("by", {{1}, DType::I64});
         g.set_outputs({{"y", input(g, rows)}, {"size", g.mul(by, g.integers({64}))}});
       }},
      {"[gather] positions are clamped to 64 rows, which may be the bucket's",
       [](Graph& g, const Dim& rows) {
         const Value at = g.input("at", {{3}, DType::I64});
         const Value last = g.binary(Op::Min, at, g.scalar(DType::I64, 63));
         g.set_outputs({{"y", g.gather(input(g, rows), last, 0)}});
       }},
      {"[cosine_window] its extent 64 may be the bucket's or not",
       [](Graph& g, const Dim& rows) {
         const Value window = g.apply(Op::CosineWindow, {g.scalar(DType::I64, 64)},
                                      {{"coefficients", std::vector<double>{0.5, 0.5}},
                                       {"dtype", DType::F32},
                                       {"periodic", int64_t{0}},
                                       {"shape", std::vector<Dim>{rows}}});
         g.set_outputs({{"y", input(g, rows)}, {"window", window}});
       }},
      // That the shape it is given does not follow says nothing about what is reshaped.
      {"[expand] extent 64 of axis 1 of f32[1, 64] may be the bucket's or not",
       [](Graph& g, const Dim& rows) {
         const Value one = g.input("one", {{1, 1}, DType::F32});
         const Value size = g.input("size", {{1}, DType::I64});
         const Value flat = g.apply(
             Op::ReshapeTo, {g.expand(one, {1, rows}), size},
             {{"mode", "exact"}, {"shape", std::vector<Dim>{g.fresh_symbol("n", {0, 999})}}});
         g.set_outputs({{"y", input(g, rows)}, {"flat", flat}});
       }},
      {"[reshape] of f32[4096]: [64, 64] may be the bucket's extent in several ways or none",
       [](Graph& g, const Dim& rows) {
         const Value merged = g.reshape(input(g, rows, 64), {rows * 64});
         g.set_outputs({{"y", g.reshape(merged, {rows, 64})}});
       }},
  };
  for (const Case& c : kUnknown) EXPECT_EQ(fallback_of(c.build), c.name);
  const std::string rows_of_a_few = fallback_of([](Graph& g, const Dim& rows) {
    g.set_outputs({{"y", g.slice(input(g, rows), {3, 0}, {5, 8}, {1, 1})}});
  });
  EXPECT_NE(rows_of_a_few.find("does not hold for every extent"), std::string::npos)
      << rows_of_a_few;
}

// Only "x" is marked, and as wide as the bucket is long.
constexpr Case kBesideAMark[] = {
    {"a weight that is an input",
     [](Graph& g, const Dim& rows) {
       const Value x = input(g, rows, kUpper);
       g.set_outputs({{"y", g.matmul(x, g.input("w", {{kUpper, kUpper}, DType::F32}))}});
     }},
    {"a number for each feature, and rows of their own",
     [](Graph& g, const Dim& rows) {
       const Value x = input(g, rows, kUpper);
       const Value z = g.input("z", {{kUpper}, DType::F32});
       const Value own = g.input("own", {{rows, 8}, DType::F32});
       const Value same = g.input("same", {{rows, 8}, DType::F32});
       g.set_outputs({{"y", g.add(x, z)}, {"own", g.relu(g.add(own, same))}});
     }},
    {"what is turned round",
     [](Graph& g, const Dim& rows) {
       const Value x = input(g, rows, kUpper);
       const Value z = g.input("z", {{kUpper, rows}, DType::F32});
       g.set_outputs({{"y", g.mul(x, g.transpose(z, {1, 0}))}});
     }},
    {"a mask that must have the axis twice",
     [](Graph& g, const Dim& rows) {
       const Value x = input(g, rows, kUpper);
       const Value mask = g.input("mask", {{rows, rows}, DType::F32});
       g.set_outputs({{"y", g.add(g.matmul(x, g.transpose(x, {1, 0})), mask)}});
     }},
};

TEST(ActiveExtent, IsNeverOnAnotherAxisOfAMarkedInput) {
  for (const Case& c : kBesideAMark) {
    const ActiveGraph active = with_active_extent(built(c, kUpper), {{"x", 0}});
    EXPECT_EQ(active.report.fallback, "") << c.name;
    for (const int64_t rows : {int64_t{1}, int64_t{31}, kUpper}) {
      const Graph special = specialize(active.graph, {{std::string(kActiveExtent), rows}});
      EXPECT_EQ(print(special), print(built(c, rows))) << c.name << " at " << rows;
    }
  }
  Graph square;
  const Value x = input(square, kUpper, kUpper);
  square.set_outputs({{"y", square.matmul(x, x)}});
  EXPECT_EQ(with_active_extent(square, {{"x", 0}}).report.fallback,
            "[input] \"x\" f32[64, 64]: axis 1 would be the bucket's, which is not its");
}

TEST(ActiveExtent, IsNotGuessedWhereInputsFitInSeveralWays) {
  const Build product = [](Graph& g, const Dim& rows) {
    const Value x = input(g, rows, kUpper);
    g.set_outputs({{"y", g.matmul(x, g.input("w", {{kUpper, kUpper}, DType::F32}))}});
  };
  EXPECT_EQ(fallback_of(product),
            "[input] \"x\" f32[64, 64]: axis 1 would be the bucket's, which is not its");
  EXPECT_EQ(fallback_of([](Graph& g, const Dim& rows) {
              const Value x = input(g, rows, kUpper);
              g.set_outputs({{"y", g.add(x, g.input("z", {{kUpper}, DType::F32}))}});
            }),
            "[input] extent 64 of axis 0 of \"x\" f32[64, 64] may be the bucket's or not");
  Graph mixing;
  const Value mix = mixing.input("mix", {{kUpper, kUpper}, DType::F32});
  mixing.set_outputs({{"y", mixing.matmul(mix, input(mixing, kUpper))}});
  EXPECT_EQ(with_active_extent(mixing, {{"x", 0}}).report.fallback,
            "[input] extent 64 of axis 0 of \"mix\" f32[64, 64] may be the bucket's or not");
}

TEST(ActiveExtent, MayBeAsLargeAsANumberThatIsNoDivisorOfASum) {
  Graph g;
  const Value x = g.mul(input(g, kUpper), g.scalar(DType::F32, 1.0 / 64));
  const Value chances = g.softmax(x, 0);
  g.set_outputs({{"x", x},
                 {"features", g.reduce(Op::ReduceSum, x, {1})},
                 {"mean", g.reduce(Op::ReduceMean, chances, {0})}});
  EXPECT_EQ(active_of(g).report.fallback, "");
}

TEST(ActiveExtent, NeedsLessRoomInAStateForFewerRows) {
  const auto build = [](const Dim& rows) {
    Graph g;
    const Dim past = Symbol("past", {0, 200});
    const Value state = g.state("s", {{past, 8}, DType::F32}, {.axis = 0, .capacity = 100});
    const Value all = g.update(state, input(g, rows), past);
    g.set_outputs({{"sum", g.reduce(Op::ReduceSum, all, {0})}});
    return g;
  };
  const ActiveGraph active = with_active_extent(build(kUpper), {{"x", 0}});
  EXPECT_EQ(active.report.fallback, "");
  const auto at = [&](int64_t past, int64_t rows) {
    return specialize(active.graph, {{std::string(kActiveExtent), rows}, {"past", past}});
  };
  for (const int64_t rows : {int64_t{1}, int64_t{30}})
    EXPECT_EQ(print(at(70, rows)), print(specialize(build(rows), {{"past", 70}}))) << rows;
  EXPECT_EQ(print(at(36, kUpper)), print(specialize(build(kUpper), {{"past", 36}})));
  EXPECT_THROW(at(70, 31), Error);
  EXPECT_THROW(at(37, kUpper), Error);
}

TEST(ActiveExtent, TakesTheMarkedAxisElseTheFirst) {
  Graph g;
  const Value x = g.input("x", {{kUpper, kUpper}, DType::F32});
  const Value y = g.input("y", {{kUpper, kUpper}, DType::F32});
  g.set_outputs({{"x", g.relu(x)}, {"y", g.relu(y)}});
  const ActiveGraph active = with_active_extent(g, {{"x", 1}});
  EXPECT_EQ(active.report.to_string(),
            "active extent 1..64\n"
            "input x: axis 1\n"
            "input y: axis 0\n"
            "output x: f32[64, active.extent], shrinks\n"
            "output y: f32[active.extent, 64], shrinks\n");
}

TEST(ActiveExtent, RefusesWhatIsNoBucket) {
  Graph g;
  const Value x = g.input("x", {{kUpper, Symbol("n")}, DType::F32});
  const Value y = g.input("y", {{32, 8}, DType::F32});
  g.set_outputs({{"x", x}, {"y", y}});
  EXPECT_THROW(check_bucket_axis(x, 1), Error);
  EXPECT_THROW(check_bucket_axis(x, 2), Error);
  EXPECT_THROW(bucket_axes(g, {}, 100), Error);
  EXPECT_THROW(bucket_axes(g, {{"x", 0}}, 32), Error);
  EXPECT_THROW(with_active_extent(g, {{"x", 0}, {"y", 0}}), Error);
}

}  // namespace
}  // namespace tenon::graph
