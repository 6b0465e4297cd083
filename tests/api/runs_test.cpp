// The ways of running a compiled graph, and clones of it. The graph: y = relu(x @ w + b) as f32,
// and z = x rounded to integers, computed by hand here.
#include <fmt/format.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <numeric>
#include <thread>

#include "tenon/tenon.h"
#include "tests/error_of.h"

namespace tenon {
namespace {

constexpr int64_t kIn = 4, kOut = 3;
const std::vector<float> kWeights = {1, 2, 3, -1, 0, 1, 2, -2, 0, 1, 1, 1};
const std::vector<float> kBias = {1, -1, 2};

Graph model() {
  Graph g;
  const Value x = g.input("x", {{Symbol("rows", {1, 64}), kIn}, DType::F32});
  const Value w = g.param("w", {{kIn, kOut}, DType::F32});
  const Value b = g.param("b", {{kOut}, DType::F32});
  const Value y = g.relu(g.add(g.matmul(x, w), b));
  g.set_outputs({{"y", y}, {"z", g.cast(g.op1("round", {x}), DType::I64)}});
  return g;
}

std::vector<float> rows_of_x(int64_t rows) {
  std::vector<float> x(static_cast<size_t>(rows * kIn));
  for (size_t i = 0; i < x.size(); ++i) x[i] = static_cast<float>(i % 7) - 2.25f;
  return x;
}

std::vector<float> expected_y(const std::vector<float>& x, const std::vector<float>& bias) {
  std::vector<float> y;
  for (size_t row = 0; row * kIn < x.size(); ++row) {
    for (size_t column = 0; column < kOut; ++column) {
      float sum = bias[column];
      for (size_t k = 0; k < kIn; ++k) sum += x[row * kIn + k] * kWeights[k * kOut + column];
      y.push_back(std::max(sum, 0.0f));
    }
  }
  return y;
}

std::vector<float> expected_z(const std::vector<float>& x) {
  std::vector<float> z;
  for (const float value : x) z.push_back(std::nearbyint(value));
  return z;
}

CompiledGraph compile_model() {
  CompiledGraph graph = Session().compile(model());
  graph.set_param("w", kWeights);
  graph.set_param("b", kBias);
  return graph;
}

TEST(Runs, GiveFloatsInTheOrderAsked) {
  CompiledGraph graph = compile_model();
  const std::vector<float> x = rows_of_x(5);
  const NamedInputs inputs = {{"x", view(x, {5, kIn})}};
  const auto all = graph.run(inputs);
  ASSERT_EQ(all.size(), 2u);
  EXPECT_EQ(all[0], expected_y(x, kBias));
  EXPECT_EQ(all[1], expected_z(x));
  const auto some = graph.run_read_outputs(inputs, std::vector<int>{1, 0, 1});
  ASSERT_EQ(some.size(), 3u);
  EXPECT_EQ(some[0], all[1]);
  EXPECT_EQ(some[1], all[0]);
  EXPECT_EQ(some[2], all[1]);
  EXPECT_TRUE(graph.run_read_outputs(inputs, std::vector<int>{}).empty());
  EXPECT_EQ(user_error_of([&] { graph.run_read_outputs(inputs, std::vector<int>{2}); }),
            "[run] there is no output 2: the model has 2");
  EXPECT_EQ(user_error_of([&] { graph.run_read_outputs(inputs, std::vector<int>{-1}); }),
            "[run] there is no output -1: the model has 2");
}

TEST(Runs, TypedOutputsHaveTheirDtypes) {
  CompiledGraph graph = compile_model();
  const std::vector<float> x = rows_of_x(2);
  const auto outputs = graph.run_typed({{"x", view(x, {2, kIn})}});
  EXPECT_EQ(outputs[1].dtype, DType::I64);
  EXPECT_EQ(outputs[1].as<int64_t>()[0], -2);
  EXPECT_EQ(outputs[1].shape, (std::vector<int64_t>{2, kIn}));
  EXPECT_THROW(outputs[1].as<float>(), Error);
}

TEST(Runs, RawViewsAndRowsLieInTheGraphsMemory) {
  CompiledGraph graph = compile_model();
  EXPECT_EQ(graph.read_output_row(0, 0, kOut), std::nullopt);  // nothing ran
  for (const int64_t rows : {3, 9, 1}) {
    const std::vector<float> x = rows_of_x(rows), y = expected_y(x, kBias);
    const auto& views = graph.run_raw({{"x", view(x, {rows, kIn})}});
    ASSERT_EQ(views.size(), 2u);
    EXPECT_EQ(views[0].shape, (std::vector<int64_t>{rows, kOut}));
    EXPECT_EQ(views[1].dtype, DType::I64);
    const auto* floats = static_cast<const float*>(views[0].data);
    EXPECT_EQ(std::vector<float>(floats, floats + rows * kOut), y);
    const auto last = graph.read_output_row(0, rows - 1, kOut);
    ASSERT_TRUE(last);
    EXPECT_EQ(*last, std::vector<float>(y.end() - kOut, y.end()));
    EXPECT_EQ(graph.read_output_row(1, 0, 2)->at(1), expected_z(x)[1]);
    EXPECT_EQ(graph.read_output_row(0, rows, kOut), std::nullopt);
    EXPECT_EQ(graph.read_output_row(0, 0, rows * kOut + 1), std::nullopt);
    EXPECT_EQ(graph.read_output_row(0, -1, kOut), std::nullopt);
    EXPECT_EQ(graph.read_output_row(0, 0, 0), std::nullopt);
    EXPECT_EQ(graph.read_output_row(2, 0, 1), std::nullopt);
    EXPECT_EQ(graph.read_output_row(0, int64_t{1} << 62, int64_t{1} << 62), std::nullopt);
  }
  const std::vector<float> x = rows_of_x(1);
  EXPECT_THROW(graph.run_typed({{"x", view(x, {1, kIn + 1})}}), Error);
  EXPECT_TRUE(graph.read_output_row(0, 0, kOut));  // refused: what was there stays
  graph.run_typed({{"x", view(x, {1, kIn})}});
  EXPECT_EQ(graph.read_output_row(0, 0, kOut), std::nullopt);  // its outputs are the caller's
}

std::vector<std::span<const std::byte>> slots_of(const std::vector<float>& x) {
  return {std::as_bytes(std::span(x))};
}

TEST(Runs, SlotsTakeExtentsFromTheBinding) {
  CompiledGraph graph = compile_model();
  const std::vector<float> x = rows_of_x(6);
  EXPECT_EQ(user_error_of([&] { graph.run_slots(slots_of(x)); }),
            "[run_slots] the model has dims without values: call set_extents before");
  graph.set_extents({{"rows", 6}});
  const auto slots = graph.run_slots(slots_of(x));
  ASSERT_EQ(slots.size(), 2u);
  EXPECT_EQ(slots[0].length, 6 * kOut * 4);
  EXPECT_EQ(slots[1].length, 6 * kIn * 8);
  const auto* y = reinterpret_cast<const float*>(graph.arena_ptr() + slots[0].offset);
  EXPECT_EQ(std::vector<float>(y, y + 6 * kOut), expected_y(x, kBias));

  EXPECT_EQ(user_error_of([&] { graph.run_slots({}); }),
            "[run_slots] 0 inputs are given, the model has 1");
  EXPECT_EQ(user_error_of([&] { graph.run_slots(slots_of(rows_of_x(5))); }),
            "[run_slots] input \"x\" f32[rows, 4] has 96 bytes at these extents, but 80 are given");
  EXPECT_EQ(user_error_of([&] { graph.set_extents({{"rows", 65}}); }),
            "[set_extents] rows = 65 is outside 1..64");
  EXPECT_EQ(user_error_of([&] { graph.set_extents({}); }), "[set_extents] rows has no value");
  EXPECT_EQ(user_error_of([&] { graph.set_extents({{"rows", 1}, {"cols", 1}}); }),
            "[set_extents] the model has no dim \"cols\"");
  EXPECT_EQ(graph.run_slots(slots_of(x))[0].length, 6 * kOut * 4);  // as set before the errors
}

TEST(Runs, RefuseADtypeThatThereIsNot) {
  CompiledGraph graph = compile_model();
  const std::vector<float> x = rows_of_x(1);
  const auto none = static_cast<DType>(200);
  const auto says = [](const std::string& what) {
    return fmt::format("{} is given with the dtype 200, but there are only {}", what,
                       std::size(kDTypes));
  };
  EXPECT_EQ(user_error_of([&] { graph.run({{"x", {x.data(), none, {1, kIn}}}}); }),
            says("input \"x\""));
  EXPECT_EQ(user_error_of([&] { graph.memory_of({{"x", {x.data(), none, {1, kIn}}}}); }),
            says("input \"x\""));
  EXPECT_EQ(user_error_of([&] { graph.bind_handle("x", {x.data(), none, {1, kIn}}); }),
            says("input \"x\""));
  std::vector<float> y(kOut);
  EXPECT_EQ(user_error_of([&] {
              graph.run_into({{"x", view(x, {1, kIn})}}, {{"y", {y.data(), none, {1, kOut}}}});
            }),
            says("output \"y\""));
  EXPECT_EQ(user_error_of([&] { graph.set_param("b", {kBias.data(), none, {kOut}}); }),
            says("parameter \"b\""));
  EXPECT_EQ(user_error_of([&] { graph.set_param_typed("b", {}, none); }), says("parameter \"b\""));
  ParamStore store;
  EXPECT_EQ(user_error_of([&] { store.set("b", {kBias.data(), none, {kOut}}); }),
            says("parameter \"b\""));
  EXPECT_EQ(user_error_of([&] { store.set_typed("b", {}, none); }), says("parameter \"b\""));
  EXPECT_EQ(graph.run({{"x", view(x, {1, kIn})}})[0], expected_y(x, kBias));
}

TEST(Runs, ElementsAloneAreEnoughWhereTheShapeIsStatic) {
  Graph g;
  g.set_outputs({{"y", g.neg(g.input("x", {{2, 3}, DType::F32}))}});
  CompiledGraph graph = Session().compile(g);
  const std::vector<float> x = {1, 2, 3, 4, 5, 6};
  EXPECT_EQ(graph.run({{"x", x}})[0], (std::vector<float>{-1, -2, -3, -4, -5, -6}));
  EXPECT_EQ(graph.run_slots(slots_of(x))[0].length, 24);
  const std::vector<float> five(5);
  EXPECT_EQ(user_error_of([&] { graph.run({{"x", five}}); }),
            "input \"x\" is f32[2, 3] and has 6 elements, but 5 are given");
  CompiledGraph symbolic = compile_model();
  EXPECT_EQ(user_error_of([&] { symbolic.run({{"x", x}}); }),
            "input \"x\" is f32[rows, 4]: its extents must be given, not only 6 elements");
}

TEST(Runs, ParametersAreSetByFloatsOrBytes) {
  CompiledGraph graph = Session().compile(model());
  const std::vector<float> x = rows_of_x(2);
  const NamedInputs inputs = {{"x", view(x, {2, kIn})}};
  graph.set_param("w", kWeights);
  EXPECT_EQ(user_error_of([&] { graph.run(inputs); }),
            "parameter \"b\" is not set: call set_param before the first run");
  graph.set_param_typed("b", std::as_bytes(std::span(kBias)), DType::F32);
  EXPECT_EQ(graph.run(inputs)[0], expected_y(x, kBias));
  const std::vector<float> other = {5, 6, 7};
  graph.set_param("b", other);
  EXPECT_EQ(graph.run(inputs)[0], expected_y(x, other));
  EXPECT_EQ(user_error_of([&] { graph.set_param("b", std::span(other).first(2)); }),
            "parameter \"b\" is f32[3] and needs 12 bytes (3 elements), but 8 are given");
  EXPECT_EQ(user_error_of([&] {
              graph.set_param("b", std::span<const float>(static_cast<const float*>(nullptr), 3));
            }),
            "parameter \"b\": the value has no data");
  EXPECT_EQ(user_error_of([&] { graph.set_param("c", other); }),
            "the model has no parameter \"c\"");
  EXPECT_EQ(user_error_of(
                [&] { graph.set_param_typed("b", std::as_bytes(std::span(other)), DType::I32); }),
            "parameter \"b\" is f32[3], but the value is i32[3]");
  EXPECT_EQ(graph.run(inputs)[0], expected_y(x, other));  // as set before the errors
}

TEST(Runs, MovedFromGraphsSaySo) {
  CompiledGraph graph = compile_model();
  CompiledGraph other = std::move(graph);
  const std::string said = "this CompiledGraph was moved from: there is nothing in it";
  EXPECT_EQ(user_error_of([&] { graph.run({}); }), said);        // NOLINT(bugprone-use-after-move)
  EXPECT_EQ(user_error_of([&] { (void)graph.clone(); }), said);  // NOLINT(bugprone-use-after-move)
  EXPECT_EQ(user_error_of([&] { (void)graph.dims(); }), said);   // NOLINT(bugprone-use-after-move)
  graph = std::move(other);
  EXPECT_EQ(graph.dims().size(), 1u);
}

TEST(Clones, SetParametersAndExtentsOfTheirOwn) {
  CompiledGraph graph = compile_model();
  graph.set_extents({{"rows", 2}});
  const std::vector<float> x = rows_of_x(2);
  const NamedInputs inputs = {{"x", view(x, {2, kIn})}};
  CompiledGraph early = graph.clone();  // before anything was packed
  EXPECT_EQ(early.run(inputs)[0], expected_y(x, kBias));
  EXPECT_EQ(early.run_slots(slots_of(x))[0].length, 2 * kOut * 4);
  CompiledGraph late = graph.clone();
  const std::vector<float> mine = {9, 8, 7}, yours = {-3, 0, 3};
  early.set_param("b", mine);
  graph.set_param("b", yours);
  EXPECT_EQ(early.run(inputs)[0], expected_y(x, mine));
  EXPECT_EQ(graph.run(inputs)[0], expected_y(x, yours));
  EXPECT_EQ(late.run(inputs)[0], expected_y(x, kBias));
  late.set_extents({{"rows", 1}});
  EXPECT_EQ(graph.run_slots(slots_of(x))[0].length, 2 * kOut * 4);
  CompiledGraph of_clone = early.clone();
  {
    CompiledGraph gone = std::move(early);
  }  // what they share outlives the one that made it
  EXPECT_EQ(of_clone.run(inputs)[0], expected_y(x, mine));
}

TEST(Clones, RunAtTheSameTimeAndGiveTheSame) {
  CompiledGraph graph = compile_model();
  constexpr int kThreads = 8, kRuns = 1250;
  std::vector<CompiledGraph> clones;
  for (int i = 0; i < kThreads; ++i) clones.push_back(graph.clone());
  std::vector<int> wrong(kThreads, 0);
  std::vector<std::jthread> threads;
  for (int i = 0; i < kThreads; ++i) {
    threads.emplace_back([&, i] {
      CompiledGraph& mine = clones[static_cast<size_t>(i)];
      for (int run = 0; run < kRuns; ++run) {
        const int64_t rows = 1 + (run * 7 + i) % 33;
        const std::vector<float> x = rows_of_x(rows);
        const auto y = mine.run({{"x", view(x, {rows, kIn})}});
        if (y[0] != expected_y(x, kBias) || y[1] != expected_z(x)) ++wrong[static_cast<size_t>(i)];
      }
    });
  }
  threads.clear();
  EXPECT_EQ(std::accumulate(wrong.begin(), wrong.end(), 0), 0);
}

}  // namespace
}  // namespace tenon
