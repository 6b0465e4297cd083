// Any bytes as an artifact whose header is right about them, since a digest would stop nearly all:
// they give a Program that prints, or a User error. What was accepted is run, with a function that
// does nothing in place of its machine code.
#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <cstring>
#include <string>

#include "program/artifact.h"
#include "program/artifact_header.h"
#include "program/print.h"
#include "runtime/executor.h"
#include "runtime/run_owned.h"
#include "tests/fuzz/no_internal_error.h"

namespace tenon::fuzz {
namespace {

using program::Program;

constexpr int64_t kMostBytes = 1 << 20;  // of an input or a parameter

void nothing(void* const*, const int64_t*, void*, int64_t, int64_t, int64_t*) {}

// Nobody knows how often a loop runs.
bool has_loop(const Program& program) {
  return std::ranges::any_of(program.host_steps, [](const program::HostStep& step) {
    return step.kind == program::HostKind::Loop ||
           std::ranges::any_of(step.bodies, [](const auto& body) { return has_loop(*body); });
  });
}

size_t most_code(const Program& program) {
  size_t most = program.code.size();
  for (const program::HostStep& step : program.host_steps) {
    for (const auto& body : step.bodies) most = std::max(most, most_code(*body));
  }
  return most;
}

struct Tensor {
  DType dtype;
  std::vector<int64_t> shape;
  std::vector<std::byte> bytes;
};

// Zeros, with small extents; none where they are not small.
std::optional<Tensor> small_tensor(const TensorType& type) {
  const SymbolValues small = [](const Symbol& symbol) -> std::optional<int64_t> {
    const Bounds bounds = symbol.bounds();
    return bounds.lo > bounds.hi ? bounds.lo : std::clamp(int64_t{2}, bounds.lo, bounds.hi);
  };
  Tensor tensor{type.dtype, {}, {}};
  for (const Dim& extent : type.shape) tensor.shape.push_back(extent.evaluate(small).value_or(-1));
  const auto bytes = runtime::dense_bytes(type.dtype, tensor.shape);
  if (!bytes || bytes.value() > kMostBytes) return std::nullopt;
  tensor.bytes.resize(static_cast<size_t>(bytes.value()));
  return tensor;
}

void run(const Program& read) {
  auto program = std::make_shared<Program>(read);
  program->device = program::DeviceKind::Cpu;
  program->cpu = {};
  static const std::unique_ptr<ThreadPool> pool = make_worker_pool({.max_threads = 1});
  auto executor = runtime::Executor::with_functions(
      program, *pool, std::vector<program::KernelFunction>(most_code(*program), nothing));
  if (!executor || has_loop(*program)) return;
  for (const program::ParamSlot& slot : program->params) {
    if (!slot.initial.empty()) continue;
    const auto value = small_tensor(slot.type);
    if (!value) return;
    executor.value()
        ->set_param(slot.name, slot.type.dtype, value->shape, value->bytes.data())
        .throw_if_error();
  }
  std::vector<Tensor> tensors;
  std::vector<runtime::IoView> inputs;
  for (const program::IoSlot& slot : program->inputs) {
    auto tensor = small_tensor(slot.type);
    if (!tensor) return;
    tensors.push_back(std::move(*tensor));
  }
  for (Tensor& tensor : tensors)
    inputs.push_back({tensor.bytes.data(), tensor.dtype, tensor.shape, {}});
  runtime::run_owned(*executor.value(), inputs, {.memory_limit = kMostBytes}).take();
}

}  // namespace
}  // namespace tenon::fuzz

extern "C" int LLVMFuzzerTestOneInput(const uint8_t* data, size_t size) {
  using tenon::program::ArtifactHeader;
  std::string bytes(reinterpret_cast<const char*>(data), size);
  if (size >= sizeof(ArtifactHeader)) {
    ArtifactHeader header;
    std::memcpy(&header.weight_bytes, data + offsetof(ArtifactHeader, weight_bytes), 8);
    const uint64_t rest = size - sizeof(header);
    header.weight_bytes = std::min(header.weight_bytes, rest);
    header.program_bytes = rest - header.weight_bytes;
    const auto all = std::as_bytes(std::span(bytes)).subspan(sizeof(header));
    header.digest = header.compute_digest(all.first(header.program_bytes)).bytes;
    std::memcpy(bytes.data(), &header, sizeof(header));
  }
  tenon::fuzz::expect_no_internal_error([&] {
    const auto artifact =
        tenon::program::Artifact::open({std::as_bytes(std::span(bytes)), nullptr, "fuzz"}).take();
    const auto weights = artifact->weights().take();
    for (size_t variant = 0; variant < artifact->variants().size(); ++variant) {
      const auto program = artifact->program(variant, weights, /*checked=*/false).take();
      tenon::program::print(*program);
      tenon::fuzz::run(*program);
    }
  });
  return 0;
}
