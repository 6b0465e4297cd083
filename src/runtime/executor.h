// Runs a Program: maps its code, holds its weights, binds its symbols to the inputs' extents, and
// walks its steps. Not for several threads at once. Returns errors and throws nothing.
//
//   bind(inputs)              symbols get values; outputs' extents are known from here on
//   execute(outputs)          the prologue if parameters changed, then every step
//
// Host steps cut the steps into stages. Each gives values to more symbols; extents and memory of
// what follows are resolved then.
#pragma once

#include <map>
#include <memory>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "base/result.h"
#include "base/thread_pool.h"
#include "program/program.h"
#include "runtime/arena.h"
#include "runtime/control_step.h"
#include "runtime/cpu/executable_code.h"
#include "runtime/io_view.h"
#include "runtime/memory_block.h"
#include "runtime/param_store.h"
#include "runtime/run_options.h"
#include "runtime/shape_binder.h"
#include "runtime/step_list.h"

namespace tenon::runtime {

class Executor {
 public:
  // Verifies the program and maps its code.
  static Result<std::unique_ptr<Executor>> load(std::shared_ptr<const program::Program> program,
                                                ThreadPool& pool);
  // With functions of this process instead of mapped code, one per Program::code.
  static Result<std::unique_ptr<Executor>> with_functions(
      std::shared_ptr<const program::Program> program, ThreadPool& pool,
      std::vector<program::KernelFunction> functions);

  Status set_param(std::string_view name, DType dtype, std::span<const int64_t> shape,
                   const void* data) {
    return params_.set(name, dtype, shape, data);
  }
  void set_threads(int threads);  // at least 1; more than the pool has count as all of it

  // The value of a symbol of the program around a body, before bind.
  void give(int index, int64_t value) { binder_.give(index, value); }
  Status bind(std::span<const IoView> inputs);
  // Of late outputs (IoSlot::late) known when execute has ended.
  std::span<const int64_t> output_extents(int output) const {
    return binder_.output_extents(output);
  }
  // Bytes of the arena that execute would need for what is bound. Reserves nothing.
  Result<int64_t> measure_arena();
  // Bytes of arena and scratch that a run takes where symbols have these values: the peak. Every
  // symbol of the inputs and of define steps has one; bodies are Unsupported.
  Result<int64_t> peak_bytes(const std::map<std::string, int64_t>& extents);
  // Allocates nothing after the first run of a shape. A late output is copied to its view where
  // that has data, and is readable until the next run. After an error, what outputs hold is
  // unspecified; the executor may be used again.
  Status execute(std::span<const IoView> outputs, const RunOptions& options = {});
  bool cancelled() const {
    return cancelled_;
  }  // whether the last run ended because it was asked to
  const void* late_output(int output) const;

  const program::Program& program() const { return *program_; }
  const ParamStore& params() const { return params_; }
  int threads() const { return threads_; }
  int64_t flops() const;                                  // of the last run
  int64_t arena_bytes() const { return arena_.bytes(); }  // of the last run

 private:
  Executor(std::shared_ptr<const program::Program> program, ThreadPool& pool, ShapeBinder binder,
           ParamStore params, Arena arena);
  Status make_steps(std::span<const program::KernelFunction> functions);
  Status prepare_params(const RunOptions& options);
  Status resolve(int stage, const RunOptions& options);
  Status run_stages(const RunOptions& options);
  Status walk(StepList& list, const RunOptions& options);
  Status check_memory(const StepList& list, int stage, const RunOptions& options) const;
  int64_t scratch_of(const StepList& list) const { return list.scratch_bytes() * list.workers(); }
  void point(StepList& list);
  void* address(const program::BufferRef& ref) const;
  Status run_host_step(int index, const RunOptions& options);
  Status run_control(int index, const RunOptions& options);
  Status copy_late(std::span<const IoView> outputs);
  void forget_resolved();

  std::shared_ptr<const program::Program> program_;
  ThreadPool* pool_;
  std::vector<cpu::ExecutableCode> code_;
  ShapeBinder binder_;
  ParamStore params_;
  StepList prologue_;
  std::vector<StepList> stages_;
  std::vector<std::unique_ptr<ControlStep>> controls_;  // per host step; null: a define
  Arena arena_;
  MemoryBlock scratch_;
  std::vector<void*> inputs_, outputs_;
  std::vector<std::vector<void*>> operands_, results_;  // of control steps
  int threads_ = 1;
  bool cancelled_ = false;
  std::vector<uint64_t> resolved_versions_;  // per stage, of the binder's values; 0: none
  uint64_t weights_version_ = 0;  // of the parameters that the packed buffers were made of; 0: none
};

}  // namespace tenon::runtime
