// What the executor does itself between kernels, against the interpreter: symbols from data,
// branches, loops whose values change their extents, bodies that use what is around them.
#include <gtest/gtest.h>

#include <algorithm>

#include "base/error.h"
#include "tests/driver/run_graph.h"

namespace tenon::driver {
namespace {

using namespace graph;
using graph_test::expect_close;
using graph_test::RunGraph;
using graph_test::Tensors;

template <typename T>
Tensor tensor(DType dtype, std::vector<int64_t> shape, std::vector<T> values) {
  const auto bytes = std::as_bytes(std::span(values));
  return {dtype, std::move(shape), {bytes.begin(), bytes.end()}};
}
Tensor integer(int64_t value) { return tensor<int64_t>(DType::I64, {}, {value}); }
Tensor flag(bool value) {
  return tensor<uint8_t>(DType::Bool, {}, {value ? uint8_t{1} : uint8_t{0}});
}
Tensor floats(std::vector<int64_t> shape, float start = 1) {
  std::vector<float> values(static_cast<size_t>(Tensor{DType::F32, shape, {}}.elements()));
  for (size_t i = 0; i < values.size(); ++i) values[i] = start + static_cast<float>(i);
  return tensor<float>(DType::F32, std::move(shape), std::move(values));
}

void expect_as_interpreted(const Graph& g, RunGraph& compiled, const Tensors& inputs) {
  const auto expected = interpret(g, inputs);
  const auto actual = compiled.run(inputs);
  ASSERT_EQ(actual.size(), expected.size());
  for (size_t i = 0; i < expected.size(); ++i)
    expect_close(actual[i], expected[i], 1e-6, g.outputs()[i].name);
}

TEST(HostSteps, ShapesThatAreData) {
  Graph g;
  const Value x = g.input("x", {{sym::batch()}, DType::F32});
  const Value shape = g.input("shape", {{2}, DType::I64});
  const Symbol rows = g.fresh_symbol("rows", {0, 100}),
               columns = g.fresh_symbol("columns", {0, 100});
  g.apply(Op::Define, {g.add(shape, g.integers({1, 0}))},
          {{"symbols", std::vector<Dim>{rows, columns}}});
  const Value y = g.reshape(g.relu(x), {rows, columns});
  g.set_outputs({{"sums", g.reduce(Op::ReduceSum, y, {1})},
                 {"y", g.add(y, g.scalar(DType::F32, 1))},
                 {"x", g.mul(x, x)}});
  RunGraph compiled(g);
  for (const auto& [a, b] : {std::pair<int64_t, int64_t>{1, 3}, {2, 5}, {3, 1}, {0, 7}, {1, 3}}) {
    const Tensors inputs = {{"x", floats({(a + 1) * b}, -2)},
                            {"shape", tensor<int64_t>(DType::I64, {2}, {a, b})}};
    expect_as_interpreted(g, compiled, inputs);
  }
  const Tensors wrong = {{"x", floats({6})}, {"shape", tensor<int64_t>(DType::I64, {2}, {3, 2})}};
  EXPECT_THROW(compiled.run(wrong), Error);
  const Tensors outside = {{"x", floats({6})},
                           {"shape", tensor<int64_t>(DType::I64, {2}, {-2, -6})}};
  EXPECT_THROW(compiled.run(outside), Error);
}

// then: x + y of the symbol `batch` around it; else: the first row, negated.
Graph branches() {
  Graph g;
  const Dim batch = sym::batch();
  const Value condition = g.input("condition", {{}, DType::Bool});
  const Value x = g.input("x", {{batch, 4}, DType::F32});
  Graph then = g.nested();
  const Value inner = then.input("inner", {{batch, 4}, DType::F32});
  then.set_outputs({{"t", then.add(inner, then.cast(then.dims({batch}), DType::F32))}});
  Graph other = g.nested();
  const Value row = other.input("row", {{batch, 4}, DType::F32});
  other.set_outputs({{"e", other.unary(Op::Neg, other.slice(row, {0, 0}, {1, 4}, {1, 1}))}});
  const Symbol count = g.fresh_symbol("count", {0, kDimInf});
  const Value result = g.apply(Op::If, {condition, x, g.relu(x)},
                               {{"then", Subgraph(std::move(then))},
                                {"else", Subgraph(std::move(other))},
                                {"extents", std::vector<Dim>{count, 4}}});
  g.set_outputs({{"y", g.mul(result, result)}, {"raw", result}});
  return g;
}

TEST(HostSteps, OneOfTwoBranchesRuns) {
  const Graph g = branches();
  RunGraph compiled(g);
  for (const int64_t rows : {3, 1, 5}) {
    for (const bool taken : {true, false}) {
      expect_as_interpreted(g, compiled,
                            {{"condition", flag(taken)}, {"x", floats({rows, 4}, -3)}});
    }
  }
}

// A value that is an output in one shape, and what a branch reads in another: which of the two is
// there first decides nothing.
TEST(HostSteps, BranchesReadNoMemoryOfOutputs) {
  for (const bool output_first : {true, false}) {
    Graph g;
    const Value condition = g.input("condition", {{}, DType::Bool});
    const Value stored = g.relu(g.input("x", {{8}, DType::F32}));
    const auto shown = [&] { return g.reshape(stored, {2, 4}); };
    const Value first = output_first ? shown() : Value{};
    Graph bodies[] = {g.nested(), g.nested()};
    for (Graph& body : bodies) {
      const Value inner = body.input("inner", {{4, 2}, DType::F32});
      body.set_outputs({{"y", &body == bodies ? body.mul(inner, inner) : inner}});
    }
    const Value read = g.reshape(stored, {4, 2});
    const Value y = g.apply(Op::If, {condition, read, read},
                            {{"then", Subgraph(std::move(bodies[0]))},
                             {"else", Subgraph(std::move(bodies[1]))},
                             {"extents", std::vector<Dim>{4, 2}}});
    const Value output = output_first ? first : shown();
    std::vector<Output> outputs = {{"shown", output}, {"y", g.relu(y)}};
    if (!output_first) std::ranges::reverse(outputs);
    g.set_outputs(outputs);
    RunGraph compiled(g);
    for (const bool taken : {true, false})
      expect_as_interpreted(g, compiled, {{"condition", flag(taken)}, {"x", floats({8}, -3)}});
  }
}

// Carries a vector that grows by itself each time, and gives its sum; stops at a length.
Graph growing_loop() {
  Graph g;
  const Value trips = g.input("trips", {{}, DType::I64});
  const Value keep = g.input("keep", {{}, DType::Bool});
  const Value start = g.input("start", {{sym::seq()}, DType::F32});
  const Value scale = g.input("scale", {{1}, DType::F32});
  Graph body = g.nested();
  body.input("number", {{}, DType::I64});
  body.input("keep", {{}, DType::Bool});
  const Dim length = body.fresh_symbol("length", {0, kDimInf});
  const Value state = body.input("state", {{length}, DType::F32});
  const Value factor = body.input("factor", {{1}, DType::F32});
  const Value next = body.concat({state, body.mul(state, factor)}, 0);
  const Value small = body.binary(Op::Less, body.dims({length}, true), body.dims({20}, true));
  body.set_outputs({{"keep", small},
                    {"next", next},
                    {"sum", body.reshape(body.reduce(Op::ReduceSum, next, {0}), {})}});
  const Symbol last = g.fresh_symbol("last", {0, kDimInf}),
               count = g.fresh_symbol("count", {0, kDimInf});
  const auto results = g.apply_all(Op::Loop, {trips, keep, start, scale},
                                   {{"body", Subgraph(std::move(body))},
                                    {"carried", int64_t{1}},
                                    {"extents", std::vector<Dim>{last, count}}});
  g.set_outputs({{"last", g.add(results[0], scale)}, {"sums", results[1]}});
  return g;
}

TEST(HostSteps, LoopsCarryAndStack) {
  const Graph g = growing_loop();
  RunGraph compiled(g);
  for (const int64_t trips : {3, 0, 1, 100}) {
    for (const bool keep : {true, false}) {
      expect_as_interpreted(g, compiled,
                            {{"trips", integer(trips)},
                             {"keep", flag(keep)},
                             {"start", floats({2})},
                             {"scale", floats({1}, 0.5f)}});
    }
  }
}

// Inside, `seq` is no axis by itself: the body has it from around.
TEST(HostSteps, ABodyKnowsSymbolsThatAreOnlyPartOfAnExtent) {
  Graph g;
  const Value x = g.input("x", {{sym::seq()}, DType::F32});
  Graph body = g.nested();
  const Value number = body.input("number", {{}, DType::I64});
  const Value keep = body.input("keep", {{}, DType::Bool});
  const Value state = body.input("state", {{1}, DType::F32});
  const Value wide = body.input("wide", {{sym::seq() * 3}, DType::F32});
  const Value middle = body.slice(wide, {sym::seq()}, {sym::seq()}, {1});
  const Value sum = body.reshape(body.reduce(Op::ReduceSum, middle, {0}), {1});
  const Value count = body.add(body.dims({sym::seq()}, true), number);
  body.set_outputs({{"keep", keep},
                    {"next", body.add(state, body.mul(sum, body.cast(count, DType::F32)))},
                    {"middle", middle}});
  const Value trips = g.input("trips", {{}, DType::I64}), go = g.input("go", {{}, DType::Bool});
  const Symbol turns = g.fresh_symbol("turns", {0, kDimInf});
  const auto results = g.apply_all(
      Op::Loop, {trips, go, g.cast(g.integers({1}), DType::F32), g.concat({x, g.mul(x, x), x}, 0)},
      {{"body", Subgraph(std::move(body))},
       {"carried", int64_t{1}},
       {"extents", std::vector<Dim>{1, turns, sym::seq()}}});
  g.set_outputs({{"last", results[0]}, {"all", results[1]}});
  RunGraph compiled(g);
  for (const int64_t extent : {1, 4, 19}) {
    expect_as_interpreted(g, compiled,
                          {{"x", floats({extent}, -2)}, {"trips", integer(3)}, {"go", flag(true)}});
  }
}

// then: a linear that is fused, else: one whose bias has another shape.
TEST(HostSteps, ReportsCountWhatIsInBodies) {
  Graph g;
  const TensorType rows{{sym::batch(), 4}, DType::F32};
  const Value condition = g.input("condition", {{}, DType::Bool});
  const Value x = g.input("x", rows), w = g.param("w", {{4, 4}, DType::F32});
  const auto branch = [&](const Dim& extent_of_bias) {
    Graph body = g.nested();
    const Value product = body.matmul(body.input("x", rows), body.input("w", w.type()));
    const Value bias = body.input("b", {{extent_of_bias}, DType::F32});
    body.set_outputs({{"y", body.add(product, bias)}});
    body.set_origin(product.node, "product");
    return Subgraph(std::move(body));
  };
  const Value vector = g.param("b", {{4}, DType::F32}), one = g.param("c", {{1}, DType::F32});
  const Value y = g.apply(
      Op::If, {condition, x, w, vector, x, w, one},
      {{"then", branch(4)}, {"else", branch(1)}, {"extents", std::vector<Dim>{sym::batch(), 4}}});
  g.set_outputs({{"y", y}});
  const Compiled compiled = compile(g, {.cpu = detect_cpu(CpuIsa::Avx2)});
  EXPECT_EQ(compiled.fusion.found("fused_matmul"), 2) << compiled.fusion.to_string();
  EXPECT_EQ(compiled.fusion.found("fused_matmul_bias_act"), 1);
  EXPECT_EQ(compiled.dispatch.rows.at("linear").native, 2);
  ASSERT_EQ(compiled.fusion.missed.size(), 1u) << compiled.fusion.to_string();
  EXPECT_EQ(compiled.fusion.missed[0].origin, "body1/product");
}

TEST(HostSteps, ALateOutputGoesToTheCallersMemory) {
  const Graph g = growing_loop();
  const auto program = std::make_shared<const program::Program>(
      compile(g, {.cpu = detect_cpu(CpuIsa::Avx2)}).program);
  const auto executor = runtime::Executor::load(program, thread_pool()).take();
  int64_t trips = 1;
  uint8_t keep = 1;
  float start[] = {1, 2}, scale[] = {3};
  const int64_t two[] = {2}, one[] = {1};
  const runtime::IoView inputs[] = {{&trips, DType::I64, {}, {}},
                                    {&keep, DType::Bool, {}, {}},
                                    {start, DType::F32, two, {}},
                                    {scale, DType::F32, one, {}}};
  float last[4] = {}, sums[1] = {};
  const int64_t four[] = {4}, three[] = {3};
  ASSERT_TRUE(executor->bind(inputs).ok());
  runtime::IoView outputs[] = {{last, DType::F32, four, {}}, {sums, DType::F32, one, {}}};
  ASSERT_TRUE(executor->execute(outputs).ok());
  EXPECT_EQ(std::vector<float>(last, last + 4), (std::vector<float>{4, 5, 6, 9}));
  EXPECT_EQ(sums[0], 12);
  ASSERT_TRUE(executor->bind(inputs).ok());
  outputs[0].shape = three;
  EXPECT_FALSE(executor->execute(outputs).ok());
}

}  // namespace
}  // namespace tenon::driver
