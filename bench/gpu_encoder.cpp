// The encoder on a GPU: its numbers against the interpreter of the tensor IR (the largest
// difference over the root mean square), then how long a run takes from inputs to outputs in host
// memory, and the first one with its compilation.
//
//   bench_gpu_encoder [ROW...] [--check]      f32, bf16, rounded_to_bf16, all_bf16; --check: no
//   timing
#include <fmt/format.h>
#include <unistd.h>

#include <algorithm>
#include <cmath>
#include <cstdio>
#include <filesystem>
#include <span>
#include <string>
#include <vector>

#include "bench/program.h"
#include "bench/subject.h"
#include "graph/interpret.h"
#include "import/onnx/onnx.h"
#include "tenon/tenon.h"
#include "tools/make_encoder/encoder_model.h"
#include "tools/make_encoder/onnx_writer.h"

namespace tenon::bench {
namespace {

constexpr int64_t kVocabulary = 30522;
constexpr double kSeconds = 1;  // of timing, per shape

// f32; weights that are bf16 multiplied as bf16, the rest f32; weights of f32 rounded for that,
// too; and everything in bf16, outputs included: there one unit in the last place of a large
// element is 0.04 of the root mean square, so only the time says much.
enum class Weights { F32, Short, Bf16 };
struct Row {
  const char* name;
  Weights weights;
  const char* precision;
  double gate;  // of the difference; 0: none
};
constexpr Row kRows[] = {{"f32", Weights::F32, "f32", 1e-5},
                         {"bf16", Weights::Short, "bf16", 2e-2},
                         {"rounded_to_bf16", Weights::F32, "bf16", 0},
                         {"all_bf16", Weights::Bf16, "f32", 0}};

struct Shape {
  int64_t batch, seq;
};
constexpr Shape kChecked[] = {{1, 16}, {2, 33}};
constexpr Shape kTimed[] = {{1, 16}, {1, 128}, {8, 128}, {32, 128}};

// A model file that is gone when we are.
class ModelFile {
 public:
  explicit ModelFile(const Row& row)
      : path_(std::filesystem::temp_directory_path() /
              fmt::format("tenon_encoder_{}_{}.onnx", row.name, getpid())) {
    make_encoder::EncoderOptions options;
    options.bf16 = row.weights == Weights::Bf16;
    options.bf16_weights = row.weights == Weights::Short;
    make_encoder::write_file(path_.string(), make_encoder::encoder_model(options));
  }
  ~ModelFile() { std::filesystem::remove(path_); }
  ModelFile(const ModelFile&) = delete;
  ModelFile& operator=(const ModelFile&) = delete;
  std::string path() const { return path_.string(); }

 private:
  std::filesystem::path path_;
};

struct Inputs {
  explicit Inputs(Shape s) : shape{s.batch, s.seq} {
    const auto count = static_cast<size_t>(s.batch * s.seq);
    for (size_t i = 0; i < count; ++i) {
      ids.push_back(static_cast<int64_t>(i * 7919 % kVocabulary));
      // The last row of a batch is shorter than the others.
      const bool inside = s.batch == 1 || i + 3 < count;
      mask.push_back(inside ? 1 : 0);
      types.push_back(static_cast<int64_t>(i % 2));
    }
  }
  NamedInputs views() const {
    return {{"input_ids", view(ids, shape)},
            {"attention_mask", view(mask, shape)},
            {"token_type_ids", view(types, shape)}};
  }
  std::map<std::string, graph::Tensor> tensors() const {
    const auto tensor = [&](const std::vector<int64_t>& values) {
      const auto bytes = std::as_bytes(std::span(values));
      return graph::Tensor{DType::I64, shape, {bytes.begin(), bytes.end()}};
    };
    return {{"input_ids", tensor(ids)},
            {"attention_mask", tensor(mask)},
            {"token_type_ids", tensor(types)}};
  }

  std::vector<int64_t> shape, ids, mask, types;
};

// The largest difference, of finite numbers, over the root mean square of what is expected.
double difference(const OwnedTensor& actual, const graph::Tensor& expected) {
  double most = 0, squares = 0;
  const auto size = static_cast<size_t>(size_of(expected.dtype));
  const size_t count = expected.bytes.size() / size;
  for (size_t i = 0; i < count; ++i) {
    const double want = load_as_f64(expected.dtype, &expected.bytes[i * size]);
    const double got = load_as_f64(expected.dtype, &actual.bytes[i * size]);
    if (!std::isfinite(got)) return INFINITY;
    most = std::max(most, std::abs(got - want));
    squares += want * want;
  }
  return most / std::sqrt(squares / static_cast<double>(count));
}

bool check(const Row& row, const std::string& path, CompiledGraph& encoder) {
  const graph::Graph g = onnx::import_file(path, {});
  bool met = true;
  for (const Shape& shape : kChecked) {
    const Inputs inputs(shape);
    const double found =
        difference(encoder.run_typed(inputs.views())[0], graph::interpret(g, inputs.tensors())[0]);
    const bool holds = row.gate == 0 || found <= row.gate;
    met = met && holds;
    fmt::print(
        R"({{"row": "encoder_{}", "batch": {}, "seq": {}, "difference": {:.3g}, "gate": {}, "met": {}}})"
        "\n",
        row.name, shape.batch, shape.seq, found, row.gate, holds);
    std::fflush(stdout);
  }
  return met;
}

void time(const Row& row, CompiledGraph& encoder) {
  for (const Shape& shape : kTimed) {
    const Inputs inputs(shape);
    const NamedInputs views = inputs.views();
    std::vector<OwnedTensor> owned = encoder.run_typed(views);
    NamedOutputs outputs = {
        {owned[0].name, {owned[0].bytes.data(), owned[0].dtype, owned[0].shape}}};
    std::vector<double> runs;
    for (const auto start = Clock::now(); seconds_since(start) < kSeconds || runs.size() < 20;) {
      const auto run = Clock::now();
      encoder.run_into(views, outputs);
      runs.push_back(seconds_since(run));
    }
    std::ranges::nth_element(runs, runs.begin() + static_cast<std::ptrdiff_t>(runs.size() / 2));
    fmt::print(R"({{"row": "encoder_{}", "batch": {}, "seq": {}, "milliseconds": {:.4f}}})"
               "\n",
               row.name, shape.batch, shape.seq, runs[runs.size() / 2] * 1e3);
    std::fflush(stdout);
  }
}

bool measure(const Row& row, bool timed) {
  const ModelFile file(row);
  const Inputs inputs({1, 128});
  const auto start = Clock::now();
  CompileOptions options;
  options.device = Device::Cuda(0);
  options.precision = row.precision;
  CompiledGraph encoder = Session().compile_onnx(file.path(), options);
  const double compiled = seconds_since(start);
  encoder.run_typed(inputs.views());
  fmt::print(R"({{"row": "encoder_{}", "compile_seconds": {:.3f}, "first_call_seconds": {:.3f}}})"
             "\n",
             row.name, compiled, seconds_since(start));
  if (timed) time(row, encoder);
  return check(row, file.path(), encoder);
}

bool run(std::span<char* const> arguments) {
  std::vector<std::string> chosen(arguments.begin(), arguments.end());
  const bool timed = std::erase(chosen, "--check") == 0;
  bool met = true;
  for (const Row& row : kRows) {
    if (chosen.empty() || std::ranges::count(chosen, row.name) > 0)
      met = measure(row, timed) && met;
  }
  return met;
}

}  // namespace
}  // namespace tenon::bench

int main(int argc, char** argv) {
  return tenon::bench::program("bench_gpu_encoder", tenon::bench::run, argc, argv);
}
