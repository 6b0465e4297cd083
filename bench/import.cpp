// How long a large model takes to be imported and verified, and how much anonymous memory that
// takes beyond what the process began with: a model of NODES nodes in blocks as exporters write
// them (matrix products with weights, elementwise ops, shape arithmetic), written to a file first.
//
//   bench_import [NODES]
#include <fmt/format.h>
#include <unistd.h>

#include <algorithm>
#include <atomic>
#include <chrono>
#include <cstdio>
#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <string>
#include <thread>
#include <vector>

#include "graph/graph.h"
#include "import/onnx/onnx.h"
#include "tools/make_encoder/onnx_writer.h"

namespace tenon {
namespace {

using Clock = std::chrono::steady_clock;
using make_encoder::kFloat;
using make_encoder::OnnxWriter;

constexpr int kWidth = 40;  // of the weights: 6.4 KB each, so that they stay in the file

double milliseconds_since(Clock::time_point start) {
  return std::chrono::duration<double, std::milli>(Clock::now() - start).count();
}

// x -> reshape(relu(x @ w + b) * s, the shape of x): ten nodes.
std::string block(OnnxWriter& w, const std::string& x, int number) {
  const std::string suffix = fmt::format("_{}", number);
  const std::vector<float> weights(kWidth * kWidth, 1.0f / static_cast<float>(number + 1));
  const std::span<const float> row(weights.data(), kWidth);
  w.floats("w" + suffix, {kWidth, kWidth}, weights);
  w.floats("b" + suffix, {kWidth}, row);
  w.int64s("zero", {0});
  w.int64s("one", {1});
  std::string y = w.node("MatMul", {x, "w" + suffix});
  y = w.node("Add", {y, "b" + suffix});
  y = w.node("Mul", {w.node("Relu", {y}), w.scalar("s", 0.5f)});
  const std::string shape = w.node("Shape", {x});
  const std::string rows = w.node("Gather", {shape, "zero"}, {{"axis", int64_t{0}}});
  const std::string columns = w.node("Gather", {shape, "one"}, {{"axis", int64_t{0}}});
  const std::string target = w.node("Concat", {rows, columns}, {{"axis", int64_t{0}}});
  return w.node("Add", {w.node("Reshape", {y, target}), x});
}

std::string make_model(int nodes) {
  OnnxWriter w({{"", 16}});
  w.input("x", kFloat, {"rows", kWidth});
  std::string x = "x";
  for (int i = 0; i < nodes / 10; ++i) x = block(w, x, i);
  w.untyped_output(x);
  return w.finish();
}

// Bytes of memory that no file backs.
int64_t anonymous_bytes() {
  std::ifstream status("/proc/self/status");
  for (std::string line; std::getline(status, line);) {
    if (line.starts_with("RssAnon:")) return std::strtoll(line.c_str() + 8, nullptr, 10) * 1024;
  }
  return 0;
}

// The largest value while it lives.
class PeakWatch {
 public:
  PeakWatch() : thread_([this] { watch(); }) {}
  ~PeakWatch() { stop(); }
  PeakWatch(const PeakWatch&) = delete;
  PeakWatch& operator=(const PeakWatch&) = delete;

  int64_t stop() {
    done_ = true;
    if (thread_.joinable()) thread_.join();
    return peak_;
  }

 private:
  void watch() {
    while (!done_) {
      peak_ = std::max(peak_, anonymous_bytes());
      std::this_thread::sleep_for(std::chrono::milliseconds(2));
    }
  }

  std::atomic<bool> done_{false};
  int64_t peak_ = 0;
  std::thread thread_;
};

void measure(const std::string& path, int nodes) {
  const int64_t before = anonymous_bytes();
  PeakWatch watch;
  const Clock::time_point start = Clock::now();
  const graph::Graph g = onnx::import_file(path);
  const double import_ms = milliseconds_since(start);
  const Clock::time_point imported = Clock::now();
  graph::verify(g);
  const double verify_ms = milliseconds_since(imported);
  const double peak = static_cast<double>(watch.stop() - before) / 1e6;
  const double kept = static_cast<double>(anonymous_bytes() - before) / 1e6;
  fmt::print(
      "{{\"bench\": \"import\", \"nodes\": {}, \"import_ms\": {:.1f}, \"verify_ms\": {:.1f}, "
      "\"peak_anonymous_mb\": {:.1f}, \"kept_anonymous_mb\": {:.1f}}}\n",
      nodes, import_ms, verify_ms, peak, kept);
}

}  // namespace
}  // namespace tenon

namespace {

// The measurement is in a process of its own: memory the generator frees would hide what the import
// takes.
int run(int argc, char** argv) {
  int nodes = 20000;
  if (argc > 1) nodes = static_cast<int>(std::strtol(argv[1], nullptr, 10));
  if (argc > 3 && std::string_view(argv[2]) == "--model") {
    tenon::measure(argv[3], nodes);
    return 0;
  }
  const std::string path =
      (std::filesystem::temp_directory_path() / fmt::format("tenon_import_{}.onnx", ::getpid()))
          .string();
  tenon::make_encoder::write_file(path, tenon::make_model(nodes));
  const int code = std::system(fmt::format("'{}' {} --model '{}'", argv[0], nodes, path).c_str());
  std::filesystem::remove(path);
  return code == 0 ? 0 : 1;
}

}  // namespace

int main(int argc, char** argv) {
  try {
    return run(argc, argv);
  } catch (const std::exception& error) {
    std::fprintf(stderr, "bench_import: %s\n", error.what());
    return 1;
  }
}
