// Pads, reductions, splits, ranges, top_k and running sums by data, against the ops themselves.
#include <limits>

#include "tests/legalize/same_results.h"
#include "tests/legalize/some_tensors.h"

namespace tenon::legalize {
namespace {

using namespace graph;
using List = std::vector<int64_t>;

Graph pad_graph(const std::string& mode, bool axes_are_data) {
  Graph g;
  const Value x = g.input("x", {{Symbol("n", {0, 100}), 3}, DType::F32});
  const Value pads = g.input("pads", {{4}, DType::I64});
  const Value axes = axes_are_data ? g.input("axes", {{2}, DType::I64}) : g.integers({0, 1});
  std::vector<Value> operands{x, pads, axes};
  if (axes_are_data) operands.push_back(g.input("fill", {{}, DType::F32}));
  g.set_outputs({{"y", g.apply(Op::Pad, operands, {{"mode", mode}, {"shape", fresh(g, 2)}})}});
  EXPECT_FALSE(contains(decompose(g), Op::Pad));
  return g;
}

graph_test::Tensors pads(int64_t n, const List& numbers) {
  return {{"x", floats({n, 3})}, {"pads", integers(numbers)}};
}

graph_test::Tensors pads(int64_t n, const List& numbers, const List& axes) {
  graph_test::Tensors result = pads(n, numbers);
  result["axes"] = integers(axes);
  result["fill"] = floats({});
  return result;
}

TEST(Pad, EveryModeByData) {
  for (const char* mode : {"constant", "reflect", "edge", "wrap"}) {
    SCOPED_TRACE(mode);
    const Graph g = pad_graph(mode, false);
    for (const List& numbers : {List{0, 0, 0, 0}, {1, 2, 3, 0}, {5, 9, 7, 8}, {-1, 0, 0, -2}}) {
      expect_same_results(g, pads(4, numbers));
      expect_same_results(g, pads(1, numbers));
    }
    expect_same_error(g, pads(1, {-2, 0, 0, 0}));
    expect_same_error(g, pads(1, {int64_t{1} << 60, 0, -(int64_t{1} << 60), 0}));
  }
}

TEST(Pad, AnEmptyAxisHasNothingToRepeat) {
  expect_same_results(pad_graph("constant", false), pads(0, {1, 2, 3, 0}));
  for (const char* mode : {"reflect", "edge", "wrap"}) {
    expect_same_error(pad_graph(mode, false), pads(0, {1, 0, 0, 0}));
  }
}

TEST(Pad, AxesAndConstantByData) {
  const Graph g = pad_graph("constant", true);
  expect_same_results(g, pads(2, {1, 2, 3, 4}, {1, 0}));
  expect_same_results(g, pads(2, {1, 2, 3, 4}, {-2, -1}));
  expect_same_results(g, pads(2, {-5, 0, 4, 0}, {0, 1}));  // all of x is cut off
  expect_same_error(g, pads(2, {1, 2, 3, 4}, {0, 2}));
  expect_same_error(g, pads(2, {1, 2, 3, 4}, {0, 0}));
}

Graph reduce_graph(std::string_view op, Dim count, int rank, bool keep) {
  Graph g;
  const Value x = g.input("x", {{Symbol("n", {0, 100}), 3, 2}, DType::F32});
  const Value axes = g.input("axes", {{count}, DType::I64});
  g.set_outputs(
      {{"y",
        g.apply(Op::ReduceOver, {x, axes},
                {{"op", std::string(op)}, {"shape", fresh(g, rank)}, {"keep", int64_t{keep}}})}});
  EXPECT_FALSE(contains(decompose(g), Op::ReduceOver));
  return g;
}

graph_test::Tensors over(int64_t n, const List& axes) {
  return {{"x", floats({n, 3, 2})}, {"axes", integers(axes)}};
}

TEST(ReduceOver, EveryReduction) {
  for (const char* op : {"reduce_sum", "reduce_mean", "reduce_max", "reduce_min", "reduce_prod"}) {
    SCOPED_TRACE(op);
    const Graph kept = reduce_graph(op, 1, 3, true), gone = reduce_graph(op, 1, 2, false);
    for (const List& axes : {List{0}, {1}, {2}, {-1}, {-3}}) {
      expect_same_results(kept, over(4, axes));
      expect_same_results(gone, over(4, axes));
      expect_same_results(gone, over(0, axes));
    }
    expect_same_error(kept, over(4, {3}));
    expect_same_error(gone, over(4, {-4}));
  }
}

TEST(ReduceOver, SeveralAxes) {
  const Graph two = reduce_graph("reduce_sum", 2, 1, false);
  for (const List& axes : {List{0, 2}, {2, 1}, {-1, 0}}) expect_same_results(two, over(4, axes));
  expect_same_error(two, over(4, {1, -2}));
  const Graph all = reduce_graph("reduce_sum", 3, 0, false);
  expect_same_results(all, over(4, {1, 0, 2}));
  expect_same_error(all, over(4, {1, 1, 2}));
}

TEST(ReduceOver, ACountOfAxesThatIsData) {
  const Graph g = reduce_graph("reduce_max", Symbol("count", {0, 3}), 3, true);
  for (const List& axes : {List{}, {1}, {2, 0}, {0, 1, 2}}) expect_same_results(g, over(4, axes));
  expect_same_error(g, over(4, {0, 0}));
}

TEST(ReduceOver, OfAScalar) {
  Graph g;
  const Value x = g.input("x", {{}, DType::F32});
  const Value axes = g.input("axes", {{Symbol("count", {0, 3})}, DType::I64});
  g.set_outputs({{"y", g.apply(Op::ReduceOver, {x, axes},
                               {{"op", std::string("reduce_sum")},
                                {"shape", std::vector<Dim>()},
                                {"keep", int64_t{1}}})}});
  expect_same_results(g, {{"x", floats({})}, {"axes", integers({})}});
  expect_same_error(g, {{"x", floats({})}, {"axes", integers({0})}});
}

// log_sum_exp of exporters: several reductions that share the symbols of one.
TEST(ReduceOver, SymbolsThatSeveralReductionsShare) {
  Graph g;
  const Value x = g.input("x", {{Symbol("n"), Symbol("m")}, DType::F32});
  const Value axes = g.input("axes", {{1}, DType::I64});
  const std::vector<Dim> shape = fresh(g, 2);
  const auto reduce = [&](const char* op, Value v) {
    return g.apply(Op::ReduceOver, {v, axes},
                   {{"op", std::string(op)}, {"shape", shape}, {"keep", int64_t{1}}});
  };
  const Value most = reduce("reduce_max", x);
  const Value sum = reduce("reduce_sum", g.unary(Op::Exp, g.sub(x, most)));
  g.set_outputs({{"y", g.add(g.unary(Op::Log, sum), most)}});
  for (const int64_t axis : {0, 1}) {
    expect_same_results(g, {{"x", floats({3, 4})}, {"axes", integers({axis})}});
  }
}

TEST(Split, ExtentsThatAreData) {
  Graph g;
  const Value x = g.input("x", {{2, Symbol("n", {0, 100})}, DType::F32});
  const Value sizes = g.input("sizes", {{3}, DType::I64});
  const std::vector<Value> parts =
      g.apply_all(Op::Split, {x, sizes}, {{"axis", int64_t{1}}, {"extents", fresh(g, 3)}});
  g.set_outputs({{"a", parts[0]}, {"b", parts[1]}, {"c", parts[2]}});
  const auto run = [&](const List& list) {
    return graph_test::Tensors{{"x", floats({2, 7})}, {"sizes", integers(list)}};
  };
  EXPECT_FALSE(contains(decompose(g), Op::Split));
  for (const List& list : {List{2, 4, 1}, {0, 7, 0}}) expect_same_results(g, run(list));
  for (const List& list : {List{2, 4, 0}, {8, -1, 0}}) expect_same_error(g, run(list));
}

template <typename T>
void expect_range(DType dtype, T start, T limit, T delta, bool is_error = false) {
  Graph g;
  const auto input = [&](const char* name) { return g.input(name, {{}, dtype}); };
  const std::vector<Value> operands{input("start"), input("limit"), input("delta")};
  g.set_outputs({{"y", g.apply(Op::Range, operands, {{"shape", fresh(g, 1)}})}});
  const auto given = [&](T value) { return tensor(dtype, {}, std::vector<T>{value}); };
  const graph_test::Tensors inputs{
      {"start", given(start)}, {"limit", given(limit)}, {"delta", given(delta)}};
  if (is_error) {
    expect_same_error(g, inputs);
  } else {
    expect_same_results(g, inputs);
  }
}

TEST(Range, OfIntegers) {
  expect_range<int64_t>(DType::I64, 2, 11, 3);
  expect_range<int64_t>(DType::I64, 2, 12, 3);
  expect_range<int64_t>(DType::I64, 5, -6, -5);
  expect_range<int64_t>(DType::I64, 5, 5, 1);
  expect_range<int64_t>(DType::I64, 5, 9, -1);
  expect_range<int32_t>(DType::I32, -3, 4, 2);
  expect_range<int16_t>(DType::I16, 30000, 32767, 1000);
  expect_range<int64_t>(DType::I64, 5, 9, 0, true);
}

TEST(Range, OfFloats) {
  constexpr float kNan = std::numeric_limits<float>::quiet_NaN();
  expect_range<float>(DType::F32, 1, 5, 0.75);
  expect_range<float>(DType::F32, 1, -5, -2);
  expect_range<float>(DType::F32, 1, -5, 2);
  expect_range<float>(DType::F32, 1, kNan, 2);
  expect_range<double>(DType::F64, 0, 1, 0.1);
  expect_range<float>(DType::F32, 1, 5, 0, true);
  expect_range<float>(DType::F32, 0, 1e30F, 1e-3F, true);
}

TEST(TopK, CountsThatAreData) {
  Graph g;
  const Value x = g.input("x", {{2, Symbol("n", {0, 100})}, DType::F32});
  const Value k = g.input("k", {{}, DType::I64});
  const std::vector<Value> results = g.apply_all(
      Op::TopK, {x, k}, {{"axis", int64_t{1}}, {"largest", int64_t{1}}, {"count", fresh(g, 1)}});
  g.set_outputs({{"values", results[0]}, {"indices", results[1]}});
  EXPECT_TRUE(contains(decompose(g), Op::Define));
  for (const int64_t count : {0, 2, 5}) {
    expect_same_results(g, {{"x", floats({2, 5})}, {"k", integer(count)}});
  }
  for (const int64_t count : {-1, 6}) {
    expect_same_error(g, {{"x", floats({2, 5})}, {"k", integer(count)}});
  }
}

TEST(Cumulate, AlongAnAxisThatIsData) {
  for (const Op op : {Op::CumSum, Op::CumProd}) {
    Graph g;
    const Value x = g.input("x", {{Symbol("n", {0, 100}), 3, 2}, DType::F32});
    const Value axis = g.input("axis", {{1}, DType::I64});
    g.set_outputs({{"y", g.apply(op, {x, axis}, {{"reverse", int64_t{1}}})},
                   {"z", g.apply(op, {x, axis}, {{"exclusive", int64_t{1}}})}});
    for (const int64_t at : {0, 1, 2, -1, -3}) {
      expect_same_results(g, {{"x", floats({4, 3, 2})}, {"axis", integers({at})}});
      expect_same_results(g, {{"x", floats({0, 3, 2})}, {"axis", integers({at})}});
    }
    for (const int64_t at : {3, -4}) {
      expect_same_error(g, {{"x", floats({4, 3, 2})}, {"axis", integers({at})}});
    }
  }
}

}  // namespace
}  // namespace tenon::legalize
