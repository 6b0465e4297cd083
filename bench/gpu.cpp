// Rates of single kernels on a GPU, inputs and outputs in its memory, beside the rate at which it
// copies memory in the same run. Many runs are asked for before one waits: what is measured is the
// device.
//
//   bench_gpu [ROW...] [--device N]
#include <fmt/format.h>

#include <algorithm>
#include <cstdio>
#include <cstdlib>
#include <random>
#include <string>
#include <vector>

#include "base/thread_pool.h"
#include "bench/program.h"
#include "bench/subject.h"
#include "driver/pipeline.h"
#include "graph/graph.h"
#include "runtime/devices.h"
#include "runtime/executor.h"

namespace tenon::bench {
namespace {

constexpr int kRounds = 7;  // the median counts
constexpr double kRoundSeconds = 0.1;

TensorType matrix(DType dtype, int64_t width) { return {{Symbol("rows"), width}, dtype}; }

graph::Value softmax(graph::Graph& g) {
  return g.softmax(g.input("x", matrix(DType::BF16, 4096)), -1);
}
graph::Value layer_norm(graph::Graph& g) {
  const TensorType row{{4096}, DType::BF16};
  const auto x = g.input("x", matrix(DType::BF16, 4096));
  const auto scale = g.input("scale", row), bias = g.input("bias", row);
  return g.layer_norm(x, scale, bias, 1e-5);
}
graph::Value multiply_add_relu(graph::Graph& g) {
  const auto type = matrix(DType::F32, 4096);
  const auto a = g.input("a", type), b = g.input("b", type), c = g.input("c", type);
  return g.relu(g.add(g.mul(a, b), c));
}
graph::Value product(graph::Graph& g) {
  const TensorType square{{4096, 4096}, DType::BF16};
  const auto a = g.input("a", square), b = g.input("b", square);
  return g.matmul(a, b);
}
graph::Value product_of_f32(graph::Graph& g) {
  const TensorType square{{4096, 4096}, DType::F32};
  const auto a = g.input("a", square), b = g.input("b", square);
  return g.matmul(a, b);
}

struct Row {
  const char* name;
  graph::Value (*build)(graph::Graph&);
  std::vector<std::vector<int64_t>> shapes;  // of the inputs, then of the output
  double amount;                             // bytes moved or operations done by a run
  const char* unit;                          // of 1e12 of these per second
  double gate;                               // 0: none
};

constexpr double kRowBytes = 16384.0 * 4096 * 2;
constexpr double kProduct = 2.0 * 4096 * 4096 * 4096;
const Row kRows[] = {
    {"softmax_bf16", softmax, {{16384, 4096}, {16384, 4096}}, 2 * kRowBytes, "TB/s", 2.5},
    {"layer_norm_bf16",
     layer_norm,
     {{16384, 4096}, {4096}, {4096}, {16384, 4096}},
     2 * kRowBytes,
     "TB/s",
     2.5},
    {"multiply_add_relu_f32",
     multiply_add_relu,
     {{32768, 4096}, {32768, 4096}, {32768, 4096}, {32768, 4096}},
     4 * 32768.0 * 4096 * 4,
     "TB/s",
     3.6},
    {"product_bf16", product, {{4096, 4096}, {4096, 4096}, {4096, 4096}}, kProduct, "TFLOP/s", 250},
    {"product_f32",
     product_of_f32,
     {{4096, 4096}, {4096, 4096}, {4096, 4096}},
     kProduct,
     "TFLOP/s",
     0},
};

// One program on the device, with memory of the device for everything that it reads and writes.
class OnDevice {
 public:
  OnDevice(const Row& row, const std::shared_ptr<runtime::DeviceStream>& stream, int arch)
      : row_(row), stream_(stream) {
    graph::Graph g;
    g.set_outputs({{"y", row.build(g)}});
    driver::Options options;
    options.device = program::DeviceKind::Cuda;
    options.cuda_arch = arch;
    auto program = std::make_shared<program::Program>(driver::compile(g, options).program);
    executor_ = runtime::Executor::load(program, stream).take();
    for (size_t i = 0; i < row.shapes.size(); ++i) {
      const bool is_output = i + 1 == row.shapes.size();
      const DType dtype =
          is_output ? program->outputs[0].type.dtype : program->inputs[i].type.dtype;
      views_.push_back(view(row.shapes[i], dtype));
    }
    executor_->bind(inputs()).throw_if_error();
    run();
    wait();
  }

  void run() { executor_->commit({&views_.back(), 1}).throw_if_error(); }
  void wait() { executor_->wait().throw_if_error(); }

 private:
  std::span<const runtime::IoView> inputs() const { return {views_.data(), views_.size() - 1}; }

  runtime::IoView view(const std::vector<int64_t>& shape, DType dtype) {
    int64_t count = 1;
    for (const int64_t extent : shape) count *= extent;
    const int64_t bytes = count * size_of(dtype);
    memory_.emplace_back(*stream_);
    memory_.back().reserve(bytes, "a benchmark").throw_if_error();
    std::vector<std::byte> values(static_cast<size_t>(bytes));
    std::minstd_rand random(1);
    std::uniform_real_distribution<float> between(-1, 1);
    for (int64_t i = 0; i < count; ++i)
      store_from_f64(dtype, values.data() + i * size_of(dtype), between(random));
    stream_->copy_in(memory_.back().data(), values.data(), bytes).throw_if_error();
    return {.data = memory_.back().data(), .dtype = dtype, .shape = shape, .on_device = true};
  }

  const Row& row_;
  std::shared_ptr<runtime::DeviceStream> stream_;
  std::vector<runtime::MemoryBlock> memory_;
  std::vector<runtime::IoView> views_;
  std::unique_ptr<runtime::Executor> executor_;
};

// Seconds of one call, the median of rounds with many calls each.
template <typename Call, typename Wait>
double seconds_of(Call call, Wait wait) {
  int calls = 1;
  std::vector<double> rounds;
  while (rounds.size() < kRounds) {
    const auto start = Clock::now();
    for (int i = 0; i < calls; ++i) call();
    wait();
    const double seconds = seconds_since(start);
    if (seconds < kRoundSeconds && calls < 100000) {
      calls *= 2;
    } else {
      rounds.push_back(seconds / calls);
    }
  }
  std::ranges::nth_element(rounds, rounds.begin() + kRounds / 2);
  return rounds[kRounds / 2];
}

// Bytes read and written per second by a copy, in 1e12.
double copy_rate(runtime::DeviceStream& stream) {
  constexpr int64_t kBytes = int64_t{1} << 30;
  runtime::MemoryBlock from(stream), to(stream);
  from.reserve(kBytes, "a probe").throw_if_error();
  to.reserve(kBytes, "a probe").throw_if_error();
  const double seconds =
      seconds_of([&] { stream.copy_within(to.data(), from.data(), kBytes).throw_if_error(); },
                 [&] { stream.synchronize().throw_if_error(); });
  return 2.0 * static_cast<double>(kBytes) / seconds * 1e-12;
}

bool measure(const Row& row, const std::shared_ptr<runtime::DeviceStream>& stream, int arch) {
  OnDevice subject(row, stream, arch);
  const double copy = copy_rate(*stream);
  const double seconds = seconds_of([&] { subject.run(); }, [&] { subject.wait(); });
  const double rate = row.amount / seconds * 1e-12;
  const bool met = rate >= row.gate;
  fmt::print(
      R"({{"row": "{}", "microseconds": {:.2f}, "rate": {:.3f}, "unit": "{}", "gate": {}, "met": {}, "copy_TB_per_s": {:.3f}}})"
      "\n",
      row.name, seconds * 1e6, rate, row.unit, row.gate, met, copy);
  std::fflush(stdout);
  return met;
}

bool run(std::span<char* const> arguments) {
  std::vector<std::string> chosen;
  int index = 0;
  for (size_t i = 0; i < arguments.size(); ++i) {
    const std::string argument = arguments[i];
    if (argument == "--device" && i + 1 < arguments.size()) {
      index = std::atoi(arguments[++i]);
    } else {
      chosen.push_back(argument);
    }
  }
  const runtime::DeviceId device{program::DeviceKind::Cuda, index};
  const auto stream = runtime::open_stream(device, thread_pool()).take();
  const int arch = runtime::cuda_arch(index).take();
  bool met = true;
  for (const Row& row : kRows) {
    const bool wanted = chosen.empty() || std::ranges::count(chosen, row.name) > 0;
    if (wanted) met = measure(row, stream, arch) && met;
  }
  return met;
}

}  // namespace
}  // namespace tenon::bench

int main(int argc, char** argv) {
  return tenon::bench::program("bench_gpu", tenon::bench::run, argc, argv);
}
