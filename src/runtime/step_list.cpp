// See step_list.h.
#include "runtime/step_list.h"

#include <algorithm>
#include <tuple>

#include "program/print.h"
#include "runtime/cpu/call_kernel.h"
#include "runtime/thread_count.h"

namespace tenon::runtime {
Result<StepList> StepList::make(const program::Program& program,
                                std::span<const program::Step> steps,
                                std::span<const program::KernelFunction> functions,
                                const Variables& variables) {
  StepList list;
  list.program_ = &program;
  list.steps_ = steps;
  list.dims_ = DimTable(variables);
  for (const program::Step& step : steps) {
    list.bind(step, functions[static_cast<size_t>(step.code)]);
    if (!list.dims_.unknown_symbol().empty()) {
      return internal_error(
          "[program] step '{} {}' depends on {}, which is not a symbol of any input", step.kind,
          step.origin, list.dims_.unknown_symbol());
    }
  }
  list.dim_values_.resize(list.dim_positions_.size());
  return list;
}

void StepList::bind(const program::Step& step, program::KernelFunction function) {
  bound_.push_back({.function = function,
                    .pointers = static_cast<int>(pointers_.size()),
                    .dims = static_cast<int>(dim_positions_.size())});
  positions_.push_back({.grid = dims_.add(step.grid),
                        .scratch = dims_.add(step.scratch_bytes),
                        .flops = dims_.add(step.flops),
                        .bytes = dims_.add(step.bytes)});
  for (const Dim& dim : step.dims) dim_positions_.push_back(dims_.add(dim));
  for (const program::BufferRef& ref : step.buffers) {
    references_[static_cast<size_t>(root_of(*program_, ref).kind)].push_back(
        {static_cast<int>(pointers_.size()), ref});
    pointers_.push_back(nullptr);
  }
}

Status StepList::resolve(std::span<const int64_t> variables, int threads) {
  if (!dims_.evaluate(variables))
    return user_error("the inputs' extents are too large to compute with");
  for (size_t i = 0; i < dim_positions_.size(); ++i) dim_values_[i] = dims_[dim_positions_[i]];
  scratch_bytes_ = 0;
  flops_ = 0;
  int workers = 1;
  for (size_t i = 0; i < bound_.size(); ++i) {
    const Positions& at = positions_[i];
    bound_[i].grid = dims_[at.grid];
    bound_[i].threads = thread_count(dims_[at.flops], dims_[at.bytes], bound_[i].grid, threads);
    workers = std::max(workers, bound_[i].threads);
    scratch_bytes_ = std::max(scratch_bytes_, (dims_[at.scratch] + 63) / 64 * 64);
    if (__builtin_add_overflow(flops_, dims_[at.flops], &flops_))
      return user_error("the inputs' extents are too large to compute with");
  }
  if (static_cast<int>(faults_.size()) < workers) faults_.resize(static_cast<size_t>(workers));
  return {};
}

void StepList::run_step(const Bound& step, ThreadPool& pool, std::byte* scratch) {
  void* const* pointers = pointers_.data() + step.pointers;
  const int64_t* dims = dim_values_.data() + step.dims;
  if (step.threads == 1) {
    cpu::call_kernel(step.function, pointers, dims, scratch, 0, step.grid, faults_[0].words.data());
    return;
  }
  pool.parallel_for(step.grid, step.threads, [&](int64_t begin, int64_t end, int worker) {
    cpu::call_kernel(step.function, pointers, dims, scratch + worker * scratch_bytes_, begin, end,
                     faults_[worker].words.data());
  });
}

Status StepList::run(ThreadPool& pool, std::byte* scratch) {
  for (size_t i = 0; i < bound_.size(); ++i) {
    run_step(bound_[i], pool, scratch);
    if (Status status = check_fault(i); !status.ok()) return status;
  }
  return {};
}

Status StepList::check_fault(size_t step) {
  for (int worker = 0; worker < bound_[step].threads; ++worker) {
    auto& words = faults_[static_cast<size_t>(worker)].words;
    if (words[0] == 0) continue;
    const auto [position, index, extent] = std::tuple(words[0] - 1, words[1], words[2]);
    for (Fault& fault : faults_) fault.words.fill(0);
    const program::Step& source = steps_[step];
    const bool known = position >= 0 && position < static_cast<int64_t>(source.buffers.size());
    return user_error("[{}] {}: index {} lies outside 0..{}{}", source.kind, source.origin, index,
                      extent - 1,
                      known ? " of " + program::describe(*program_, source.buffers[position]) : "");
  }
  return {};
}

}  // namespace tenon::runtime
