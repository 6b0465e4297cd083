// Runs a Program on a device: loads its code, holds its weights, binds its symbols to the inputs'
// extents, and has its steps run. Not for several threads at once. Returns errors and throws
// nothing.
//
//   bind(inputs)              symbols get values; outputs' extents are known from here on
//   commit(outputs)           the prologue if parameters changed, then every step, begun
//   wait()                    they have ended, and outputs are the caller's
//   execute(outputs)          both
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
#include "runtime/code_variants.h"
#include "runtime/control_step.h"
#include "runtime/custom_step.h"
#include "runtime/device.h"
#include "runtime/handles.h"
#include "runtime/io_ports.h"
#include "runtime/io_view.h"
#include "runtime/memory_block.h"
#include "runtime/param_store.h"
#include "runtime/run_options.h"
#include "runtime/shape_binder.h"

namespace tenon::runtime {

class Executor {
 public:
  // Verifies the program and loads its code on the stream's device.
  static Result<std::unique_ptr<Executor>> load(std::shared_ptr<const program::Program> program,
                                                std::shared_ptr<DeviceStream> stream);
  // On the CPU, with the threads of `pool`.
  static Result<std::unique_ptr<Executor>> load(std::shared_ptr<const program::Program> program,
                                                ThreadPool& pool);
  // Likewise, with functions of this process instead of mapped code, one per Program::code.
  static Result<std::unique_ptr<Executor>> with_functions(
      std::shared_ptr<const program::Program> program, ThreadPool& pool,
      std::vector<program::KernelFunction> functions);
  // Another executor of the program with the same values of parameters: code and weights are
  // shared, memory between steps is its own. What one of the two sets, the other does not see. Both
  // may run at the same time; `stream` is one of the same device.
  Result<std::unique_ptr<Executor>> clone(std::shared_ptr<DeviceStream> stream);
  ~Executor();

  Status set_param(std::string_view name, DType dtype, std::span<const int64_t> shape,
                   const void* data) {
    return params_.set(name, dtype, shape, data);
  }
  // Whether set_param would take a value of this type.
  Status check_param(std::string_view name, DType dtype, std::span<const int64_t> shape) const {
    return params_.check(name, dtype, shape);
  }
  Status hold_param(std::string_view name, const HostValue& value) {
    return params_.hold(name, value);
  }
  // The values that were set in an executor of another program for the same device.
  void take_params(Executor& other) { params_.take_set(other.params_); }
  Result<std::vector<std::byte>> read_param(int index);  // one that was set
  void set_threads(int threads);  // at least 1; more than the pool has count as all of it
  // From now on runs at extents that have code of their own there take it, also those of clones
  // made later. Of a program without host steps.
  void use_variants(std::shared_ptr<CodeVariants> variants);

  // Of inputs, which stay between runs. A bound one is shown to bind by Handles::view.
  Handles& handles() { return handles_; }
  const Handles& handles() const { return handles_; }

  // The value of a symbol of the program around a body, before bind.
  void give(int index, int64_t value) { binder_.give(index, value); }
  Status bind(std::span<const IoView> inputs);
  // Of late outputs (IoSlot::late) known when commit or execute has ended.
  std::span<const int64_t> output_extents(int output) const {
    return binder_.output_extents(output);
  }
  // Whether execute may have the memory that it needs before it begins, for what is bound: an error
  // where a memory_limit does not allow it.
  Status check_limit(const RunOptions& options);
  // Bytes of the arena that execute would need for what is bound. Reserves nothing.
  Result<int64_t> measure_arena();
  // Bytes of arena and scratch that a run takes where symbols have these values: the peak. Every
  // symbol of the inputs and of define steps has one; bodies are Unsupported.
  Result<int64_t> peak_bytes(const std::map<std::string, int64_t>& extents);
  // Inputs have been read when commit returns, but for those on the device; outputs must stay until
  // wait, also those of further runs that were committed before it: they end one after the other.
  // On a device that does everything at once, that is when commit returns. A late output is copied
  // to its view where that has data.
  // An output that feeds a handle is written there, and copied to its view where that has data.
  // Where handles change, commit waits.
  Status commit(std::span<const IoView> outputs, const RunOptions& options = {});
  Status wait();
  // The last run has failed after all: handles are as long as before it, and what it fed is gone.
  void take_back();
  // Both. Allocates nothing after the first run of a shape. After an error, what outputs hold is
  // unspecified; the executor may be used again.
  Status execute(std::span<const IoView> outputs, const RunOptions& options = {});
  bool cancelled() const {
    return cancelled_;
  }  // whether the last run ended because it was asked to
  // Until the next run: where a late output lies on the device, and a copy of it for the host.
  const void* late_output(int output) const;
  Status read_late_output(int output, std::span<std::byte> to);

  // Whether a run goes on when commit has returned.
  bool works_ahead() const { return !stream_->shares_host_memory(); }

  const program::Program& program() const { return *program_; }
  const std::shared_ptr<const LoadedCode>& code() const { return code_; }
  const ParamStore& params() const { return params_; }
  int threads() const { return threads_; }
  // For messages: " at batch = 8, seq = 128", of the last run.
  std::string extents_text() const {
    return binder_.values_text(static_cast<int>(program_->host_steps.size()));
  }
  int64_t flops() const;                                  // of the last run
  int64_t arena_bytes() const { return arena_.bytes(); }  // of the last run

 private:
  static Result<std::unique_ptr<Executor>> make(std::shared_ptr<const program::Program> program,
                                                std::shared_ptr<DeviceStream> stream,
                                                std::shared_ptr<const LoadedCode> code,
                                                ParamStore params);
  Executor(std::shared_ptr<const program::Program> program, std::shared_ptr<DeviceStream> stream,
           std::shared_ptr<const LoadedCode> code, ShapeBinder binder, ParamStore params,
           Arena arena);
  Status make_steps();
  Result<std::unique_ptr<StepRunner>> make_runner(std::span<const program::Step> steps);
  Status begin(std::span<const IoView> outputs, const RunOptions& options);
  Status prepare_params(const RunOptions& options);
  // For these extents; `steps` must outlive it.
  Result<std::unique_ptr<StepRunner>> make_prologue(std::span<const program::Step> steps,
                                                    std::span<const int64_t> values);
  Status run_prologue(std::span<const program::Step> steps, const RunOptions& options);
  Status resolve(int stage, const RunOptions& options);
  int64_t scratch_to_hold(int64_t needed, int stage, const RunOptions& options) const;
  Status run_stages(const RunOptions& options);
  Status walk(StepRunner& steps, const RunOptions& options);
  Status check_memory(const StepRunner& steps, int stage, const RunOptions& options) const;
  void point(StepRunner& steps);
  void* address(const program::BufferRef& ref) const;
  Status run_host_step(int index, const RunOptions& options);
  Status run_control(int index, const RunOptions& options);
  Status run_custom(int index, const RunOptions& options);
  Status copy_late(std::span<const IoView> outputs);
  Status copy_fed(std::span<const IoView> outputs, std::span<const IoView> written);
  Status check_states(std::span<const IoView> inputs) const;
  void forget_resolved();

  std::shared_ptr<const program::Program> program_;
  std::shared_ptr<DeviceStream> stream_;  // outlives what lies in its memory
  std::shared_ptr<const LoadedCode> code_;
  ShapeBinder binder_;
  ParamStore params_;
  ChosenVariant variant_;
  std::vector<std::unique_ptr<StepRunner>> stages_;
  std::vector<std::unique_ptr<ControlStep>> controls_;  // per host step; null: no if, no loop
  std::vector<std::unique_ptr<CustomStep>> customs_;    // likewise
  Arena arena_;
  MemoryBlock scratch_;
  IoPorts ports_;
  Handles handles_;
  std::vector<std::vector<void*>> operands_, results_;  // of host steps
  std::vector<int64_t> defined_;                        // by the define step that ran last
  int threads_ = 1;
  bool cancelled_ = false;
  bool advanced_ = false;                    // the last run gave handles other values
  std::vector<uint64_t> resolved_versions_;  // per stage, of the binder's values; 0: none
  uint64_t weights_version_ = 0;             // of the parameters that were made ready last; 0: none
};

}  // namespace tenon::runtime
