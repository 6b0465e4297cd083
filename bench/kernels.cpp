// Share of this machine's peak at one thread: a linear layer with bias and erf-GELU, fused
// attention, and the whole encoder. Symbolic rows and lengths: each graph is compiled once for all
// its rows of the table. Peak is an independent FMA probe of one second before and
// after; a row whose probes differ by over 3% is taken again.
//
//   bench_kernels [linear|attention|encoder] [--tries N | --glance] [--rows TEXT]
#include <fmt/format.h>

#include <algorithm>
#include <chrono>
#include <cmath>
#include <cstdio>
#include <cstdlib>
#include <functional>
#include <span>
#include <string>
#include <vector>

#include "api/peak_probe.h"
#include "base/cpu_info.h"
#include "driver/pipeline.h"
#include "graph/graph.h"
#include "import/onnx/onnx.h"
#include "runtime/executor.h"
#include "runtime/memory_block.h"
#include "tools/make_encoder/encoder_model.h"

namespace tenon {
namespace {

using Clock = std::chrono::steady_clock;

double seconds_since(Clock::time_point start) {
  return std::chrono::duration<double>(Clock::now() - start).count();
}

// A compiled graph with memory for one set of extents: floats random, integers one. The memory is
// of the kind that a program's own intermediates have (huge pages where the system gives them).
class Subject {
 public:
  explicit Subject(const graph::Graph& graph) {
    driver::Options options;
    options.cpu = cpu_info();
    auto program = std::make_shared<program::Program>(driver::compile(graph, options).program);
    executor_ = runtime::Executor::load(program, thread_pool()).take();
    executor_->set_threads(1);
    for (const graph::Value& input : graph.inputs()) dtypes_.push_back(input.dtype());
    for (const program::ParamSlot& slot : program->params) {
      std::vector<int64_t> shape;
      for (const Dim& dim : slot.type.shape) shape.push_back(dim.const_value());
      const graph::Data* initial = graph.param_data(slot.name);
      const auto made = random(initial ? 0 : slot.type.shape.elements().const_value());
      const void* data = initial ? static_cast<const void*>(initial->bytes.data()) : made.data();
      executor_->set_param(slot.name, slot.type.dtype, shape, data).throw_if_error();
    }
  }

  void bind(const std::vector<std::vector<int64_t>>& shapes) {
    shapes_ = shapes;
    inputs_.clear();
    memory_.clear();
    for (const auto& shape : shapes_) {
      const DType dtype = dtypes_[inputs_.size()];
      memory_.push_back(block(elements(shape) * size_of(dtype)));
      fill(dtype, memory_.back().data(), elements(shape));
      inputs_.push_back({memory_.back().data(), dtype, shape, {}});
    }
    executor_->bind(inputs_).throw_if_error();
    extents_.assign(executor_->output_extents(0).begin(), executor_->output_extents(0).end());
    output_ = block(elements(extents_) * size_of(DType::F32));
    run();
  }

  void run() {
    executor_->bind(inputs_).throw_if_error();
    const runtime::IoView out{output_.data(), DType::F32, extents_, {}};
    executor_->execute({&out, 1}).throw_if_error();
  }

  double flops() const { return static_cast<double>(executor_->flops()); }

 private:
  static int64_t elements(const std::vector<int64_t>& shape) {
    int64_t count = 1;
    for (const int64_t extent : shape) count *= extent;
    return count;
  }
  static runtime::MemoryBlock block(int64_t bytes) {
    runtime::MemoryBlock result;
    result.reserve(bytes, "a benchmark").throw_if_error();
    return result;
  }
  static void fill(DType dtype, std::byte* data, int64_t count) {
    if (dtype == DType::F32) {
      const std::vector<float> values = random(count);
      std::copy(values.begin(), values.end(), reinterpret_cast<float*>(data));
    } else {
      for (int64_t i = 0; i < count; ++i) store_from_i64(dtype, data + i * size_of(dtype), 1);
    }
  }
  static std::vector<float> random(int64_t count) {
    std::vector<float> data(static_cast<size_t>(count));
    uint32_t state = 1;
    for (float& x : data) {
      state = state * 1664525u + 1013904223u;
      x = (static_cast<float>(state >> 8) * 0x1p-24f - 0.5f) * 0.2f;
    }
    return data;
  }

  std::unique_ptr<runtime::Executor> executor_;
  std::vector<DType> dtypes_;
  std::vector<std::vector<int64_t>> shapes_;
  std::vector<runtime::MemoryBlock> memory_;
  std::vector<runtime::IoView> inputs_;
  std::vector<int64_t> extents_;
  runtime::MemoryBlock output_;
};

// Best of short slices, probe and kernel in turn: a glance on a busy machine, not a gate.
bool glance(const std::string& name, Subject& subject, double gate) {
  double peak = 0, best = 0;
  for (int round = 0; round < 60; ++round) {
    peak = std::max(peak, measure_peak_gflops(1, 1, 4));
    const auto slice = Clock::now();
    int runs = 0;
    do subject.run(), ++runs;
    while (seconds_since(slice) < 0.004);
    best = std::max(best, subject.flops() * runs / seconds_since(slice) * 1e-9);
  }
  fmt::print(
      "{{\"kernel\": \"{}\", \"threads\": 1, \"glance\": true, \"gflops_best\": {:.1f}, \"peak\": "
      "{:.1f}, "
      "\"share_best\": {:.3f}, \"gate\": {}}}\n",
      name, best, peak, best / peak, gate);
  std::fflush(stdout);
  return true;
}

std::string only_rows;  // --rows TEXT: rows whose name contains it

// Prints a JSON line; true where the share reaches the gate. No tries: only a glance.
bool measure(const std::string& name, Subject& subject, double gate, int tries) {
  if (name.find(only_rows) == std::string::npos) return true;
  if (tries == 0) return glance(name, subject, gate);
  for (int attempt = 0; attempt < tries; ++attempt) {
    const double before = measure_peak_gflops(1, 1, 1000);
    std::vector<double> rates;
    const auto start = Clock::now();
    while (seconds_since(start) < 1.5 || rates.size() < 7) {
      const auto slice = Clock::now();
      int runs = 0;
      do subject.run(), ++runs;
      while (seconds_since(slice) < 0.05);
      rates.push_back(subject.flops() * runs / seconds_since(slice) * 1e-9);
    }
    const double after = measure_peak_gflops(1, 1, 1000);
    const double drift = std::abs(before - after) / std::max(before, after);
    if (drift > 0.03) {
      fmt::print(stderr, "{}: probes differ by {:.1f}%, taken again\n", name, 100 * drift);
      continue;
    }
    std::sort(rates.begin(), rates.end());
    const double peak = std::max(before, after), median = rates[rates.size() / 2];
    fmt::print(
        "{{\"kernel\": \"{}\", \"threads\": 1, \"gflops_median\": {:.1f}, \"gflops_best\": {:.1f}, "
        "\"peak\": {:.1f}, "
        "\"share\": {:.3f}, \"share_best\": {:.3f}, \"gate\": {}, \"met\": {}}}\n",
        name, median, rates.back(), peak, median / peak, rates.back() / peak, gate,
        median / peak >= gate);
    std::fflush(stdout);
    return median / peak >= gate;
  }
  fmt::print("{{\"kernel\": \"{}\", \"discarded\": {}, \"met\": false}}\n", name, tries);
  return false;
}

bool linear(int tries) {
  bool met = true;
  for (const auto& [depth, columns] :
       {std::pair<int64_t, int64_t>{384, 1536}, {1536, 384}, {768, 3072}}) {
    graph::Graph g;
    const auto x = g.input("x", {{Symbol("m"), depth}, DType::F32});
    const auto w = g.param("w", {{depth, columns}, DType::F32});
    const auto b = g.param("b", {{columns}, DType::F32});
    g.set_outputs({{"y", g.linear(x, w, b, {}, graph::Activation::Gelu)}});
    Subject subject(g);
    for (const int64_t rows : {32, 128, 512}) {
      subject.bind({{rows, depth}});
      met &= measure(fmt::format("linear_gelu K={} N={} M={}", depth, columns, rows), subject,
                     rows == 32 ? 0.85 : 0.90, tries);
    }
  }
  return met;
}

bool attention(int tries) {
  bool met = true;
  for (const auto& [heads, width] : {std::pair<int64_t, int64_t>{12, 32}, {16, 64}}) {
    graph::Graph g;
    const TensorType type{Shape::batch_seq(sym::batch(), sym::seq(), heads * width), DType::F32};
    const auto q = g.input("q", type), k = g.input("k", type), v = g.input("v", type);
    g.set_outputs({{"y", g.attention(q, k, v, {.heads = heads, .head_dim = width})}});
    Subject subject(g);
    for (const int64_t seq : {128, 512}) {
      const std::vector<int64_t> shape = {8, seq, heads * width};
      subject.bind({shape, shape, shape});
      met &= measure(fmt::format("attention heads={} width={} batch=8 seq={}", heads, width, seq),
                     subject, 0.60, tries);
    }
  }
  return met;
}

bool encoder(int tries) {
  const auto model = std::make_shared<const std::string>(make_encoder::encoder_model({}));
  Subject subject(onnx::import_bytes(std::as_bytes(std::span(*model)), model, "encoder"));
  bool met = true;
  for (const auto& [batch, gate] : {std::pair<int64_t, double>{8, 0.80}, {1, 0.75}}) {
    const std::vector<int64_t> shape = {batch, 128};
    subject.bind({shape, shape, shape});
    met &= measure(fmt::format("encoder batch={} seq=128", batch), subject, gate, tries);
  }
  return met;
}

struct Benchmark {
  std::string_view name;
  bool (*run)(int tries);
};
constexpr Benchmark kBenchmarks[] = {
    {"linear", linear}, {"attention", attention}, {"encoder", encoder}};

constexpr const char* kUsage =
    "usage: bench_kernels [linear|attention|encoder] [--tries N | --glance] [--rows TEXT]\n";

int run(std::span<char* const> words) {
  std::string only;
  int tries = 5;
  for (size_t i = 0; i < words.size(); ++i) {
    const std::string word = words[i];
    const bool more = i + 1 < words.size();
    if (word == "--tries" && more) {
      tries = std::atoi(words[++i]);
    } else if (word == "--rows" && more) {
      only_rows = words[++i];
    } else if (word == "--glance") {
      tries = 0;
    } else if (std::ranges::any_of(kBenchmarks, [&](const auto& b) { return b.name == word; })) {
      only = word;
    } else {
      throw user_error("{}", kUsage);
    }
  }
  bool met = true;
  for (const Benchmark& b : kBenchmarks) {
    if (only.empty() || only == b.name) met &= b.run(tries);
  }
  return met ? 0 : 1;
}

}  // namespace
}  // namespace tenon

int main(int argc, char** argv) {
  try {
    return tenon::run({argv + 1, argv + argc});
  } catch (const std::exception& error) {
    std::fprintf(stderr, "bench_kernels: %s\n", error.what());
    return 2;
  }
}
