// What an executor needs of a device: memory, copies, code, and something that runs resolved steps.
//
// Host code never reads or writes through a pointer to device memory: it copies. Where the device
// shares the host's memory, pointers of either are good for both, and executors hand them on
// instead of copying.
#pragma once

#include <cstddef>
#include <cstdint>
#include <memory>
#include <span>
#include <stop_token>
#include <vector>

#include "base/result.h"
#include "program/program.h"
#include "runtime/memory.h"
#include "runtime/step_list.h"
#include "runtime/step_observer.h"
#include "runtime/timeline.h"

namespace tenon::runtime {

// The kernels of a program, where they can be called.
class LoadedCode {
 public:
  virtual ~LoadedCode() = default;
  // The function of this process that is called instead of a kernel's code; null: none is.
  virtual const void* stand_in(int) const { return nullptr; }
};

// Steps that are ready to run: those of one stage, or a prologue.
class StepRunner {
 public:
  explicit StepRunner(StepList steps) : steps_(std::move(steps)) {}
  virtual ~StepRunner() = default;
  StepRunner(const StepRunner&) = delete;
  StepRunner& operator=(const StepRunner&) = delete;

  StepList& steps() { return steps_; }
  const StepList& steps() const { return steps_; }

  // New values of the variables: extents and grids, and how the steps will run on at most `threads`
  // threads.
  virtual Status resolve(std::span<const int64_t> variables, int threads) = 0;
  // From the next run on: a kernel for each step, which does what the program's own does at the
  // extents resolved last; null: the program's own. Of devices that have such code.
  virtual void run_code(std::shared_ptr<const LoadedCode> /*by_step*/) {}
  // That a run needs at the extents resolved last: of all workers together.
  virtual int64_t scratch_bytes() const = 0;
  // Runs the steps, or begins to: what comes after it on the stream comes after them. An index
  // found out of range by a kernel is a User error that names the step, here or when the stream is
  // synchronized; a stop that was asked for is the User error "[run] cancelled".
  virtual Status run(std::byte* scratch, const std::stop_token& stop) = 0;
  // Likewise, and tells of each step, where the device can.
  virtual Status run_observed(std::byte* scratch, const std::stop_token& stop,
                              StepObserver& /*observer*/) {
    return run(scratch, stop);
  }
  bool was_stopped() const { return was_stopped_; }  // whether that ended the last run

 protected:
  StepList steps_;
  bool was_stopped_ = false;
};

// The part of a device that one executor and the executors of bodies in it use. What is asked of
// it happens in order, some of it later: synchronize() waits. As Memory: what is released may still
// be used by what was asked before. One thread at a time.
class DeviceStream : public Memory {
 public:
  virtual bool shares_host_memory() const = 0;
  virtual int max_threads() const = 0;  // of the host, that a step may use
  // Memory of the device that may outlive the stream; the same for all streams of a device.
  virtual std::shared_ptr<Memory> lasting_memory() = 0;

  // A User error where the program was compiled for another device.
  virtual Result<std::shared_ptr<const LoadedCode>> load(const program::Program& program) = 0;
  virtual Result<std::unique_ptr<StepRunner>> prepare(StepList steps,
                                                      std::shared_ptr<const LoadedCode> code) = 0;

  // Host to device: `from` has been read when this returns.
  virtual Status copy_in(void* to, const void* from, int64_t bytes) = 0;
  // Device to host: `to` is written when synchronize returns.
  virtual Status copy_out(void* to, const void* from, int64_t bytes) = 0;
  // Likewise, at the end of `to`, whose capacity holds it: where copies are handed on by the host,
  // no page of new memory is touched twice.
  virtual Status append_out(std::vector<std::byte>& to, const void* from, int64_t bytes) {
    const size_t before = to.size();
    to.resize(before + static_cast<size_t>(bytes));
    return copy_out(to.data() + before, from, bytes);
  }
  virtual Status copy_within(void* to, const void* from, int64_t bytes) = 0;
  // Waits for everything asked so far. Faults of kernels that ran later than asked are reported
  // here, once.
  virtual Status synchronize() = 0;

  // From now on what the stream does is noted there, where the device has a clock; null: nowhere.
  virtual void note_in(Timeline* /*timeline*/) {}

  // A few bytes, now.
  Status read(void* to, const void* from, int64_t bytes) {
    if (Status status = copy_out(to, from, bytes); !status.ok()) return status;
    return synchronize();
  }
};

}  // namespace tenon::runtime
