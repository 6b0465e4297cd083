// See step_runner.h.
#include "runtime/cpu/step_runner.h"

#include <algorithm>

#include "runtime/cpu/call_kernel.h"
#include "runtime/thread_count.h"

namespace tenon::runtime::cpu {
namespace {

// How long a run goes on after it was cancelled, by the estimate of work, where items are shorter.
constexpr double kMicrosecondsPerPiece = 200;

int64_t items_per_piece(int64_t grid, double microseconds) {
  const double pieces = microseconds / kMicrosecondsPerPiece;
  const double items = pieces <= 1 ? static_cast<double>(grid) : static_cast<double>(grid) / pieces;
  return std::max<int64_t>(static_cast<int64_t>(items), 1);
}

}  // namespace

CpuStepRunner::CpuStepRunner(StepList steps, std::shared_ptr<const KernelFunctions> functions,
                             ThreadPool& pool)
    : StepRunner(std::move(steps)), functions_(std::move(functions)), pool_(pool) {
  for (int i = 0; i < steps_.size(); ++i) {
    calls_.push_back({.function = (*functions_)[steps_.step(i).code],
                      .pointers = steps_.pointers(i).data(),
                      .dims = steps_.dims(i).data()});
  }
  batches_.reserve(calls_.size());
}

void CpuStepRunner::run_code(std::shared_ptr<const LoadedCode> by_step) {
  if (by_step == by_step_) return;
  by_step_ = std::static_pointer_cast<const KernelFunctions>(std::move(by_step));
  for (int i = 0; i < steps_.size(); ++i) {
    calls_[static_cast<size_t>(i)].function =
        by_step_ ? (*by_step_)[i] : (*functions_)[steps_.step(i).code];
  }
}

Status CpuStepRunner::resolve(std::span<const int64_t> variables, int threads) {
  if (Status status = steps_.resolve(variables); !status.ok()) return status;
  scratch_bytes_ = 0;
  for (int i = 0; i < steps_.size(); ++i) {
    Call& call = calls_[static_cast<size_t>(i)];
    const double estimate = steps_.microseconds(i);
    call.grid = steps_.grid(i);
    call.threads = thread_count(estimate, call.grid, threads);
    call.piece = items_per_piece(call.grid, estimate);
    scratch_bytes_ = std::max(scratch_bytes_, (steps_.scratch_bytes(i) + 63) / 64 * 64);
  }
  make_batches(threads);
  return {};
}

// Neighbours of a wave that cannot occupy all threads are one batch.
void CpuStepRunner::make_batches(int threads) {
  batches_.clear();
  units_.clear();
  workers_ = 1;
  const int count = steps_.size();
  for (int first = 0; first < count;) {
    int last = first + 1;
    const auto occupies_all = [&](int step) {
      return calls_[static_cast<size_t>(step)].threads == threads;
    };
    while (last < count && !occupies_all(first) && !occupies_all(last) &&
           steps_.step(last).with_previous) {
      ++last;
    }
    add_batch(first, last, threads);
    first = last;
  }
  if (static_cast<int>(faults_.size()) < workers_) faults_.resize(static_cast<size_t>(workers_));
}

void CpuStepRunner::add_batch(int first, int last, int threads) {
  double estimate = 0;
  int64_t pieces = 0;
  for (int i = first; i < last; ++i) {
    const Call& call = calls_[static_cast<size_t>(i)];
    estimate += steps_.microseconds(i);
    if (call.grid > 0) pieces += call.threads;
  }
  const int worth = thread_count(estimate, pieces, threads);
  if (last - first == 1 || worth == 1) {
    for (int i = first; i < last; ++i) {
      batches_.push_back({i, i + 1, calls_[static_cast<size_t>(i)].threads, 0, 0});
      workers_ = std::max(workers_, batches_.back().threads);
    }
    return;
  }
  Batch batch{first, last, worth, static_cast<int>(units_.size()), 0};
  for (int i = first; i < last; ++i) {
    const Call& call = calls_[static_cast<size_t>(i)];
    for (int64_t unit = 0; unit < call.threads && call.grid > 0; ++unit) {
      units_.push_back({i, call.grid * unit / call.threads, call.grid * (unit + 1) / call.threads});
    }
  }
  batch.units_end = static_cast<int>(units_.size());
  batches_.push_back(batch);
  workers_ = std::max(workers_, worth);
}

void CpuStepRunner::run_items(int index, int64_t begin, int64_t end, std::byte* scratch, int worker,
                              const std::stop_token& stop) {
  const Call& call = calls_[static_cast<size_t>(index)];
  const int64_t piece = stop.stop_possible() ? call.piece : end - begin;
  Fault& fault = faults_[static_cast<size_t>(worker)];
  std::array<int64_t, program::kFaultWords> words{};
  for (int64_t at = begin; at < end; at += piece) {
    if (stop.stop_requested()) return;
    call_kernel(call.function, call.pointers, call.dims, scratch + worker * scratch_bytes_, at,
                std::min(at + piece, end), words.data());
  }
  if (words[0] == 0 || (fault.step >= 0 && fault.step < index)) return;
  fault.words = words;
  fault.step = index;
}

void CpuStepRunner::run_batch(const Batch& batch, std::byte* scratch, const std::stop_token& stop) {
  if (batch.units_begin < batch.units_end) {
    pool_.parallel_for(batch.units_end - batch.units_begin, batch.threads,
                       [&](int64_t begin, int64_t end, int worker) {
                         for (int64_t i = begin; i < end; ++i) {
                           const Unit& unit = units_[static_cast<size_t>(batch.units_begin + i)];
                           run_items(unit.step, unit.begin, unit.end, scratch, worker, stop);
                         }
                       });
    return;
  }
  const int64_t grid = calls_[static_cast<size_t>(batch.first)].grid;
  if (batch.threads == 1) {
    run_items(batch.first, 0, grid, scratch, 0, stop);
    return;
  }
  pool_.parallel_for(grid, batch.threads, [&](int64_t begin, int64_t end, int worker) {
    run_items(batch.first, begin, end, scratch, worker, stop);
  });
}

Status CpuStepRunner::run(std::byte* scratch, const std::stop_token& stop) {
  was_stopped_ = false;
  for (const Batch& batch : batches_) {
    run_batch(batch, scratch, stop);
    if (Status status = check(batch, stop); !status.ok()) return status;
  }
  return {};
}

Status CpuStepRunner::run_observed(std::byte* scratch, const std::stop_token& stop,
                                   StepObserver& observer) {
  was_stopped_ = false;
  for (int i = 0; i < steps_.size(); ++i) {
    const int threads = std::min(calls_[static_cast<size_t>(i)].threads, workers_);
    const Batch alone{i, i + 1, threads, 0, 0};
    const auto begin = StepClock::now();
    run_batch(alone, scratch, stop);
    observer.ran(steps_, i, begin, StepClock::now());
    if (Status status = check(alone, stop); !status.ok()) return status;
  }
  return {};
}

Status CpuStepRunner::check(const Batch& batch, const std::stop_token& stop) {
  if (Status status = check_faults(batch.threads); !status.ok()) return status;
  was_stopped_ = stop.stop_requested();
  return was_stopped_ ? Status(user_error("[run] cancelled")) : Status();
}

// The first step of those that failed.
Status CpuStepRunner::check_faults(int workers) {
  const Fault* first = nullptr;
  for (int worker = 0; worker < workers; ++worker) {
    const Fault& fault = faults_[static_cast<size_t>(worker)];
    if (fault.step >= 0 && (!first || fault.step < first->step)) first = &fault;
  }
  if (!first) return {};
  const Fault found = *first;
  std::ranges::fill(faults_, Fault{});
  return steps_.fault(found.step, found.words);
}

}  // namespace tenon::runtime::cpu
