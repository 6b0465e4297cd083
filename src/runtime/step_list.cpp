// See step_list.h.
#include "runtime/step_list.h"

#include <algorithm>

#include "program/print.h"
#include "program/work.h"
#include "runtime/cpu/call_kernel.h"
#include "runtime/thread_count.h"

namespace tenon::runtime {
namespace {

// How long a run goes on after it was cancelled, by the estimate of work, where items are shorter.
constexpr double kMicrosecondsPerPiece = 200;

}  // namespace

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
  list.batches_.reserve(steps.size());
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

double StepList::microseconds(int step) const {
  const Positions& at = positions_[static_cast<size_t>(step)];
  return program::microseconds(static_cast<double>(dims_[at.flops]),
                               static_cast<double>(dims_[at.bytes]));
}

Status StepList::resolve(std::span<const int64_t> variables, int threads) {
  if (!dims_.evaluate(variables))
    return user_error("the inputs' extents are too large to compute with");
  for (size_t i = 0; i < dim_positions_.size(); ++i) dim_values_[i] = dims_[dim_positions_[i]];
  scratch_bytes_ = 0;
  flops_ = 0;
  for (size_t i = 0; i < bound_.size(); ++i) {
    const Positions& at = positions_[i];
    const double estimate = microseconds(static_cast<int>(i));
    bound_[i].grid = dims_[at.grid];
    bound_[i].threads = thread_count(estimate, bound_[i].grid, threads);
    const double pieces = estimate / kMicrosecondsPerPiece;
    bound_[i].piece =
        pieces <= 1 ? std::max<int64_t>(bound_[i].grid, 1)
                    : std::max<int64_t>(
                          static_cast<int64_t>(static_cast<double>(bound_[i].grid) / pieces), 1);
    scratch_bytes_ = std::max(scratch_bytes_, (dims_[at.scratch] + 63) / 64 * 64);
    if (__builtin_add_overflow(flops_, dims_[at.flops], &flops_))
      return user_error("the inputs' extents are too large to compute with");
  }
  make_batches(threads);
  return {};
}

// Neighbours of a wave that cannot occupy all threads are one batch.
void StepList::make_batches(int threads) {
  batches_.clear();
  units_.clear();
  workers_ = 1;
  const auto count = static_cast<int>(bound_.size());
  for (int first = 0; first < count;) {
    int last = first + 1;
    const auto occupies_all = [&](int step) {
      return bound_[static_cast<size_t>(step)].threads == threads;
    };
    while (last < count && !occupies_all(first) && !occupies_all(last) &&
           steps_[static_cast<size_t>(last)].with_previous) {
      ++last;
    }
    add_batch(first, last, threads);
    first = last;
  }
  if (static_cast<int>(faults_.size()) < workers_) faults_.resize(static_cast<size_t>(workers_));
}

void StepList::add_batch(int first, int last, int threads) {
  double estimate = 0;
  int64_t pieces = 0;
  for (int i = first; i < last; ++i) {
    const Bound& step = bound_[static_cast<size_t>(i)];
    estimate += microseconds(i);
    if (step.grid > 0) pieces += step.threads;
  }
  const int worth = thread_count(estimate, pieces, threads);
  if (last - first == 1 || worth == 1) {
    for (int i = first; i < last; ++i) {
      batches_.push_back({i, i + 1, bound_[static_cast<size_t>(i)].threads, 0, 0});
      workers_ = std::max(workers_, batches_.back().threads);
    }
    return;
  }
  Batch batch{first, last, worth, static_cast<int>(units_.size()), 0};
  for (int i = first; i < last; ++i) {
    const Bound& step = bound_[static_cast<size_t>(i)];
    for (int64_t unit = 0; unit < step.threads && step.grid > 0; ++unit) {
      units_.push_back({i, step.grid * unit / step.threads, step.grid * (unit + 1) / step.threads});
    }
  }
  batch.units_end = static_cast<int>(units_.size());
  batches_.push_back(batch);
  workers_ = std::max(workers_, worth);
}

void StepList::run_items(int index, int64_t begin, int64_t end, std::byte* scratch, int worker,
                         const std::stop_token& stop) {
  const Bound& step = bound_[static_cast<size_t>(index)];
  const int64_t piece = stop.stop_possible() ? step.piece : end - begin;
  Fault& fault = faults_[static_cast<size_t>(worker)];
  std::array<int64_t, program::kFaultWords> words{};
  for (int64_t at = begin; at < end; at += piece) {
    if (stop.stop_requested()) return;
    cpu::call_kernel(step.function, pointers_.data() + step.pointers,
                     dim_values_.data() + step.dims, scratch + worker * scratch_bytes_, at,
                     std::min(at + piece, end), words.data());
  }
  if (words[0] == 0 || (fault.step >= 0 && fault.step < index)) return;
  fault.words = words;
  fault.step = index;
}

void StepList::run_batch(const Batch& batch, ThreadPool& pool, std::byte* scratch,
                         const std::stop_token& stop) {
  if (batch.units_begin < batch.units_end) {
    pool.parallel_for(batch.units_end - batch.units_begin, batch.threads,
                      [&](int64_t begin, int64_t end, int worker) {
                        for (int64_t i = begin; i < end; ++i) {
                          const Unit& unit = units_[static_cast<size_t>(batch.units_begin + i)];
                          run_items(unit.step, unit.begin, unit.end, scratch, worker, stop);
                        }
                      });
    return;
  }
  const int64_t grid = bound_[static_cast<size_t>(batch.first)].grid;
  if (batch.threads == 1) {
    run_items(batch.first, 0, grid, scratch, 0, stop);
    return;
  }
  pool.parallel_for(grid, batch.threads, [&](int64_t begin, int64_t end, int worker) {
    run_items(batch.first, begin, end, scratch, worker, stop);
  });
}

Status StepList::run(ThreadPool& pool, std::byte* scratch, const std::stop_token& stop) {
  was_stopped_ = false;
  for (const Batch& batch : batches_) {
    run_batch(batch, pool, scratch, stop);
    if (Status status = check_faults(batch.threads); !status.ok()) return status;
    was_stopped_ = stop.stop_requested();
    if (was_stopped_) return user_error("[run] cancelled");
  }
  return {};
}

// The first step of those that failed.
Status StepList::check_faults(int workers) {
  const Fault* first = nullptr;
  for (int worker = 0; worker < workers; ++worker) {
    const Fault& fault = faults_[static_cast<size_t>(worker)];
    if (fault.step >= 0 && (!first || fault.step < first->step)) first = &fault;
  }
  if (!first) return {};
  const Fault found = *first;
  std::ranges::fill(faults_, Fault{});
  const program::Step& source = steps_[static_cast<size_t>(found.step)];
  const int64_t position = found.words[0] - 1;
  const bool known = position >= 0 && position < static_cast<int64_t>(source.buffers.size());
  return user_error("[{}] {}: index {} lies outside 0..{}{}", source.kind, source.origin,
                    found.words[1], found.words[2] - 1,
                    known ? " of " + program::describe(*program_, source.buffers[position]) : "");
}

}  // namespace tenon::runtime
