// What an ExecutionPlan holds: a plan, and the cells in which tensors see its outputs.
#pragma once

#include <atomic>
#include <memory>
#include <vector>

#include "lazy/plan.h"

namespace tenon::lazy {

const PrepareConfig& default_config();  // as the environment says

class PlanState {
 public:
  PlanState(Trace trace, const PrepareConfig& config, const Plan* like = nullptr);

  void execute(const VariableValues& values);  // by two threads at once: a User error of one
  Tensor output(int index) const;
  int outputs() const { return static_cast<int>(cells_.size()); }
  const Plan& plan() const { return plan_; }

 private:
  Plan plan_;
  std::vector<std::shared_ptr<OutputCell>> cells_;
  std::atomic<bool> in_use_ = false;
};

}  // namespace tenon::lazy
