#include "lazy/expression.h"

#include <utility>

#include "base/error.h"
#include "graph/context.h"
#include "lazy/rule.h"

namespace tenon::lazy {
namespace {

// The first operand's that lies somewhere.
std::optional<Device> device_of(const Operation& operation) {
  if (operation.copy_to) return operation.copy_to;
  for (const Operand& operand : operation.operands) {
    if (operand.expression->device()) return operand.expression->device();
  }
  return std::nullopt;
}

std::optional<Device> device_of(const Buffer& buffer) {
  if (buffer.is_file()) return std::nullopt;
  return buffer.device();
}

const char* name_of(const Operation& operation) {
  return operation.rule ? graph::info(operation.rule->op()).text.data() : "copy";
}

}  // namespace

void Access::check(const Tensor& tensor) {
  if (!tensor.expression_) throw user_error("this Tensor is no tensor: it was never given one");
}

Expression::Expression(std::vector<TensorType> types, Operation operation, VariableValues values)
    : types_(std::move(types)),
      name_(name_of(operation)),
      values_(std::move(values)),
      device_(device_of(operation)),
      operation_(std::make_shared<const Operation>(std::move(operation))) {}

Expression::Expression(TensorType type, std::shared_ptr<const Elements> elements)
    : types_{std::move(type)},
      name_("data"),
      values_(elements->values),
      device_(device_of(*elements->buffer)) {
  results_ = new Results{std::move(elements)};
}

Expression::Expression(TensorType type, std::shared_ptr<const OutputCell> cell,
                       const Device& device)
    : types_{std::move(type)}, name_("plan output"), device_(device), cell_(std::move(cell)) {}

// A chain of any length goes without recursion: operations that nobody else holds hand their
// operands on.
Expression::~Expression() {
  delete results_.load(std::memory_order_relaxed);
  std::vector<std::shared_ptr<const Operation>> going;
  // The lock is for what the thread wrote that held the expression before.
  const auto take = [&](const Expression& of) {
    const std::lock_guard lock(of.mutex_);
    if (of.operation_ && of.operation_.use_count() == 1) going.push_back(std::move(of.operation_));
  };
  take(*this);
  while (!going.empty()) {
    // Nobody else has it, so its operands may be taken out: one that it has twice goes with the
    // second.
    const auto last = std::const_pointer_cast<Operation>(std::move(going.back()));
    going.pop_back();
    for (Operand& operand : last->operands) {
      const std::shared_ptr<const Expression> expression = std::move(operand.expression);
      if (expression.use_count() == 1) take(*expression);
    }
  }
}

std::shared_ptr<const Operation> Expression::operation() const {
  const std::lock_guard lock(mutex_);
  return operation_;
}

std::shared_ptr<const Elements> Expression::elements(int result) const {
  if (cell_) return cell_->get();
  const Results* found = results_.load(std::memory_order_acquire);
  return found ? (*found)[static_cast<size_t>(result)] : nullptr;
}

// What nobody placed lies where it was computed.
std::optional<Device> Expression::device() const {
  if (device_) return device_;
  const Results* found = results_.load(std::memory_order_acquire);
  return found ? device_of(*(*found)[0]->buffer) : std::nullopt;
}

void Expression::publish(Results results) const {
  const auto* mine = new Results(std::move(results));
  const Results* expected = nullptr;
  if (!results_.compare_exchange_strong(expected, mine)) delete mine;
  std::shared_ptr<const Operation> gone;  // outside of the lock
  const std::lock_guard lock(mutex_);
  gone.swap(operation_);
}

graph::Value Expression::stand_in(int result) const {
  const std::lock_guard lock(mutex_);
  if (stand_ins_.empty()) stand_ins_.resize(types_.size());
  Ref<graph::Node>& held = stand_ins_[static_cast<size_t>(result)];
  if (!held) {
    const bool is_leaf =
        operation_ && operation_->rule && graph::has(operation_->rule->op(), graph::kLeaf);
    held = is_leaf ? operation_->rule : stand_in_for(type(result));
  }
  return {held.get(), 0};
}

}  // namespace tenon::lazy
