// See workbench.h.
#include "tune/workbench.h"

#include <algorithm>
#include <chrono>
#include <cstring>

#include "base/error.h"
#include "base/thread_pool.h"
#include "driver/program_builder.h"

namespace tenon::tune {

using kernel::Source;

namespace {

using Clock = std::chrono::steady_clock;

// Buffers that begin at the same place of a page compete for the same sets of caches.
constexpr int64_t kSkewBytes = 2048;
constexpr int kMostRuns = 1 << 20;

double milliseconds_since(Clock::time_point begin) {
  return std::chrono::duration<double, std::milli>(Clock::now() - begin).count();
}

// Numbers that products of do not grow; integers that are most likely indices, of at least two
// elements, unless they are so narrow that they are data.
void fill_random(DType dtype, std::byte* data, int64_t bytes, bool zero_indices, uint32_t state) {
  const int64_t size = size_of(dtype);
  const bool is_data = dtype == DType::I8 || dtype == DType::U8 || is_storage_only(dtype);
  for (int64_t at = 0; at + size <= bytes; at += size) {
    state = state * 1664525U + 1013904223U;
    const uint32_t bits = state >> 8;
    if (is_data) {
      std::memcpy(data + at, &bits, static_cast<size_t>(size));
    } else if (is_float(dtype)) {
      store_from_f64(dtype, data + at, static_cast<double>(bits) * 0x1p-23 - 1);
    } else {
      store_from_i64(dtype, data + at, zero_indices ? 0 : bits >> 8 & 1);
    }
  }
}

}  // namespace

Candidate::Candidate(const kernel::Kernel& scheduled, std::shared_ptr<const program::Code> code) {
  program::Step step = driver::step_of(scheduled);
  step.origin = "tuning";
  for (const kernel::Buffer& buffer : scheduled.buffers) {
    if (buffer.storage != kernel::Storage::Global) continue;
    step.buffers.push_back({program::BufferKind::Arena, static_cast<int>(tensors_.size())});
    program_.arena.push_back({buffer.elements * size_of(buffer.dtype)});
    tensors_.emplace_back(buffer.source, buffer.source_index);
  }
  program_.steps.push_back(std::move(step));
  program_.code.push_back(std::move(code));
}

Workbench::Workbench(const driver::Backend& backend, const schedule::Scheduled& by_model,
                     const Extents& extents, int threads)
    : extents_(extents), threads_(threads > 0 ? threads : thread_pool().max_threads()) {
  for (const kernel::Kernel& pack : by_model.packs) add_tensors(pack, true);
  add_tensors(by_model.kernel, false);
  by_model_ = prepare(by_model.kernel, backend.generate(by_model.kernel));
  for (const bool zero_indices : {false, true}) {
    fill(zero_indices);
    pack(backend, by_model);
    const Status status = run(*by_model_);
    if (status.ok()) break;
    if (zero_indices) throw status.error();
  }
  for (auto& [key, tensor] : tensors_) {
    if (tensor.written) tensor.after.assign(tensor.data(), tensor.data() + tensor.bytes);
  }
}

void Workbench::add_tensors(const kernel::Kernel& kernel, bool is_pack) {
  for (const kernel::Buffer& buffer : kernel.buffers) {
    if (buffer.storage != kernel::Storage::Global) continue;
    Tensor& tensor = tensors_[{buffer.source, buffer.source_index}];
    tensor.written = tensor.written || (buffer.written && !is_pack);
    if (tensor.memory.data()) continue;
    const auto elements = evaluate(buffer.elements, extents_);
    if (!elements || *elements < 0)
      throw user_error("[tune] {}: tensors have no size at these extents", kernel.name);
    tensor.dtype = buffer.dtype;
    tensor.bytes = *elements * size_of(buffer.dtype);
    tensor.skew = static_cast<int64_t>(tensors_.size() - 1) * kSkewBytes;
    tensor.memory.reserve(tensor.bytes + tensor.skew + 1, "tuning").throw_if_error();
  }
}

void Workbench::fill(bool zero_indices) {
  uint32_t seed = 1;
  for (auto& [key, tensor] : tensors_) {
    if (key.first == Source::Packed) continue;
    fill_random(tensor.dtype, tensor.data(), tensor.bytes, zero_indices, seed++);
    if (tensor.written) tensor.before.assign(tensor.data(), tensor.data() + tensor.bytes);
  }
}

void Workbench::pack(const driver::Backend& backend, const schedule::Scheduled& by_model) {
  for (const kernel::Kernel& kernel : by_model.packs)
    run(*prepare(kernel, backend.generate(kernel))).throw_if_error();
}

std::unique_ptr<Candidate> Workbench::prepare(const kernel::Kernel& scheduled,
                                              std::shared_ptr<const program::Code> code) {
  auto candidate = std::make_unique<Candidate>(scheduled, std::move(code));
  runtime::Variables variables;
  std::vector<int64_t> values;
  for (const Symbol& symbol : scheduled.dims) {
    variables[symbol.name()] = static_cast<int>(values.size());
    values.push_back(extents_.at(symbol.name()));
  }
  const program::Program& program = candidate->program_;
  runtime::cpu::CpuStream stream(thread_pool());
  auto steps = runtime::StepList::make(program, program.steps, variables).take();
  candidate->runner_ = stream.prepare(std::move(steps), stream.load(program).take()).take();
  runtime::StepRunner& runner = *candidate->runner_;
  runner.resolve(values, threads_).throw_if_error();
  runner.steps().point(program::BufferKind::Arena, [&](const program::BufferRef& ref) -> void* {
    return tensors_.at(candidate->tensors_[static_cast<size_t>(ref.index)]).data();
  });
  candidate->scratch_.reserve(runner.scratch_bytes(), "tuning").throw_if_error();
  return candidate;
}

Status Workbench::run(Candidate& candidate) {
  return candidate.runner_->run(candidate.scratch_.data(), {});
}

bool Workbench::gives_the_same(Candidate& candidate) {
  for (auto& [key, tensor] : tensors_) std::ranges::copy(tensor.before, tensor.data());
  if (!run(candidate).ok()) return false;
  return std::ranges::all_of(tensors_, [](const auto& entry) {
    const Tensor& tensor = entry.second;
    return std::equal(tensor.after.begin(), tensor.after.end(), tensor.data());
  });
}

double Workbench::time(Candidate& candidate, double slice_ms) {
  int& runs = candidate.runs_per_slice_;
  while (true) {
    const auto begin = Clock::now();
    for (int i = 0; i < runs; ++i) run(candidate).throw_if_error();
    const double elapsed = milliseconds_since(begin);
    if (elapsed >= slice_ms / 2 || runs >= kMostRuns) return elapsed / runs;
    runs *= elapsed > slice_ms / 16 ? 2 : 8;
  }
}

}  // namespace tenon::tune
