// Several runs on a GPU in one call, beside the same runs one by one: what is gained is that copies
// of one run, by the host and by the device, go on beside the kernels of another. 16 MB in and
// 16 MB out per set; with eight layers, and with as many as take the time of the copies, where most
// can be gained.
//
// Lines: the time of a set in a pipeline by that of one alone, with results of Tenon's
// (`pipelined`) and in memory of the caller's (`pipelined_into`); and `timeline`, what the GPU's
// own clock says: milliseconds of each part over all sets, their sum by the time from the first to
// the last
// (`overlap`). --sets prints begin and end of the parts of each set before it.
//
//   bench_gpu_pipelined [--sets]
#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <cstdio>
#include <map>
#include <span>
#include <string>
#include <vector>

#include "api/graph_state.h"
#include "base/error.h"
#include "base/thread_pool.h"
#include "bench/program.h"
#include "bench/report.h"
#include "bench/subject.h"
#include "driver/pipeline.h"
#include "runtime/devices.h"
#include "runtime/pipelined_runs.h"
#include "tenon/tenon.h"

namespace tenon::bench {
namespace {

constexpr int64_t kRows = 4096, kWidth = 1024;
constexpr int kSets = 12, kRounds = 7, kLayers = 8;

Graph layers(int count) {
  Graph g;
  Value x = g.input("x", {{kRows, kWidth}, DType::F32});
  for (int i = 0; i < count; ++i)
    x = g.relu(g.matmul(x, g.param(fmt::format("w{}", i), {{kWidth, kWidth}, DType::F32})));
  g.set_outputs({{"y", g.add(x, x)}});
  return g;
}

std::vector<float> weight() {
  std::vector<float> weight(kWidth * kWidth);
  for (size_t i = 0; i < weight.size(); ++i)
    weight[i] = std::sin(static_cast<float>(i)) / std::sqrt(static_cast<float>(kWidth));
  return weight;
}

CompiledGraph compiled(const Graph& g) {
  CompiledGraph graph = Session(Device::Cuda(0)).compile(g);
  for (const TensorInfo& param : graph.params()) graph.set_param(param.name, weight());
  return graph;
}

struct Sets {
  Sets() {
    for (int i = 0; i < kSets; ++i) {
      x.emplace_back(kRows * kWidth, 1.F / static_cast<float>(i + 1));
      y.emplace_back(kRows * kWidth);
      inputs.push_back({{"x", view(x.back(), {kRows, kWidth})}});
      outputs.push_back({{"y", {y.back().data(), DType::F32, {kRows, kWidth}}}});
    }
  }
  std::vector<std::vector<float>> x, y;
  std::vector<NamedInputs> inputs;
  std::vector<NamedOutputs> outputs;
};

// Per set.
template <typename Call>
double seconds_of(Call call) {
  std::vector<double> times;
  for (int round = 0; round < kRounds; ++round) {
    const auto start = Clock::now();
    call();
    times.push_back(seconds_since(start) / kSets);
  }
  return median(times);
}

double into_one_by_one(CompiledGraph& graph, Sets& sets) {
  return seconds_of([&] {
    for (size_t i = 0; i < kSets; ++i) graph.run_into(sets.inputs[i], sets.outputs[i]);
  });
}

double owned_one_by_one(CompiledGraph& graph, Sets& sets) {
  return seconds_of([&] {
    std::vector<std::vector<OwnedTensor>> kept;
    for (const NamedInputs& set : sets.inputs) kept.push_back(graph.run_typed(set));
  });
}

void check_results(CompiledGraph& graph, Sets& sets) {
  const auto owned = graph.run_pipelined(sets.inputs);
  graph.run_pipelined_into(sets.inputs, sets.outputs);
  for (size_t i = 0; i < kSets; ++i) {
    const auto alone = graph.run_typed(sets.inputs[i]);
    if (owned[i][0].bytes != alone[0].bytes || !std::ranges::equal(alone[0].as<float>(), sets.y[i]))
      throw internal_error("set {} gives other results in a pipeline", i);
  }
}

// The same sets at the level of the runtime, where streams tell what they do.
std::vector<runtime::Span> spans_of(const Graph& g, Sets& sets) {
  driver::Options options;
  options.device = program::DeviceKind::Cuda;
  options.cuda_arch = runtime::cuda_arch(0).take();
  const auto program =
      std::make_shared<program::Program>(driver::compile(GraphState::of(g).graph, options).program);
  const auto open = [] {
    return runtime::open_stream({program::DeviceKind::Cuda, 0}, thread_pool()).take();
  };
  const auto first_stream = open(), second_stream = open();
  const auto first = runtime::Executor::load(program, first_stream).take();
  const int64_t square[] = {kWidth, kWidth}, shape[] = {kRows, kWidth};
  for (const program::ParamSlot& param : program->params)
    first->set_param(param.name, DType::F32, square, weight().data()).throw_if_error();
  const auto second = first->clone(second_stream).take();
  runtime::Timeline timeline;
  for (const bool noted : {false, true}) {  // first a time without
    runtime::PipelinedRuns runs(std::vector{first.get(), second.get()});
    for (const auto& stream : {first_stream, second_stream})
      stream->note_in(noted ? &timeline : nullptr);
    for (size_t i = 0; i < kSets; ++i) {
      if (noted && i > 0) timeline.next_set();
      const runtime::IoView in{sets.x[i].data(), DType::F32, shape, {}};
      const runtime::IoView out{sets.y[i].data(), DType::F32, shape, {}};
      runs.begin({&in, 1}, [&](runtime::Executor& bound) { return bound.commit({&out, 1}); })
          .throw_if_error();
    }
    runs.finish().throw_if_error();
  }
  return timeline.spans();
}

// From the first begin to the last end of each part of each set.
void print_sets(const std::vector<runtime::Span>& spans) {
  std::map<std::pair<int, runtime::DevicePart>, std::pair<double, double>> parts;
  for (const runtime::Span& span : spans) {
    auto& part = parts.try_emplace({span.set, span.part}, span.begin, span.end).first->second;
    part = {std::min(part.first, span.begin), std::max(part.second, span.end)};
  }
  for (const auto& [key, part] : parts)
    fmt::print(R"({{"set": {}, "part": "{}", "begin_ms": {:.3f}, "end_ms": {:.3f}}})"
               "\n",
               key.first, runtime::kDeviceParts[static_cast<int>(key.second)], part.first,
               part.second);
}

void print_timeline(int count, const std::vector<runtime::Span>& spans) {
  const runtime::Overlap overlap = runtime::overlap_of(spans);
  fmt::print(R"({{"bench": "timeline", "layers": {}, "overlap": {:.3f}, "wall_ms": {:.3f})", count,
             overlap.ratio(), overlap.wall);
  for (size_t i = 0; i < std::size(overlap.parts); ++i)
    fmt::print(R"(, "{}_ms": {:.3f})", runtime::kDeviceParts[i], overlap.parts[i]);
  fmt::print("}}\n");
}

bool measure(int count, double gate, bool prints_sets, Sets& sets) {
  const Graph g = layers(count);
  CompiledGraph graph = compiled(g);
  check_results(graph, sets);
  const auto compare = [&](const char* name, double together, double alone) {
    return report(name, "of_one_by_one", together / alone, gate,
                  fmt::format(R"(, "layers": {}, "ms": {:.3f}, "one_by_one_ms": {:.3f})", count,
                              together * 1e3, alone * 1e3));
  };
  bool met = compare("pipelined", seconds_of([&] { graph.run_pipelined(sets.inputs); }),
                     owned_one_by_one(graph, sets));
  met &= compare("pipelined_into",
                 seconds_of([&] { graph.run_pipelined_into(sets.inputs, sets.outputs); }),
                 into_one_by_one(graph, sets));
  const std::vector<runtime::Span> spans = spans_of(g, sets);
  if (prints_sets) print_sets(spans);
  print_timeline(count, spans);
  return met;
}

bool run(std::span<char* const> arguments) {
  const bool prints_sets = !arguments.empty() && std::string(arguments[0]) == "--sets";
  Sets sets;
  CompiledGraph nothing = compiled(layers(0)), some = compiled(layers(kLayers));
  const double copies = into_one_by_one(nothing, sets), whole = into_one_by_one(some, sets);
  const double layer = std::max(whole - copies, 1e-6) / kLayers;
  const int balanced = std::clamp(static_cast<int>(std::lround(copies / layer)), 1, 64);
  fmt::print(R"({{"bench": "one_by_one", "copies_ms": {:.3f}, "layer_ms": {:.3f}}})"
             "\n",
             copies * 1e3, layer * 1e3);
  bool met = measure(kLayers, 0.9, prints_sets, sets);
  if (balanced != kLayers) met &= measure(balanced, 0.8, prints_sets, sets);
  return met;
}

}  // namespace
}  // namespace tenon::bench

int main(int argc, char** argv) {
  return tenon::bench::program("bench_gpu_pipelined", tenon::bench::run, argc, argv);
}
