// run_into, run_raw and run_slots allocate nothing after the first run of a shape, by any thread:
// malloc, operator new and mmap are counted for the whole process. Whatever a graph holds between
// runs: handles, states that grow, feeds, an active extent.
#include <gtest/gtest.h>
#include <unistd.h>

#include <algorithm>
#include <filesystem>
#include <fstream>

#include "tenon/tenon.h"
#include "tests/count_allocations.h"
#include "tools/make_encoder/encoder_model.h"

namespace tenon {
namespace {

using Floats = std::vector<float>;

// The same request by each way that promises to allocate nothing. What callers make before they run
// is made at construction, with a run.
class Request {
 public:
  Request(CompiledGraph& graph, NamedInputs inputs) : graph_(graph), inputs_(std::move(inputs)) {
    for (const TensorInfo& input : graph_.inputs()) {
      const auto given = inputs_.find(input.name);
      if (given == inputs_.end()) continue;
      slots_.emplace_back(static_cast<const std::byte*>(given->second.data), bytes(given->second));
    }
    const std::vector<TensorInfo> infos = graph_.outputs();
    const std::vector<TensorView>& views = graph_.run_raw(inputs_);
    for (size_t i = 0; i < views.size(); ++i) {
      own_.emplace_back(bytes(views[i]));
      outputs_[infos[i].name] = {own_[i].data(), views[i].dtype, views[i].shape};
    }
  }

  void run_by(int way) {
    if (way == 0) graph_.run_raw(inputs_);
    if (way == 1) graph_.run_slots(slots_);
    if (way == 2) graph_.run_into(inputs_, outputs_);
  }

 private:
  static size_t bytes(const TensorView& view) {
    int64_t result = size_of(view.dtype);
    for (const int64_t extent : view.shape) result *= extent;
    return static_cast<size_t>(result);
  }

  CompiledGraph& graph_;
  NamedInputs inputs_;
  std::vector<std::span<const std::byte>> slots_;
  std::vector<std::vector<std::byte>> own_;
  NamedOutputs outputs_;
};

constexpr int kWays = 3;
constexpr const char* kWayNames[kWays] = {"run_raw", "run_slots", "run_into"};

template <typename Call>
int allocations_of(Call&& call) {
  allocations = 0;
  counting = true;
  call();
  counting = false;
  return allocations.load();
}

// `begin` takes the graph to where the runs of a way begin.
template <typename Begin>
void expect_none(Request& request, int runs, const Begin& begin) {
  for (int way = 0; way < kWays; ++way) {
    begin();
    for (int i = 0; i < runs; ++i) request.run_by(way);
    begin();
    const int count = allocations_of([&] {
      for (int i = 0; i < runs; ++i) request.run_by(way);
    });
    EXPECT_EQ(count, 0) << kWayNames[way];
  }
}
void expect_none(Request& request) {
  expect_none(request, 3, [] {});
}

class Allocation : public testing::Test {
 protected:
  void SetUp() override {
    if (!TENON_COUNTS_ALLOCATIONS) GTEST_SKIP() << "sanitizers bring their own malloc";
  }
};

Value weights(Graph& g, const std::string& name, const Shape& shape) {
  const Floats data(static_cast<size_t>(shape.elements().const_value()), 0.1F);
  return g.param(name, {shape, DType::F32}, std::as_bytes(std::span(data)));
}

TEST_F(Allocation, IsCounted) {
  EXPECT_GT(allocations_of([] { Floats something(1000); }), 0);
}

TEST_F(Allocation, IsNoneForShapesThatCameBefore) {
  const std::string path =
      std::filesystem::path(testing::TempDir()) / ("tenon_allocation_" + std::to_string(getpid()));
  std::ofstream(path, std::ios::binary) << make_encoder::encoder_model(
      {.layers = 2, .hidden = 64, .heads = 2, .ffn = 128, .vocab = 100, .maxpos = 64});
  CompiledGraph graph = Session().compile_onnx(path, {.threads = 2});
  std::filesystem::remove(path);  // mapped: the file may go
  const std::vector<int64_t> ones(512, 1);
  std::vector<Request> requests;
  for (const auto& [batch, seq] : {std::pair{1, 1}, {8, 64}, {3, 17}, {2, 40}, {16, 5}}) {
    const TensorView tokens = view(ones, {batch, seq});
    requests.emplace_back(
        graph,
        NamedInputs{{"input_ids", tokens}, {"attention_mask", tokens}, {"token_type_ids", tokens}});
  }
  for (const int way : {0, 2}) {  // the shapes of run_slots are set, which is no run
    EXPECT_EQ(allocations_of([&] {
                for (Request& request : requests) request.run_by(way);
              }),
              0)
        << kWayNames[way];
  }
  graph.set_extents(DimBinding::batch_seq(4, 9));
  Request one(graph, {{"input_ids", view(std::span(ones).first(36), {4, 9})},
                      {"attention_mask", view(std::span(ones).first(36), {4, 9})},
                      {"token_type_ids", view(std::span(ones).first(36), {4, 9})}});
  expect_none(one);
}

TEST_F(Allocation, IsNoneWithBoundHandles) {
  Graph g;
  const Value x = g.input("x", {{sym::seq(), 8}, DType::F32});
  const Value keys = g.input("keys", {{sym::past(), 8}, DType::F32});
  const Value scores = g.softmax(g.matmul(x, g.transpose(keys, {1, 0})), 1);
  g.set_outputs({{"y", g.matmul(scores, keys)}});
  CompiledGraph graph = Session().compile(g, {.threads = 2});
  const Floats rows(5 * 8, 0.5F), bound(7 * 8, 0.25F);
  graph.bind_handle("keys", view(bound, {7, 8}));
  graph.set_extents({{"seq", 5}, {"past", 7}});
  Request request(graph, {{"x", view(rows, {5, 8})}});
  expect_none(request);
}

TEST_F(Allocation, IsNoneWhileAStateGrows) {
  constexpr int64_t kTokens = 20;
  Graph g;
  const Value x = g.input("x", {{1, sym::seq(), 32}, DType::F32});
  const StateOptions layout{.axis = 1, .capacity = 64};
  const TensorType cache{{1, sym::past(), 32}, DType::F32};
  const Value k = g.update(g.state("keys", cache, layout), g.matmul(x, weights(g, "wk", {32, 32})),
                           sym::past());
  const Value v = g.update(g.state("values", cache, layout),
                           g.matmul(x, weights(g, "wv", {32, 32})), sym::past());
  const Value seen = g.attention(x, k, v, {.heads = 2, .head_dim = 16, .causal = true});
  g.set_outputs({{"y", g.gelu(g.add(x, seen))}});
  CompiledGraph graph = Session().compile(g, {.threads = 2});
  for (const char* name : {"keys", "values"})
    graph.bind_handle(name, TensorView(nullptr, DType::F32, {1, 0, 32}));
  graph.set_extents({{"seq", 1}});
  const Floats token(32, 0.5F);
  Request request(graph, {{"x", view(token, {1, 1, 32})}});
  expect_none(request, kTokens, [&] {
    for (const char* name : {"keys", "values"}) graph.trim_handle(name, 1);
  });
  EXPECT_EQ(graph.read_handle("keys")->shape[1], 1 + kTokens);
}

TEST_F(Allocation, IsNoneAroundACustomFunction) {
  const CustomFunction half(
      "half",
      [](std::span<const TensorType> inputs, std::span<const Dim> dims) {
        return std::vector<TensorType>{{{dims[0], 8}, inputs[0].dtype}};
      },
      [](const CustomCall& call) {
        const auto y = call.output<float>(0);
        std::ranges::copy(call.input<float>(0).first(y.size()), y.begin());
      });
  Graph g;
  const Dim n = Symbol("n");
  const Value x = g.input("x", {{n, 8}, DType::F32});
  const Value y = g.custom(half, {g.gelu(x)}, {floordiv(n, 2)})[0];
  g.set_outputs({{"y", g.add(y, y)}, {"half", y}});
  CompiledGraph graph = Session().compile(g, {.threads = 2});
  graph.set_extents({{"n", 6}});
  const Floats rows(6 * 8, 0.5F);
  Request request(graph, {{"x", view(rows, {6, 8})}});
  expect_none(request);
}

TEST_F(Allocation, IsNoneWhereAnOutputFeedsAHandle) {
  Graph g;
  const Value x = g.input("x", {{Symbol("n"), 8}, DType::F32});
  const Value by = g.input("by", {{8}, DType::F32});
  g.set_outputs({{"y", g.add(x, by)}, {"sum", g.reduce_sum(x, {0, 1})}});
  CompiledGraph graph = Session().compile(g, {.threads = 2});
  graph.bind_handle("x", view(Floats(24), {3, 8}));
  graph.set_handle_feed("x", "y");
  graph.set_extents({{"n", 3}});
  const Floats ones(8, 1);
  Request request(graph, {{"by", view(ones, {8})}});
  expect_none(request);
  EXPECT_EQ(graph.read_handle("x")->as<float>()[0], 1 + 3 * (3 + 3));  // every run counted
}

TEST_F(Allocation, IsNoneWithSpecializedCode) {
  Graph g;
  const Value x = g.input("x", {{1, sym::seq(), 32}, DType::F32});
  const Value seen = g.attention(x, x, x, {.heads = 2, .head_dim = 16, .causal = true});
  g.set_outputs({{"y", g.add(x, g.matmul(seen, weights(g, "w", {32, 32})))}});
  CompiledGraph graph =
      Session().compile(g, {.threads = 2, .specialize = Specialization{.after = 2}});
  const Floats rows(size_t{40 * 32}, 0.5F);
  graph.set_extents({{"seq", 40}});
  Request forty(graph, {{"x", view(rows, {1, 40, 32})}});
  Request seven(graph, {{"x", view(std::span(rows).first(7 * 32), {1, 7, 32})}});
  for (Request* request : {&forty, &seven}) request->run_by(2);
  graph.wait_for_specialization();
  ASSERT_EQ(graph.specialization_stats().shapes, 2);
  EXPECT_EQ(allocations_of([&] {  // from the run that takes the code on
              for (int i = 0; i < 3; ++i) {
                for (Request* request : {&forty, &seven}) request->run_by(2);
              }
            }),
            0);
  expect_none(forty);
}

// Attention, and a mean over the bucket; another extent varies beside it.
Graph bucket(int64_t rows) {
  Graph g;
  const Value x = g.input("x", {{sym::batch(), rows, 32}, DType::F32}, {.bucket_axis = 1});
  const Value seen = g.attention(x, x, x, {.heads = 2, .head_dim = 16, .causal = true});
  const Value y = g.add(x, g.matmul(seen, weights(g, "w", {32, 32})));
  g.set_outputs({{"y", y}, {"mean", g.reduce_mean(y, {1})}});
  return g;
}

TEST_F(Allocation, IsNoneWithAnActiveExtent) {
  CompiledGraph graph = Session().compile(bucket(128), {.threads = 2});
  const Floats x(size_t{2 * 128 * 32}, 0.5F);
  graph.set_extents({{"batch", 2}});
  for (const int64_t actual : {31, 100}) {
    graph.set_active_extent(actual, 128);
    Request whole(graph, {{"x", view(x, {2, 128, 32})}});
    expect_none(whole);
    Request part(graph, {{"x", view(x, {2, actual, 32})}});
    expect_none(part);
  }
}

TEST_F(Allocation, IsNoneWhereAnActiveExtentFallsBack) {
  Graph g;
  const Value x = g.input("x", {{16, 8}, DType::F32}, {.bucket_axis = 0});
  g.set_outputs({{"y", g.add(x, weights(g, "positions", {16, 8}))}});
  CompiledGraph graph = Session().compile(g, {.threads = 2});
  graph.set_active_extent(3, 16);
  ASSERT_NE(graph.active_extent_report().fallback, "");
  const Floats rows(size_t{3 * 8}, 1);
  Request request(graph, {{"x", view(rows, {3, 8})}});
  expect_none(request);
}

}  // namespace
}  // namespace tenon
