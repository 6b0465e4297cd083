// If and Loop: their bodies are programs with executors of their own. A body is bound anew in every
// iteration, so its extents may change; what it gives is held here until the step's results have
// memory.
#pragma once

#include <memory>
#include <span>
#include <vector>

#include "base/result.h"
#include "program/program.h"
#include "runtime/device.h"
#include "runtime/dim_table.h"
#include "runtime/io_view.h"
#include "runtime/memory_block.h"
#include "runtime/run_options.h"

namespace tenon::runtime {

class Executor;

class ControlStep {
 public:
  // `step` must outlive it; `around` numbers the symbols of the program that the step stands in,
  // `stages` says which of them have values before it runs.
  static Result<std::unique_ptr<ControlStep>> make(const program::Program& program, int host_step,
                                                   std::shared_ptr<DeviceStream> stream,
                                                   const Variables& around);
  ~ControlStep();

  void set_threads(int threads);
  // One pointer to device memory per operand; values of the symbols around.
  Status run(std::span<void* const> operands, std::span<const int64_t> variables,
             const RunOptions& options);
  bool cancelled() const {
    return cancelled_;
  }  // whether the last run ended because it was asked to
  // Values of the step's symbols, after run.
  std::span<const int64_t> symbol_values() const { return symbol_values_; }
  // The symbols have their values: what the types claim of the results must be so. Copies the
  // results to where they belong.
  Status deliver(std::span<void* const> results, std::span<const int64_t> variables);

 private:
  // A tensor that a body gave, or an operand: on the device.
  struct Held {
    const void* data = nullptr;
    std::vector<int64_t> shape;
    int64_t bytes = 0;
    MemoryBlock blocks[2];  // used in turn: a body reads one while it writes the other
  };
  struct Body {
    std::unique_ptr<Executor> executor;
    std::vector<int> given;  // numbers among the symbols around
    std::vector<Held> outputs;
    std::vector<IoView> output_views;
  };
  // Equal tensors one after the other, along a new first axis.
  struct Stack {
    int64_t count = 0;
    std::vector<int64_t> shape;
    int64_t bytes = 0;
    MemoryBlock block;
  };

  ControlStep(const program::HostStep& step, std::shared_ptr<DeviceStream> stream)
      : step_(&step), stream_(std::move(stream)) {}
  Status add_body(std::shared_ptr<const program::Program> program, const Variables& around);
  void find_symbols();
  Status run_body(Body& body, std::span<const IoView> inputs, std::span<const int64_t> variables,
                  int turn, const RunOptions& options);
  Status run_if(std::span<const int64_t> variables, const RunOptions& options);
  Status run_loop(std::span<const int64_t> variables, const RunOptions& options);
  int64_t held_bytes() const;
  Status check_memory(const RunOptions& options) const;
  Result<bool> is_true(const void* scalar) const;
  Status push(Stack& stack, const Held& tensor);
  Status make_room(Stack& stack, int64_t bytes) const;
  void take(Stack& stack, size_t result);

  const program::HostStep* step_;
  std::shared_ptr<DeviceStream> stream_;
  std::vector<Body> bodies_;
  DimTable operand_dims_, known_dims_, result_dims_;
  std::vector<std::vector<int>> operand_extents_, result_extents_;  // positions in those
  std::vector<std::vector<int>> known_extents_;                     // -1: the step defines it
  std::vector<IoView> operands_;
  std::vector<std::vector<int64_t>> operand_shapes_;
  std::vector<Held> results_;
  std::vector<Stack> scans_;
  std::vector<std::pair<int, int>> symbol_axes_;  // per symbol: a result and its axis
  std::vector<int64_t> symbol_values_;
  bool cancelled_ = false;
};

}  // namespace tenon::runtime
