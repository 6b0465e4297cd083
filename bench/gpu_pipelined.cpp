// Several runs on a GPU in one call, beside the same runs one by one: what is gained is that copies
// of one run, by the host and by the device, go on beside the kernels of another.
//
//   bench_gpu_pipelined
#include <fmt/format.h>

#include <cmath>
#include <cstdio>
#include <span>
#include <vector>

#include "base/error.h"
#include "bench/program.h"
#include "bench/report.h"
#include "bench/subject.h"
#include "tenon/tenon.h"

namespace tenon::bench {
namespace {

constexpr int64_t kRows = 4096, kWidth = 1024;
constexpr int kSets = 12, kRounds = 7;

CompiledGraph layers(int count) {
  Graph g;
  Value x = g.input("x", {{kRows, kWidth}, DType::F32});
  for (int i = 0; i < count; ++i)
    x = g.relu(g.matmul(x, g.param(fmt::format("w{}", i), {{kWidth, kWidth}, DType::F32})));
  g.set_outputs({{"y", g.add(x, x)}});
  CompiledGraph compiled = Session(Device::Cuda(0)).compile(g);
  std::vector<float> weight(kWidth * kWidth);
  for (size_t i = 0; i < weight.size(); ++i)
    weight[i] = std::sin(static_cast<float>(i)) / std::sqrt(static_cast<float>(kWidth));
  for (const TensorInfo& param : compiled.params()) compiled.set_param(param.name, weight);
  return compiled;
}

// Seconds per set.
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

double one_by_one(CompiledGraph& graph, const std::vector<NamedInputs>& sets) {
  return seconds_of([&] {
    for (const NamedInputs& set : sets) graph.run_typed(set);
  });
}

bool run(std::span<char* const> /*arguments*/) {
  std::vector<std::vector<float>> data;
  std::vector<NamedInputs> sets;
  for (int i = 0; i < kSets; ++i) {
    data.emplace_back(kRows * kWidth, 1.F / static_cast<float>(i + 1));
    sets.push_back({{"x", view(data.back(), {kRows, kWidth})}});
  }
  CompiledGraph graph = layers(8), hardly_anything = layers(0);
  const auto pipelined = graph.run_pipelined(sets);
  for (int i = 0; i < kSets; ++i) {
    if (pipelined[static_cast<size_t>(i)][0].bytes !=
        graph.run_typed(sets[static_cast<size_t>(i)])[0].bytes)
      throw internal_error("set {} gives other results in a pipeline", i);
  }
  const double together = seconds_of([&] { graph.run_pipelined(sets); });
  const double single = one_by_one(graph, sets), copies = one_by_one(hardly_anything, sets);
  return report("pipelined", "of_one_by_one", together / single, 0.9,
                fmt::format(R"(, "ms": {:.3f}, "one_by_one_ms": {:.3f}, "copies_alone_ms": {:.3f})",
                            together * 1e3, single * 1e3, copies * 1e3));
}

}  // namespace
}  // namespace tenon::bench

int main(int argc, char** argv) {
  return tenon::bench::program("bench_gpu_pipelined", tenon::bench::run, argc, argv);
}
