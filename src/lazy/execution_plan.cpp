#include "tenon/execution_plan.h"

#include "base/error.h"
#include "lazy/plan_state.h"

namespace tenon {
namespace lazy {
namespace {

// Held while a call uses a plan: a concurrent one is an error instead of a race.
class Exclusive {
 public:
  explicit Exclusive(std::atomic<bool>& in_use) : in_use_(in_use) {
    if (in_use_.exchange(true, std::memory_order_acquire))
      throw user_error("[execute] the plan is executed by another thread: replicate it");
  }
  ~Exclusive() { in_use_.store(false, std::memory_order_release); }
  Exclusive(const Exclusive&) = delete;
  Exclusive& operator=(const Exclusive&) = delete;

 private:
  std::atomic<bool>& in_use_;
};

}  // namespace

const PrepareConfig& default_config() {
  static const PrepareConfig kConfig = PrepareConfig::from_environment();
  return kConfig;
}

PlanState::PlanState(Trace trace, const PrepareConfig& config, const Plan* like)
    : plan_(std::move(trace), config, like) {
  for (size_t i = 0; i < plan_.trace().targets.size(); ++i)
    cells_.push_back(std::make_shared<OutputCell>());
}

void PlanState::execute(const VariableValues& values) {
  const Exclusive exclusive(in_use_);
  plan_.execute(values);
  for (size_t i = 0; i < cells_.size(); ++i) {
    const auto& elements = plan_.output(static_cast<int>(i));
    if (cells_[i]->get() != elements) cells_[i]->set(elements);
  }
}

Tensor PlanState::output(int index) const {
  const auto at = static_cast<size_t>(index);
  return Access::tensor(std::make_shared<const Expression>(
      plan_.trace().type(plan_.trace().targets[at]), cells_[at], plan_.device(index)));
}

}  // namespace lazy

ExecutionPlan::ExecutionPlan(std::shared_ptr<lazy::PlanState> state) : state_(std::move(state)) {}
ExecutionPlan::~ExecutionPlan() = default;
ExecutionPlan::ExecutionPlan(ExecutionPlan&&) noexcept = default;
ExecutionPlan& ExecutionPlan::operator=(ExecutionPlan&&) noexcept = default;

lazy::PlanState& ExecutionPlan::state() const {
  if (!state_) throw user_error("this ExecutionPlan was moved from: there is nothing in it");
  return *state_;
}

void ExecutionPlan::execute() { state().execute(state().plan().trace().values); }

void ExecutionPlan::execute_with_vars(const VariableValues& values) {
  state().execute(state().plan().with(values));
}

int ExecutionPlan::num_outputs() const { return state().outputs(); }

Tensor ExecutionPlan::output_buffer(int index) const {
  if (index < 0 || index >= num_outputs())
    throw user_error("[output_buffer] there is no output {}: the plan has {}", index,
                     num_outputs());
  return state().output(index);
}

ExecutionPlan ExecutionPlan::replicate() const {
  const lazy::Plan& plan = state().plan();
  return ExecutionPlan(std::make_shared<lazy::PlanState>(plan.trace(), plan.config(), &plan));
}

VariableValues ExecutionPlan::variables() const { return state().plan().trace().values; }
std::vector<PlanStep> ExecutionPlan::steps() const { return state().plan().steps(); }
PlanStats ExecutionPlan::stats() const { return state().plan().stats(); }

}  // namespace tenon
