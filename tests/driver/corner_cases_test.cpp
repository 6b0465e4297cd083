// Graphs at the edges of what shapes and names allow, through the whole pipeline against the
// interpreter: each was wrong once, or could be.
#include <gtest/gtest.h>

#include <cmath>
#include <cstring>
#include <limits>

#include "tests/driver/run_graph.h"
#include "tests/lower/graph_cases.h"

namespace tenon::graph_test {
namespace {

void expect_interpreted(const Graph& g, const Extents& extents) {
  const Tensors inputs = random_tensors(g, extents);
  const auto expected = graph::interpret(g, inputs);
  for (const CpuIsa isa : isas_here()) {
    const auto actual = RunGraph(g, isa).run(inputs);
    for (size_t i = 0; i < expected.size(); ++i) {
      expect_close(actual[i], expected[i], 1e-5, text_of(extents));
    }
  }
}

template <typename T>
graph::Tensor tensor(DType dtype, const std::vector<T>& values) {
  graph::Tensor result{dtype, {static_cast<int64_t>(values.size())}, {}};
  result.bytes.resize(values.size() * sizeof(T));
  std::memcpy(result.bytes.data(), values.data(), result.bytes.size());
  return result;
}

TEST(CornerCases, AModelsSymbolsMayHaveTheNamesOfOurLoops) {
  for (const char* name : {"k", "j", "i0", "i1", "i0i1", "i1i2", "g0", "r", "kb", "once", "t.0"}) {
    Graph g;
    const Dim n = Symbol(name, {1, 512});
    const Value a = in(g, "a", {3, n, 16}), b = in(g, "b", {n, 5});
    const Value product = g.matmul(g.transpose(a, {0, 2, 1}), b);
    const Value attended = g.attention(a, a, a, {.heads = 2, .head_dim = 8});
    g.set_outputs({{"p", product}, {"s", g.softmax(a, 1)}, {"o", attended}});
    for (const int64_t extent : {1, 5, 130}) expect_interpreted(g, {{name, extent}});
  }
}

TEST(CornerCases, BatchesOfSingleRowsHaveTheirOwnRightOperand) {
  Graph g;
  const Value a = in(g, "a", {kB, 2, 1, 8}), b = in(g, "b", {kB, 2, 8, 5});
  g.set_outputs({{"y", g.matmul(a, b)}});
  for (const int64_t batch : {1, 3, 13}) expect_interpreted(g, {{"b", batch}});
}

TEST(CornerCases, OneStaticQueryAttendsToTheKeysOfItsOwnHead) {
  Graph g;
  const Value q = in(g, "q", {kB, 1, 32}), k = in(g, "k", {kB, kS, 32}),
              v = in(g, "v", {kB, kS, 32});
  g.set_outputs({{"y", g.attention(q, k, v, {.heads = 4, .head_dim = 8})}});
  expect_interpreted(g, {{"b", 3}, {"s", 70}});
}

// What the run gives at these extents; a User error, whose text is returned, both compiled and
// interpreted.
std::string error_of(const Graph& g, const Extents& extents) {
  const Tensors inputs = random_tensors(g, extents);
  std::string texts;
  for (const bool is_compiled : {true, false}) {
    try {
      is_compiled ? RunGraph(g).run(inputs) : graph::interpret(g, inputs);
      ADD_FAILURE() << "no error at " << text_of(extents);
    } catch (const Error& error) {
      EXPECT_EQ(error.kind(), ErrorKind::User);
      texts += error.what();
    }
  }
  return texts;
}

TEST(CornerCases, AnAxisThatIsEmptyInARunHasNoElementToChoose) {
  const Dim n = Symbol("n", {0, 64});
  for (const Op op : {Op::ArgMax, Op::ArgMin}) {
    Graph g;
    g.set_outputs({{"y", g.apply(op, {in(g, "x", {kB, n})}, {{"axis", int64_t{1}}})}});
    expect_interpreted(g, {{"b", 2}, {"n", 1}});
    EXPECT_NE(error_of(g, {{"b", 2}, {"n", 0}}).find("no element to choose"), std::string::npos);
  }
}

TEST(CornerCases, AnAxisThatIsEmptyInARunHasNothingToRepeat) {
  const Dim n = Symbol("n", {0, 64});
  for (const std::string mode : {"reflect", "edge", "wrap"}) {
    Graph g;
    const Value x = in(g, "x", {2, n}), axes = g.integers({0, 1});
    const auto padded = [&](Value pads, std::vector<Dim> shape) {
      return g.apply(Op::Pad, {x, pads, axes}, {{"mode", mode}, {"shape", std::move(shape)}});
    };
    // By numbers, and by as much as the axis has: then nothing is made of nothing.
    const Value by_own = padded(g.dims({0, n, 0, 0}), {2, n * 2});
    g.set_outputs({{"twice", by_own}});
    for (const int64_t extent : {0, 1, 5}) expect_interpreted(g, {{"n", extent}});
    g.set_outputs({{"y", padded(g.integers({0, 1, 0, 2}), {2, n + 3})}});
    expect_interpreted(g, {{"n", 1}});
    EXPECT_NE(error_of(g, {{"n", 0}}).find("nothing to repeat"), std::string::npos) << mode;
  }
  Graph g;  // a constant has something to repeat
  g.set_outputs(
      {{"y", g.apply(Op::Pad, {in(g, "x", {2, n}), g.integers({0, 1, 0, 2}), g.integers({0, 1})},
                     {{"mode", "constant"}, {"shape", std::vector<Dim>{2, n + 3}}})}});
  expect_interpreted(g, {{"n", 0}});
}

TEST(CornerCases, IntegerDivisionNeverEndsTheProcess) {
  Graph g;
  const Value a = in(g, "a", {kS}, DType::I64), b = in(g, "b", {kS}, DType::I64);
  g.set_outputs({{"y", g.div(a, b)}});
  const int64_t least = std::numeric_limits<int64_t>::min();
  const Tensors inputs = {{"a", tensor<int64_t>(DType::I64, {7, -7, 5, least, 0})},
                          {"b", tensor<int64_t>(DType::I64, {2, 2, 0, -1, 3})}};
  const std::vector<int64_t> expected = {3, -3, 0, least, 0};  // truncated; by zero 0; wrapped
  for (const CpuIsa isa : isas_here()) {
    const auto actual = RunGraph(g, isa).run(inputs)[0];
    EXPECT_EQ(0, std::memcmp(actual.bytes.data(), expected.data(), actual.bytes.size()));
  }
}

TEST(CornerCases, AContractionOverNothingIsZero) {
  Graph g;
  const Value x = in(g, "x", {kB, 0}), w = par(g, "w", {0, 4});
  g.set_outputs({{"y", g.matmul(x, w)}});
  const auto actual =
      RunGraph(g).run({{"x", {DType::F32, {3, 0}, {}}}, {"w", {DType::F32, {0, 4}, {}}}});
  ASSERT_EQ(actual[0].shape, (std::vector<int64_t>{3, 4}));
  for (const std::byte byte : actual[0].bytes) EXPECT_EQ(byte, std::byte{0});
}

TEST(CornerCases, RowsOfOneElement) {
  Graph g;
  const Value x = in(g, "x", {kB, 1});
  g.set_outputs({{"s", g.softmax(x, 1)}, {"m", g.reduce(Op::ReduceMax, x, {1})}});
  for (const int64_t batch : {1, 5, 17}) expect_interpreted(g, {{"b", batch}});
}

TEST(CornerCases, AxesOfNoElementsGiveEmptyResults) {
  Graph g;
  const Value x = in(g, "x", {0, 3});
  g.set_outputs({{"y", g.relu(g.add(x, x))}});
  EXPECT_EQ(RunGraph(g).run({{"x", {DType::F32, {0, 3}, {}}}})[0].shape,
            (std::vector<int64_t>{0, 3}));
}

TEST(CornerCases, ResultsOfNoElementsAreNotComputed) {
  Graph g;
  const Value a = in(g, "a", {0, 2, 3}), b = in(g, "b", {0, 3, 4}), c = in(g, "c", {3, 0, 2});
  const Value x = in(g, "x", {3, 4}), w = par(g, "w", {4, 0});
  g.set_outputs({{"batches", g.relu(g.matmul(a, b))},
                 {"kept", g.reduce(Op::ReduceSum, c, {0})},
                 {"columns", g.matmul(x, w)},
                 {"whole", g.reduce(Op::ReduceSum, g.matmul(a, b), {0, 1, 2})}});
  expect_interpreted(g, {});
}

TEST(CornerCases, AttentionToNoKeysIsZero) {
  Graph g;
  const Value q = in(g, "q", {2, 3, 16}), k = in(g, "k", {2, 0, 16});
  g.set_outputs({{"y", g.attention(q, k, k, {.heads = 2, .head_dim = 8})}});
  expect_interpreted(g, {});
}

TEST(CornerCases, TheLargestOfNumbersAndNaNIsNaN) {
  Graph g;
  const Value x = in(g, "x", {kS});
  g.set_outputs(
      {{"max", g.reduce(Op::ReduceMax, x, {0})}, {"min", g.reduce(Op::ReduceMin, x, {0})}});
  for (const size_t at : {0, 3, 16}) {
    std::vector<float> values(17, 1.0f);
    values[at] = std::nanf("");
    const auto actual = RunGraph(g).run({{"x", tensor(DType::F32, values)}});
    for (const graph::Tensor& result : actual) {
      EXPECT_TRUE(std::isnan(*reinterpret_cast<const float*>(result.bytes.data()))) << at;
    }
  }
}

}  // namespace
}  // namespace tenon::graph_test
