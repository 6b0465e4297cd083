// ExecutionPlan: tensors, compiled once, to be computed again and again. The inputs are the memory
// of the tensors that it was made of: who writes new values there (Tensor::wrap) and executes gets
// new results.
#pragma once

#include <cstdint>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "tenon/device.h"
#include "tenon/optimizer.h"
#include "tenon/plan_options.h"
#include "tenon/variable.h"

namespace tenon {

class Tensor;
namespace lazy {
struct Access;
class PlanState;
}  // namespace lazy

// How tensors are compiled. What is left out is as the environment says.
struct PrepareConfig {
  std::optional<OptStrategy> optimizer = {};  // TENON_OPTIMIZER
  std::string generator = {};                 // "llvm" or "c"; TENON_CODEGEN
  // Where that runs whose operands lie nowhere (constants, files); TENON_DEVICE, or the CPU.
  std::optional<Device> device = {};
  std::optional<PlanMode> planner = {};     // TENON_MEMORY_PLANNER
  std::optional<bool> schedule_cache = {};  // TENON_SCHEDULE_CACHE=0 turns it off
  int threads = 0;                          // 0: as many as this process may use
  static PrepareConfig from_environment();
  bool operator==(const PrepareConfig&) const = default;
};

struct PlanStats {
  int kernels = 0, copies = 0, views = 0, custom_functions = 0;  // steps of an execution
  int64_t arena_bytes = 0;     // of what lies between steps, at the values bound last
  int64_t unshared_bytes = 0;  // what that would be if no two buffers shared memory
  bool from_cache = false;     // nothing was compiled for it
};

struct PlanStep {
  enum class Kind { Kernel, Copy, View, Custom };
  Kind kind{};
  std::string what;  // "linear_gelu"; the name of a custom function
  Device device = Device::Cpu();
};

// One thread at a time may execute it: replicate it for others.
class ExecutionPlan {
 public:
  ~ExecutionPlan();
  ExecutionPlan(ExecutionPlan&&) noexcept;
  ExecutionPlan& operator=(ExecutionPlan&&) noexcept;

  // With the values that variables were bound to at prepare. After an Error of a step on its way (a
  // position out of range) what outputs hold is unspecified, until the next execution.
  void execute();
  // With other values for this call. Unknown names and values outside of the bounds are Errors that
  // change nothing; so is a variable that is an extent of an input's memory, and another value.
  void execute_with_vars(const VariableValues& values);

  int num_outputs() const;
  // The outputs in the order of the tensors that were not realized. What it holds is that of the
  // last execution, also when it was made before.
  Tensor output_buffer(int index) const;
  // Another plan with the same code and inputs, and outputs of its own.
  ExecutionPlan replicate() const;

  VariableValues variables() const;  // as bound at prepare
  std::vector<PlanStep> steps() const;
  PlanStats stats() const;

 private:
  friend struct lazy::Access;
  explicit ExecutionPlan(std::shared_ptr<lazy::PlanState> state);
  lazy::PlanState& state() const;  // an Error where it was moved from
  std::shared_ptr<lazy::PlanState> state_;
};

}  // namespace tenon
