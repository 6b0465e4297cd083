// Extents that kernels are timed at: those given, or the middle of bounds where tensors stay small.
#include "tune/extents.h"

#include "tests/tune/lowered.h"

namespace tenon::tune {
namespace {

Extents extents_at(const graph::Graph& graph, const DimBinding& given = {}) {
  Extents result;
  with_lowered(graph, [&](const driver::LoweredKernels& lowered) {
    result = timed_extents(lowered, given).take();
  });
  return result;
}

TEST(TimedExtents, AreTheMiddleOfTheirBounds) {
  EXPECT_EQ(extents_at(linear_and_sum(Symbol("m", {1, 100}))).at("m"), 50);
  EXPECT_EQ(extents_at(linear_and_sum(Symbol("m", {7, 7}))).at("m"), 7);
}

TEST(TimedExtents, AreHalvedUntilTensorsAreSmall) {
  // 2^30 rows of 96 floats at first; 16 MB hold 43690.
  EXPECT_EQ(extents_at(linear_and_sum()).at("m"), int64_t{1} << 15);
  EXPECT_EQ(extents_at(linear_and_sum(Symbol("m", {100'000, 1 << 20}))).at("m"), 100'000);
}

TEST(TimedExtents, OfSeveralSymbolsAreHalvedInTurn) {
  graph::Graph g;
  const auto x = g.input("x", {{sym::batch(), sym::seq(), 256}, DType::F32});
  g.set_outputs({{"y", g.unary(graph::Op::Exp, x)}});
  const Extents extents = extents_at(g);  // 16 MB are 2^14 rows
  EXPECT_EQ(extents.at("batch"), 128);
  EXPECT_EQ(extents.at("seq"), 128);
  EXPECT_EQ(extents.at("x.cap1"), 128);
  const Extents given = extents_at(g, {{"seq", 512}});
  EXPECT_EQ(given.at("batch"), 32);
  EXPECT_EQ(given.at("x.cap1"), 512);
}

TEST(TimedExtents, ThatAreGivenAreTakenAsTheyAre) {
  EXPECT_EQ(extents_at(linear_and_sum(), {{"m", 3}}).at("m"), 3);
  with_lowered(linear_and_sum(Symbol("m", {1, 100})), [](const driver::LoweredKernels& lowered) {
    EXPECT_EQ(timed_extents(lowered, {{"m", 101}}).error().what(),
              std::string("[tune] m = 101 lies outside 1..100"));
  });
}

TEST(TimedExtents, ThatContradictTheModelAreAnError) {
  graph::Graph g;
  const auto x = g.input("x", {{Symbol("a"), 8}, DType::F32});
  const auto y = g.input("y", {{Symbol("b"), 8}, DType::F32});
  g.set_outputs({{"sum", g.add(x, y)}});
  EXPECT_EQ(extents_at(g, {{"a", 5}, {"b", 5}}).at("b"), 5);
  with_lowered(g, [](const driver::LoweredKernels& lowered) {
    const auto extents = timed_extents(lowered, {{"a", 5}, {"b", 6}});
    ASSERT_FALSE(extents.ok());
    EXPECT_NE(std::string(extents.error().what()).find("typical extents for which that holds"),
              std::string::npos);
  });
}

}  // namespace
}  // namespace tenon::tune
