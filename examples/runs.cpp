// The ways of running a compiled graph: copies, views, your own memory, slots; parameters that
// change; clones on threads; limits and cancelling.
#include <algorithm>
#include <atomic>
#include <cstdio>
#include <thread>

#include "tenon/tenon.h"

namespace {

constexpr int64_t kIn = 3, kOut = 2;

// y = relu(x @ w), and the largest element of each row as i64.
tenon::Graph model() {
  tenon::Graph g;
  const tenon::Value x = g.input("x", {{tenon::Symbol("rows", {1, 1000}), kIn}, tenon::DType::F32});
  const tenon::Value y = g.relu(g.matmul(x, g.param("w", {{kIn, kOut}, tenon::DType::F32})));
  g.set_outputs({{"y", y}, {"largest", g.cast(g.reduce_max(x, {1}), tenon::DType::I64)}});
  return g;
}

void print(const char* what, std::span<const float> values) {
  std::printf("%s:", what);
  for (const float value : values) std::printf(" %g", value);
  std::printf("\n");
}

void copies_and_views(tenon::CompiledGraph& graph, const tenon::NamedInputs& inputs) {
  print("run", graph.run(inputs)[0]);
  print("the second output alone", graph.run_read_outputs(inputs, std::vector<int>{1})[0]);
  const tenon::OwnedTensor largest = graph.run_typed(inputs)[1];
  std::printf("%s is %s: %lld\n", largest.name.c_str(), tenon::to_string(largest.dtype).data(),
              static_cast<long long>(largest.as<int64_t>()[0]));

  const tenon::TensorView& y = graph.run_raw(inputs)[0];  // valid until the next run
  print("a view", {static_cast<const float*>(y.data), size_t{2 * kOut}});
  print("its second row", graph.read_output_row(0, 1, kOut).value());
  std::printf("a tenth row: %s\n", graph.read_output_row(0, 9, kOut) ? "there" : "not there");
}

void own_memory(tenon::CompiledGraph& graph, const tenon::NamedInputs& inputs) {
  std::vector<float> y(4 * kOut, -1);  // with room for more rows than there are
  std::vector<int64_t> largest(2);
  const tenon::MutableTensorView roomy = {
      .data = y.data(), .dtype = tenon::DType::F32, .shape = {2, kOut}, .capacity = {4, kOut}};
  graph.run_into(inputs, {{"y", roomy}, {"largest", {largest.data(), tenon::DType::I64, {2, 1}}}});
  print("in memory of mine", y);

  graph.set_extents({{"rows", 2}});
  const std::span<const std::byte> x(static_cast<const std::byte*>(inputs.at("x").data),
                                     sizeof(float) * 2 * kIn);
  const tenon::OutputSlot slot = graph.run_slots({&x, 1})[0];
  print("by slots", {reinterpret_cast<const float*>(graph.arena_ptr() + slot.offset),
                     static_cast<size_t>(slot.length) / sizeof(float)});
}

void parameters(tenon::CompiledGraph& graph, const tenon::NamedInputs& inputs) {
  const std::vector<float> twos(kIn * kOut, 2);
  graph.set_param_typed("w", std::as_bytes(std::span(twos)), tenon::DType::F32);
  print("another w", graph.run(inputs)[0]);
}

void clones(const tenon::CompiledGraph& graph, const tenon::NamedInputs& inputs) {
  std::vector<tenon::CompiledGraph> workers;
  for (int i = 0; i < 4; ++i) workers.push_back(graph.clone());  // one for each thread
  const std::vector<float> zeros(kIn * kOut, 0);
  workers[3].set_param("w", zeros);  // the others do not see it
  std::atomic<int> of_twos = 0;
  std::vector<std::jthread> threads;
  threads.reserve(workers.size());
  for (tenon::CompiledGraph& worker : workers)
    threads.emplace_back([&] { of_twos += worker.run(inputs)[0][0] == 12 ? 1 : 0; });
  threads.clear();
  std::printf("%d of 4 clones have the w of twos\n", of_twos.load());
}

void limits(tenon::CompiledGraph& graph, const tenon::NamedInputs& inputs) {
  for (const tenon::MemoryUse& use : graph.memory_of(inputs))
    std::printf("%s: %lld bytes\n", use.what.c_str(), static_cast<long long>(use.bytes));
  const int64_t bytes = graph.peak_bytes({{"rows", 2}});
  graph.run(inputs, {.memory_limit = std::max<int64_t>(bytes, 1)});
  std::stop_source stop;
  stop.request_stop();  // from any thread, at any time
  try {
    graph.run(inputs, {.stop = stop.get_token()});
  } catch (const tenon::Cancelled& cancelled) {
    std::printf("%s\n", cancelled.what());
  }
  try {
    graph.run({{"y", inputs.at("x")}});
  } catch (const tenon::Error& error) {
    std::printf("%s\n", error.what());
  }
  print("and it runs as before", graph.run(inputs)[0]);
}

}  // namespace

int main() {
  tenon::CompiledGraph graph = tenon::Session().compile(model(), {.threads = 1});
  for (const tenon::TensorInfo& param : graph.params())
    std::printf("to be set: %s [%s, %s]\n", param.name.c_str(), param.shape[0].c_str(),
                param.shape[1].c_str());
  graph.set_param("w", std::vector<float>{1, 0, 0, 1, 1, 1});
  const std::vector<float> x = {1, 2, 3, 4, 5, 6};
  const tenon::NamedInputs inputs = {{"x", tenon::view(x, {2, kIn})}};
  copies_and_views(graph, inputs);
  own_memory(graph, inputs);
  parameters(graph, inputs);
  clones(graph, inputs);
  limits(graph, inputs);
  return 0;
}
