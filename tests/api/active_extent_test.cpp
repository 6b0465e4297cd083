// A graph compiled for a bucket of 512 rows computes what one compiled for the active rows does,
// by the interpreter's word, and leaves the rows past them alone.
#include <gtest/gtest.h>
#include <unistd.h>

#include <algorithm>
#include <cmath>
#include <cstring>
#include <filesystem>

#include "api/graph_state.h"
#include "graph/interpret.h"
#include "tenon/tenon.h"
#include "tests/error_of.h"

namespace tenon {
namespace {

constexpr int64_t kUpper = 512, kWidth = 8;

std::vector<float> numbers(int64_t count, int64_t seed) {
  std::vector<float> result;
  for (int64_t i = 0; i < count; ++i)
    result.push_back(static_cast<float>((i * 37 + seed * 101) % 89) / 89.0F - 0.5F);
  return result;
}

Value weights(Graph& g, const std::string& name, const Shape& shape, int64_t seed) {
  const std::vector<float> data = numbers(shape.elements().const_value(), seed);
  return g.param(name, {shape, DType::F32}, std::as_bytes(std::span(data)));
}

// A layer with attention, and outputs with the axis first, last, in the middle, and without it.
Graph layer(int64_t rows, const InputOptions& options = {}) {
  Graph g;
  const Value x = g.input("x", {{rows, kWidth}, DType::F32}, options);
  const Value scale = weights(g, "scale", {kWidth}, 1), bias = weights(g, "bias", {kWidth}, 2);
  const Value normed = g.reshape(g.layer_norm(x, scale, bias), {1, rows, kWidth});
  const Value q = g.matmul(normed, weights(g, "wq", {kWidth, kWidth}, 3));
  const Value k = g.matmul(normed, weights(g, "wk", {kWidth, kWidth}, 4));
  const Value seen = g.attention(q, k, normed, {.heads = 2, .head_dim = 4, .causal = true});
  const Value added = g.add(x, g.reshape(seen, {rows, kWidth}));
  const Value wide = g.gelu(g.matmul(added, weights(g, "up", {kWidth, 24}, 5)));
  const Value y = g.add(added, g.matmul(wide, weights(g, "down", {24, kWidth}, 6)));
  const Value mean = g.reduce_mean(y, {0});
  g.set_outputs({{"y", y},
                 {"mean", mean},
                 {"turned", g.transpose(g.softmax(y, 0), {1, 0})},
                 {"three", g.reshape(g.sub(y, mean), {1, rows, kWidth})},
                 {"both", g.matmul(y, g.transpose(y, {1, 0}))}});
  return g;
}

std::vector<std::vector<float>> oracle(const Graph& graph,
                                       const std::map<std::string, std::vector<float>>& inputs) {
  std::map<std::string, graph::Tensor> tensors;
  const graph::Graph& inner = GraphState::of(graph).graph;
  for (const graph::Value& input : inner.inputs()) {
    const auto& data = inputs.at(input.node->name());
    graph::Tensor& tensor = tensors[input.node->name()];
    for (const Dim& dim : input.shape()) tensor.shape.push_back(dim.const_value());
    tensor.bytes.resize(data.size() * sizeof(float));
    std::memcpy(tensor.bytes.data(), data.data(), tensor.bytes.size());
  }
  std::vector<std::vector<float>> results;
  for (const graph::Tensor& tensor : graph::interpret(inner, tensors)) {
    auto& result = results.emplace_back(tensor.bytes.size() / sizeof(float));
    std::memcpy(result.data(), tensor.bytes.data(), tensor.bytes.size());
  }
  return results;
}

std::vector<float> first_rows(const std::vector<float>& x, int64_t rows) {
  return {x.begin(), x.begin() + rows * kWidth};
}

// Where an element of a small tensor lies in the one with all rows; -1: nowhere.
struct Layout {
  std::vector<int64_t> small, full;
  int64_t in_small(int64_t at) const {
    int64_t result = 0, stride = 1;
    for (size_t axis = full.size(); axis-- > 0; at /= full[axis]) {
      const int64_t index = at % full[axis];
      if (index >= small[axis]) return -1;
      result += index * stride;
      stride *= small[axis];
    }
    return result;
  }
};

Layout layout(size_t output, int64_t rows) {
  switch (output) {
    case 0:
      return {{rows, kWidth}, {kUpper, kWidth}};
    case 1:
      return {{1, kWidth}, {1, kWidth}};
    case 2:
      return {{kWidth, rows}, {kWidth, kUpper}};
    case 3:
      return {{1, rows, kWidth}, {1, kUpper, kWidth}};
    default:
      return {{rows, rows}, {kUpper, kUpper}};
  }
}

// What is active is as expected, and the rest is as it was.
void expect_rows(const std::vector<std::vector<float>>& got,
                 const std::vector<std::vector<float>>& expected,
                 const std::vector<std::vector<float>>& before, int64_t rows) {
  ASSERT_EQ(got.size(), expected.size());
  for (size_t output = 0; output < got.size(); ++output) {
    const Layout where = layout(output, rows);
    int wrong = 0, touched = 0;
    for (size_t i = 0; i < got[output].size(); ++i) {
      const int64_t at = where.in_small(static_cast<int64_t>(i));
      const float is = got[output][i];
      if (at < 0) {
        touched += is != before[output][i];
      } else {
        const float should = expected[output][static_cast<size_t>(at)];
        wrong += !(std::abs(is - should) <= 1e-4F + 1e-4F * std::abs(should));
      }
    }
    EXPECT_EQ(wrong, 0) << "output " << output << " at " << rows;
    EXPECT_EQ(touched, 0) << "output " << output << " at " << rows;
  }
}

std::vector<std::vector<float>> zeros() {
  std::vector<std::vector<float>> result;
  for (size_t output = 0; output < 5; ++output) {
    int64_t count = 1;
    for (const int64_t extent : layout(output, 1).full) count *= extent;
    result.emplace_back(static_cast<size_t>(count), 0.0F);
  }
  return result;
}

void expect_every_extent(CompiledGraph& graph) {
  std::vector<std::vector<float>> before = zeros();
  int64_t seed = 10;
  for (const int64_t rows : {31, 2, 511, 32, 1, 512}) {
    graph.set_active_extent(rows, kUpper);
    std::vector<float> x = numbers(kUpper * kWidth, seed++);
    const auto expected = oracle(layer(rows), {{"x", first_rows(x, rows)}});
    std::fill(x.begin() + rows * kWidth, x.end(), NAN);  // nobody reads it
    const auto got = graph.run({{"x", view(x, {kUpper, kWidth})}});
    expect_rows(got, expected, before, rows);
    const std::vector<float> some = first_rows(x, rows);
    EXPECT_EQ(graph.run({{"x", view(some, {rows, kWidth})}}), got) << rows;
    EXPECT_EQ(graph.run({{"x", some}}), got) << rows;
    before = got;
  }
}

TEST(ActiveExtent, ComputesTheActiveRowsAndLeavesTheOthers) {
  CompiledGraph graph = Session().compile(layer(kUpper));
  expect_every_extent(graph);
  const ActiveExtentReport& report = graph.active_extent_report();
  EXPECT_EQ(report.upper, kUpper);
  EXPECT_EQ(report.inputs.at(0).axes, std::vector<int>{0});
  EXPECT_TRUE(report.outputs.at(0).shrinks);
  EXPECT_FALSE(report.outputs.at(1).shrinks);
  EXPECT_EQ(report.to_string(),
            "active extent 1..512\n"
            "input x: axis 0\n"
            "output y: f32[active.extent, 8], shrinks\n"
            "output mean: f32[1, 8], always whole\n"
            "output turned: f32[8, active.extent], shrinks\n"
            "output three: f32[1, active.extent, 8], shrinks\n"
            "output both: f32[active.extent, active.extent], shrinks\n");
}

TEST(ActiveExtent, OfAMarkedGraphNeedsNoOtherProgram) {
  CompiledGraph graph =
      Session().compile(layer(kUpper, {.bucket_axis = 0}), {.threads = 1, .codegen = "c"});
  EXPECT_TRUE(graph.dims().empty());
  EXPECT_EQ(graph.inputs()[0].shape, (std::vector<std::string>{"512", "8"}));
  EXPECT_EQ(graph.outputs()[2].shape, (std::vector<std::string>{"8", "512"}));
  const std::vector<float> x = numbers(kUpper * kWidth, 3);
  expect_rows(graph.run({{"x", x}}), oracle(layer(kUpper), {{"x", x}}), zeros(), kUpper);
  EXPECT_NE(
      user_error_of([&] { graph.run({{"x", view(x, {32, kWidth})}}); }).find("is 32, not 512"),
      std::string::npos);
}

TEST(ActiveExtent, OfAMarkedGraphIsInItsText) {
  const Graph marked = layer(kUpper, {.bucket_axis = 0});
  const std::string text = marked.print();
  const Graph again = Graph::parse(text);
  EXPECT_EQ(again.print(), text);
  EXPECT_NE(text, layer(kUpper).print());
  EXPECT_EQ(Session(Device::Null()).compile(again).active_extent_report().to_string(),
            Session(Device::Null()).compile(marked).active_extent_report().to_string());
  const LirModule lir = CompilePipeline().compile_graph(again).lir;
  EXPECT_EQ(LirModule::parse(lir.print()).print(), lir.print());
  EXPECT_EQ(Session().compile(LirModule::parse(lir.print())).active_extent_report().upper, kUpper);
}

TEST(ActiveExtent, HoldsForEveryWayToRunUntilItIsCleared) {
  CompiledGraph graph = Session().compile(layer(kUpper));
  const std::vector<float> x = numbers(kUpper * kWidth, 7);
  const auto full = graph.run({{"x", x}});
  graph.set_active_extent(32, kUpper);
  const auto expected = oracle(layer(32), {{"x", first_rows(x, 32)}});
  const auto got = graph.run({{"x", x}});
  expect_rows(got, expected, full, 32);  // what the run with all rows left

  const auto typed = graph.run_typed({{"x", x}});
  for (size_t i = 0; i < typed.size(); ++i) {
    EXPECT_EQ(typed[i].shape, layout(i, 32).full);
    EXPECT_EQ(std::memcmp(typed[i].bytes.data(), got[i].data(), typed[i].bytes.size()), 0);
  }
  for (const auto& set : graph.run_pipelined({{{"x", x}}, {{"x", x}}})) {
    for (size_t i = 0; i < set.size(); ++i) EXPECT_EQ(set[i].bytes, typed[i].bytes);
  }
  graph.commit_no_wait({{"x", x}});
  EXPECT_EQ(graph.sync_pending()[0].shape, layout(0, 32).full);
  const auto& views = graph.run_raw({{"x", x}});
  for (size_t i = 0; i < views.size(); ++i) EXPECT_EQ(views[i].shape, layout(i, 32).full);

  auto own = full;
  const NamedInputs inputs = {{"x", TensorView(x)}};
  NamedOutputs outputs;
  const char* names[] = {"y", "mean", "turned", "three", "both"};
  for (size_t i = 0; i < own.size(); ++i)
    outputs[names[i]] = {own[i].data(), DType::F32, layout(i, 32).full};
  graph.run_into(inputs, outputs);
  EXPECT_EQ(own, got);
  own = full;
  graph.run_pipelined_into({inputs}, {outputs});
  EXPECT_EQ(own, got);

  for (const int64_t rows : {int64_t{32}, kUpper}) {
    const std::vector<float> some = first_rows(x, rows);
    const std::span<const std::byte> bytes = std::as_bytes(std::span(some));
    const auto slots = graph.run_slots({{bytes}});
    for (size_t i = 0; i < slots.size(); ++i) {
      ASSERT_EQ(slots[i].length, static_cast<int64_t>(got[i].size() * sizeof(float)));
      EXPECT_EQ(std::memcmp(graph.arena_ptr() + slots[i].offset, got[i].data(),
                            got[i].size() * sizeof(float)),
                0);
    }
  }
  EXPECT_EQ(graph.clone().run({{"x", x}})[1], got[1]);
  EXPECT_LT(graph.peak_bytes({}), Session().compile(layer(kUpper)).peak_bytes({}));

  graph.clear_active_extent();
  expect_rows(graph.run({{"x", x}}), oracle(layer(kUpper), {{"x", x}}), full, kUpper);
  EXPECT_NE(user_error_of([&] { graph.run({{"x", first_rows(x, 32)}}); }), "no error");
}

TEST(ActiveExtent, KeepsParametersAndTakesNewOnes) {
  CompiledGraph graph = Session().compile(layer(kUpper)), other = graph.clone();
  const std::vector<float> x = numbers(kUpper * kWidth, 7), bias = numbers(kWidth, 77),
                           scale = numbers(kWidth, 78);
  graph.set_param("bias", bias);
  graph.set_active_extent(5, kUpper);
  graph.set_param("scale", scale);
  other.set_active_extent(5, kUpper);
  EXPECT_NE(graph.run({{"x", x}}), other.run({{"x", x}}));
  other.set_param("bias", bias);
  other.set_param("scale", scale);
  EXPECT_EQ(graph.run({{"x", x}}), other.run({{"x", x}}));
}

TEST(ActiveExtent, RefusesExtentsThatAreNotThere) {
  CompiledGraph graph = Session(Device::Null()).compile(layer(kUpper));
  EXPECT_EQ(user_error_of([&] { graph.set_active_extent(600, kUpper); }),
            "[set_active_extent] 600 rows are none of 1..upper, which is 512");
  EXPECT_NE(user_error_of([&] { graph.set_active_extent(0, kUpper); }), "no error");
  EXPECT_EQ(user_error_of([&] { graph.set_active_extent(32, 100); }),
            "[set_active_extent] upper is 100, but no input has this extent: \"x\" f32[512, 8]");
  const std::vector<float> x(kUpper * kWidth, 1);
  EXPECT_EQ(graph.run({{"x", x}}), zeros());  // nothing changed
  graph.set_active_extent(32, kUpper);
  EXPECT_EQ(graph.run({{"x", first_rows(x, 32)}}), zeros());
  EXPECT_EQ(user_error_of([&] { graph.run({{"x", view(x, {40, kWidth})}}); }),
            "input \"x\" has shape [40, 8]: axis 0 is 40, not 512 or the active extent's 32");
  CompiledGraph marked = Session(Device::Null()).compile(layer(kUpper, {.bucket_axis = 0}));
  EXPECT_EQ(user_error_of([&] { marked.set_active_extent(2, kWidth); }),
            "[set_active_extent] upper is 8, but the graph is compiled for 512");
}

TEST(ActiveExtent, FallsBackToAllRowsAndSaysWhy) {
  Graph g;
  const Value x = g.input("x", {{4, 2}, DType::F32});
  g.set_outputs({{"y", g.add(x, weights(g, "positions", {4, 2}, 1))}});
  CompiledGraph graph = Session().compile(g);
  graph.set_active_extent(1, 4);
  EXPECT_EQ(graph.active_extent_report().fallback,
            "[param] \"positions\" f32[4, 2] has the bucket's extent 4 for a constant");
  const std::vector<float> positions = numbers(8, 1), one = {1, 2};
  std::vector<float> expected = positions;
  expected[0] += 1;
  expected[1] += 2;
  EXPECT_EQ(graph.run({{"x", view(one, {1, 2})}})[0], expected);
  EXPECT_EQ(graph.run({{"x", one}})[0], expected);
  EXPECT_EQ(graph.run({{"x", std::vector<float>(8, 0)}})[0], positions);
  graph.clear_active_extent();
  EXPECT_NE(user_error_of([&] { graph.run({{"x", view(one, {1, 2})}}); }), "no error");
}

TEST(ActiveExtent, LeavesAnInputWholeThatIsNoRows) {
  const std::vector<float> ones(64, 1), halves(8, 0.5F);
  for (const int mark : {0, -1}) {
    Graph g;
    const Value x = g.input("x", {{8, 8}, DType::F32}, {.bucket_axis = mark});
    const Value w = g.input("w", {{8, 8}, DType::F32}), z = g.input("z", {{8}, DType::F32});
    g.set_outputs({{"y", g.add(g.matmul(x, w), g.reduce_sum(z, {0}))}, {"sum", g.add(x, z)}});
    CompiledGraph graph = Session().compile(g);
    graph.set_active_extent(2, 8);
    const auto got = graph.run({{"x", ones}, {"w", ones}, {"z", halves}});
    for (size_t i = 0; i < 16; ++i) {
      EXPECT_EQ(got[0][i], 8 + 4) << i;  // eight products of ones, and eight halves
      EXPECT_EQ(got[1][i], 1.5F) << i;
    }
    EXPECT_EQ(graph.active_extent_report().fallback.empty(), mark == 0);
    EXPECT_EQ(got[0][16], mark == 0 ? 0 : 12);
  }
}

// Rows are appended to a state, and the sum of all is the output.
Graph appending(bool falls_back) {
  Graph g;
  const Value s = g.state("s", {{sym::past(), 2}, DType::F32}, {.axis = 0, .capacity = 32});
  Value x = g.input("x", {{8, 2}, DType::F32}, {.bucket_axis = 0});
  if (falls_back) x = g.add(x, weights(g, "positions", {8, 2}, 1));
  g.set_outputs({{"sum", g.reduce_sum(g.update(s, x, sym::past()), {0})}});
  return g;
}

TEST(ActiveExtent, AppendsOnlyTheActiveRowsToAState) {
  CompiledGraph graph = Session().compile(appending(false));
  EXPECT_EQ(graph.active_extent_report().fallback, "");
  graph.bind_handle("s", TensorView(nullptr, DType::F32, {0, 2}));
  const std::vector<float> two = {1, 10, 2, 20}, ones(16, 1);
  graph.set_active_extent(2, 8);
  EXPECT_EQ(graph.run({{"x", two}})[0], (std::vector<float>{3, 30}));
  EXPECT_EQ(graph.read_handle("s")->shape, (std::vector<int64_t>{2, 2}));
  graph.clear_active_extent();
  for (int i = 0; i < 3; ++i) graph.run({{"x", ones}});
  EXPECT_EQ(graph.read_handle("s")->shape, (std::vector<int64_t>{26, 2}));
  EXPECT_NE(user_error_of([&] { graph.run({{"x", ones}}); }), "no error");  // 34 of 32
  graph.set_active_extent(6, 8);
  EXPECT_EQ(graph.run({{"x", ones}})[0], (std::vector<float>{33, 60}));  // 3 + 30, 30 + 30
  EXPECT_EQ(graph.read_handle("s")->shape, (std::vector<int64_t>{32, 2}));
  graph.set_active_extent(1, 8);
  EXPECT_NE(user_error_of([&] { graph.run({{"x", ones}}); }), "no error");
}

TEST(ActiveExtent, NeverAppendsPaddingToAState) {
  CompiledGraph graph = Session().compile(appending(true));
  EXPECT_EQ(user_error_of([&] { graph.set_active_extent(2, 8); }),
            "[set_active_extent] 2 rows of 8, but the program runs at full extent and would write "
            "all 8 to the state \"s\": [param] \"positions\" f32[8, 2] has the bucket's extent 8 "
            "for a constant");
  graph.bind_handle("s", TensorView(nullptr, DType::F32, {0, 2}));
  graph.set_active_extent(8, 8);
  graph.run({{"x", std::vector<float>(16, 1)}});
  EXPECT_EQ(graph.read_handle("s")->shape, (std::vector<int64_t>{8, 2}));
}

TEST(ActiveExtent, HasASymbolThatInputsMayNotName) {
  Graph g;
  const Dim taken = Symbol("active.extent", {1, 8});
  EXPECT_EQ(user_error_of([&] { g.input("x", {{taken, 2}, DType::F32}); }),
            "[input] \"x\" f32[active.extent, 2]: the symbol \"active.extent\" is the compiler's, "
            "take another name");
  EXPECT_NE(
      user_error_of([&] { g.state("s", {{taken, 2}, DType::F32}, {.axis = 0, .capacity = 8}); }),
      "no error");
}

TEST(ActiveExtent, StandsBesideOtherExtentsThatVary) {
  const auto build = [](const Dim& batch, int64_t rows) {
    Graph g;
    const Value x = g.input("x", {{batch, rows, 2}, DType::F32});
    g.set_outputs({{"y", g.softmax(x, 1)}, {"sum", g.reduce_sum(x, {1})}});
    return g;
  };
  CompiledGraph graph = Session().compile(build(sym::batch(), 16));
  graph.set_active_extent(3, 16);
  for (const int64_t batch : {2, 5, 1}) {
    const std::vector<float> x = numbers(batch * 3 * 2, batch);
    const auto expected = oracle(build(batch, 3), {{"x", x}});
    const auto got = graph.run({{"x", view(x, {batch, 3, 2})}});
    EXPECT_EQ(got[1].size(), expected[1].size());
    for (int64_t b = 0; b < batch; ++b) {
      for (int64_t i = 0; i < 32; ++i) {
        const float should = i < 6 ? expected[0][static_cast<size_t>(b * 6 + i)] : 0;
        EXPECT_NEAR(got[0][static_cast<size_t>(b * 32 + i)], should, 1e-6) << batch << " " << i;
      }
    }
  }
}

TEST(ActiveExtent, GoesThroughTheStagesOfAPipeline) {
  const CompilePipeline pipeline;
  const Graph marked = layer(kUpper, {.bucket_axis = 0});
  const std::vector<float> x = numbers(kUpper * kWidth, 5);
  const LirModule staged =
      pipeline.plan_lir(pipeline.optimize_with_report(pipeline.preprocess(marked)).graph);
  const LirModule plain = pipeline.compile_graph(layer(kUpper)).lir;  // compiled again from it
  for (const LirModule* lir : {&staged, &plain}) {
    CompiledGraph graph = Session().compile(*lir);
    graph.set_active_extent(3, kUpper);
    expect_rows(graph.run({{"x", x}}), oracle(layer(3), {{"x", first_rows(x, 3)}}), zeros(), 3);
  }
  for (const StageText& text : pipeline.inspect(marked)) {
    if (text.stage != "active_extent_report") continue;
    EXPECT_EQ(text.text, Session().compile(marked).active_extent_report().to_string());
    return;
  }
  ADD_FAILURE() << "no report";
}

TEST(ActiveExtent, IsSavedWhereItIsMarkedOrSet) {
  const auto folder =
      std::filesystem::path(testing::TempDir()) / ("tenon_active_" + std::to_string(getpid()));
  std::filesystem::create_directory(folder);
  const std::vector<float> x = numbers(kUpper * kWidth, 5);
  CompiledGraph plain = Session().compile(layer(kUpper));
  plain.save(folder / "plain");
  CompiledGraph loaded = CompiledGraph::load(folder / "plain");
  EXPECT_NE(user_error_of([&] { loaded.set_active_extent(32, kUpper); }).find("saved without"),
            std::string::npos);
  Session().compile(layer(kUpper, {.bucket_axis = 0})).save(folder / "marked");
  plain.set_active_extent(32, kUpper);
  plain.save(folder / "set");
  const auto expected = plain.run({{"x", x}});
  for (const char* file : {"marked", "set"}) {
    CompiledGraph again = CompiledGraph::load(folder / file);
    EXPECT_EQ(again.active_extent_report().to_string(), plain.active_extent_report().to_string());
    EXPECT_EQ(again.inputs()[0].shape, plain.inputs()[0].shape);
    again.set_active_extent(32, kUpper);
    EXPECT_EQ(again.run({{"x", x}}), expected);
    EXPECT_EQ(user_error_of([&] { again.set_active_extent(3, kWidth); }),
              "[set_active_extent] upper is 8, but the graph is compiled for 512");
  }
  Session().compile(appending(true)).save(folder / "fallen");
  CompiledGraph fallen = CompiledGraph::load(folder / "fallen");
  EXPECT_NE(user_error_of([&] {
              fallen.set_active_extent(8, 8);
            }).find("A graph that falls back to full extent"),
            std::string::npos);
  std::filesystem::remove_all(folder);
}

}  // namespace
}  // namespace tenon
