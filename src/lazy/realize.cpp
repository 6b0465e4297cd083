// Computing tensors: realize fills the results of expressions, prepare makes plans whose outputs
// handles read.
#include <algorithm>

#include "base/error.h"
#include "base/knobs.h"
#include "lazy/apply.h"
#include "lazy/plan.h"
#include "lazy/plan_state.h"
#include "tenon/execution_plan.h"
#include "tenon/lazy_tensor.h"

namespace tenon {
namespace {

using lazy::Access;

Device device_of(const PrepareConfig& config) { return config.device.value_or(Device::Cpu()); }

void check(const PrepareConfig& config) {
  if (config.threads < 0)
    throw user_error("[prepare] {} threads: 0 or more are needed", config.threads);
  if (!config.generator.empty() && config.generator != "llvm" && config.generator != "c")
    throw user_error("[prepare] generator \"{}\" is not known; there are: llvm, c",
                     config.generator);
}

// What has no elements at any values of its variables.
bool is_empty(const TensorType& type) {
  return std::ranges::any_of(type.shape, [](const Dim& dim) { return dim.is_const(0); });
}

// Its other extents still have values.
void publish_empty(const lazy::Operand& of) {
  const Shape& shape = of.type().shape;
  const VariableValues known =
      shape.is_static() ? VariableValues() : lazy::trace({of}, Device::Cpu()).values;
  VariableValues values;
  const auto value_of = [&](const Symbol& symbol) -> std::optional<int64_t> {
    const auto found = known.find(symbol.name());
    if (found == known.end())
      throw user_error("[realize] the variable \"{}\" has no value: bind it", symbol.name());
    return values.insert(*found).first->second;
  };
  std::vector<int64_t> extents;
  for (const Dim& dim : shape) extents.push_back(dim.evaluate(value_of).value_or(0));
  of.expression->publish({std::make_shared<const lazy::Elements>(
      lazy::Elements{lazy::Buffer::allocate(Device::Cpu(), 0), extents, values})});
}

// Those of a tensor that is there already count in a batch, too.
void merge_values(const lazy::Operand& of, VariableValues& into) {
  if (const auto elements = of.expression->elements(of.result))
    lazy::merge(into, elements->values, "realize");
}

// Whether there is something left to do.
bool is_open(const Tensor& tensor) {
  const lazy::Operand operand = Access::operand(tensor);
  if (tensor.is_realized() || operand.expression->is_plan_output()) return false;
  if (operand.expression->results() > 1 || !is_empty(operand.type())) return true;
  publish_empty(operand);
  return false;
}

}  // namespace

PrepareConfig PrepareConfig::from_environment() {
  PrepareConfig config;
  const Knobs& set = knobs();
  if (!set.optimizer.empty()) config.optimizer = OptStrategy::parse(set.optimizer);
  config.generator = set.codegen;
  if (!set.device.empty()) config.device = Device::parse(set.device);
  if (set.memory_planner == "arena") config.planner = PlanMode::Arena;
  if (set.memory_planner == "remap") config.planner = PlanMode::Remap;
  if (set.memory_planner == "disabled") config.planner = PlanMode::Disabled;
  config.schedule_cache = set.schedule_cache != "0";
  return config;
}

// All results of an expression at once: it is computed once.
void realize_batch_with(const std::vector<Tensor>& tensors, const PrepareConfig& config) {
  check(config);
  std::vector<lazy::Operand> targets;
  VariableValues values;
  for (const Tensor& tensor : tensors) {
    const lazy::Operand operand = Access::operand(tensor);
    if (operand.expression->is_plan_output() && !tensor.is_realized())
      throw user_error("[realize] the tensor is the output of a plan: execute that");
    if (!is_open(tensor)) {
      merge_values(operand, values);
      continue;
    }
    for (int i = 0; i < operand.expression->results(); ++i)
      targets.push_back({operand.expression, i});
  }
  if (targets.empty()) return;
  lazy::Trace trace = lazy::trace(targets, device_of(config));
  lazy::merge(values, trace.values, "realize");
  lazy::Plan plan(std::move(trace), config);
  plan.execute(plan.trace().values);
  for (size_t i = 0; i < targets.size();) {
    const lazy::Expression& expression = *targets[i].expression;
    lazy::Expression::Results results;
    for (int k = 0; k < expression.results(); ++k)
      results.push_back(plan.output(static_cast<int>(i++)));
    expression.publish(std::move(results));
  }
}

void realize_batch(const std::vector<Tensor>& tensors) {
  realize_batch_with(tensors, lazy::default_config());
}

const Tensor& Tensor::realize() const { return realize_with(lazy::default_config()); }
const Tensor& Tensor::realize_with(const PrepareConfig& config) const {
  if (!is_realized()) realize_batch_with({*this}, config);
  return *this;
}

ExecutionPlan prepare_batch_with(const std::vector<Tensor*>& tensors, const PrepareConfig& config) {
  check(config);
  std::vector<lazy::Operand> targets;
  std::vector<Tensor*> open;
  VariableValues values;
  for (Tensor* const tensor : tensors) {
    if (tensor == nullptr) throw user_error("[prepare] a tensor is null");
    if (!is_open(*tensor)) {
      merge_values(Access::operand(*tensor), values);
      continue;
    }
    targets.push_back(Access::operand(*tensor));
    open.push_back(tensor);
  }
  if (targets.empty())
    throw user_error("[prepare] empty schedule: every tensor has its elements already");
  lazy::Trace trace = lazy::trace(targets, device_of(config));
  lazy::merge(values, trace.values, "prepare");
  auto state = std::make_shared<lazy::PlanState>(std::move(trace), config);
  for (size_t i = 0; i < open.size(); ++i) *open[i] = state->output(static_cast<int>(i));
  return Access::plan(std::move(state));
}

ExecutionPlan prepare_batch(const std::vector<Tensor*>& tensors) {
  return prepare_batch_with(tensors, lazy::default_config());
}

ExecutionPlan Tensor::prepare() { return prepare_batch({this}); }
ExecutionPlan Tensor::prepare_with(const PrepareConfig& config) {
  return prepare_batch_with({this}, config);
}

}  // namespace tenon
