// What lazy tensors cost beyond their kernels: building and realizing an expression that is known,
// executing a plan, and whether very many realizes leave anything behind.
//
//   bench_lazy [realize|plan|memory ...]
#include <fmt/format.h>

#include <algorithm>
#include <fstream>
#include <string>
#include <vector>

#include "base/error.h"
#include "bench/program.h"
#include "bench/report.h"
#include "bench/subject.h"
#include "tenon/tenon.h"

namespace tenon::bench {
namespace {

constexpr int kRounds = 21;

// Ten ops on vectors of 16: kernels take nothing worth mentioning.
Tensor ten_ops(const Tensor& x) {
  const Tensor a = (x * 2.0 + 1.0).tanh();
  const Tensor b = (a - x).exp() * a;
  return (b / (a * a + 1.5)).sum();
}

// Each on new data. What has been realized is kept to the end of the round: destroying is not part
// of it.
bool realize() {
  constexpr int kCalls = 500;
  const std::vector<float> data(16, 0.5F);
  std::vector<double> both, alone;
  for (int round = -2; round < kRounds; ++round) {
    std::vector<Tensor> tensors;
    tensors.reserve(kCalls);
    const auto start = Clock::now();
    for (int i = 0; i < kCalls; ++i) tensors.push_back(ten_ops(Tensor::from(data)));
    const auto built = Clock::now();
    for (const Tensor& tensor : tensors) tensor.realize();
    if (round < 0) continue;
    both.push_back(seconds_since(start) / kCalls * 1e6);
    alone.push_back(seconds_since(built) / kCalls * 1e6);
  }
  const auto lowest = [](const std::vector<double>& times) {
    return fmt::format(", \"lowest\": {:.3f}", std::ranges::min(times));
  };
  bool met = report("realize of 10 ops on new data", "us", median(alone), 30, lowest(alone));
  met &= report("building and realizing 10 ops on new data", "us", median(both), 30, lowest(both));
  return met;
}

std::vector<float> numbers(int64_t count) {
  std::vector<float> result(static_cast<size_t>(count));
  for (size_t i = 0; i < result.size(); ++i)
    result[i] = static_cast<float>(i * 7919 % 1000) / 1000 - 0.5F;
  return result;
}

constexpr int64_t kWidths[] = {784, 512, 512, 10};

// The same layers as tensors, and as a graph whose kernels run_slots runs: weights are inputs there
// too, so that both do the same work.
Tensor mlp(Tensor x, const Device& device) {
  for (int layer = 0; layer < 3; ++layer) {
    const int64_t in = kWidths[layer], out = kWidths[layer + 1];
    x = x.linear(Tensor::from(numbers(in * out), {out, in}).to(device).realize(),
                 Tensor::from(numbers(out)).to(device).realize());
    if (layer < 2) x = x.relu();
  }
  return x;
}

CompiledGraph compiled_mlp() {
  Graph g;
  Value x = g.input("x", {{1, kWidths[0]}, DType::F32});
  for (int layer = 0; layer < 3; ++layer) {
    const int64_t in = kWidths[layer], out = kWidths[layer + 1];
    const Value weight = g.input(fmt::format("w{}", layer), {{out, in}, DType::F32});
    const Value bias = g.input(fmt::format("b{}", layer), {{out}, DType::F32});
    x = g.add(g.matmul(x, g.transpose(weight, {1, 0})), bias);
    if (layer < 2) x = g.relu(x);
  }
  g.set_outputs({{"y", x}});
  return Session().compile(g, {.threads = 1});
}

double microseconds(auto&& call) {
  constexpr int kCalls = 50;
  const auto start = Clock::now();
  for (int i = 0; i < kCalls; ++i) call();
  return seconds_since(start) / kCalls * 1e6;
}

// An execution where the kernels compute nothing is what a plan costs by itself: the null device
// checks and binds as others do. The whole execution beside a run of the same kernels by slots is
// printed too; the difference of two long times, each of which varies by more than the gate.
bool plan() {
  const std::vector<float> input = numbers(kWidths[0]);
  const auto prepared = [&](const Device& device) {
    const Tensor x = Tensor::wrap(input.data(), DType::F32, {1, kWidths[0]}).to(device).realize();
    Tensor y = mlp(x, device);
    return y.prepare_with({.device = device, .threads = 1});
  };
  ExecutionPlan real = prepared(Device::Cpu()), nothing = prepared(Device::Null());
  CompiledGraph graph = compiled_mlp();
  graph.set_extents({});
  std::vector<std::vector<float>> weights = {input};
  for (int layer = 0; layer < 3; ++layer) {
    weights.push_back(numbers(kWidths[layer] * kWidths[layer + 1]));
    weights.push_back(numbers(kWidths[layer + 1]));
  }
  std::vector<std::span<const std::byte>> slots;
  for (const auto& each : weights) slots.push_back(std::as_bytes(std::span(each)));
  std::vector<double> whole, kernels, beyond;
  for (int round = -2; round < 5 * kRounds; ++round) {
    const double executed = microseconds([&] { real.execute(); });
    const double run = microseconds([&] { graph.run_slots(slots); });
    const double empty = microseconds([&] { nothing.execute(); });
    if (round < 0) continue;
    whole.push_back(executed);
    kernels.push_back(run);
    beyond.push_back(empty);
  }
  return report("execute of an MLP's plan beyond its kernels", "us", median(beyond), 5,
                fmt::format(", \"with_kernels\": {:.3f}, \"run_slots\": {:.3f}", median(whole),
                            median(kernels)));
}

int64_t resident_bytes() {
  std::ifstream status("/proc/self/status");
  for (std::string line; std::getline(status, line);) {
    if (line.starts_with("VmRSS:")) return std::stoll(line.substr(6)) * 1024;
  }
  throw user_error("/proc/self/status has no VmRSS");
}

// Growth after the first twentieth.
bool memory() {
  constexpr int kRealizes = 100'000;
  const std::vector<float> data(16, 0.5F);
  const auto realize_some = [&](int count) {
    for (int i = 0; i < count; ++i) ten_ops(Tensor::from(data)).realize();
  };
  realize_some(kRealizes / 20);
  const int64_t before = resident_bytes();
  realize_some(kRealizes - kRealizes / 20);
  const int64_t after = resident_bytes();
  const double percent = 100.0 * static_cast<double>(after - before) / static_cast<double>(before);
  return report("100000 realizes", "percent_more", percent, 5,
                fmt::format(", \"resident_mb\": {:.1f}", static_cast<double>(after) / 1e6));
}

constexpr Figure kFigures[] = {{"realize", realize}, {"plan", plan}, {"memory", memory}};

bool run(std::span<char* const> names) { return measure(kFigures, names); }

}  // namespace
}  // namespace tenon::bench

int main(int argc, char** argv) {
  return tenon::bench::program("bench_lazy", tenon::bench::run, argc, argv);
}
