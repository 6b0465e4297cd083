// Expression: what a Tensor stands for: elements that are there, or an operation on other
// expressions that gives them. Its results are filled once, whoever computes them first, and never
// change; then the operation is let go, with all that only it held. Any thread may use it.
#pragma once

#include <atomic>
#include <memory>
#include <mutex>
#include <optional>
#include <vector>

#include "base/interner.h"
#include "graph/node.h"
#include "lazy/buffer.h"
#include "tenon/lazy_tensor.h"
#include "tenon/variable.h"

namespace tenon::lazy {

class Expression;

struct Operand {
  std::shared_ptr<const Expression> expression;
  int result = 0;
  const TensorType& type() const;
};

// A tensor's elements, and the values of the variables in its shape.
struct Elements {
  std::shared_ptr<const Buffer> buffer;
  std::vector<int64_t> extents;
  VariableValues values;
};

// A largest element is one of `elements`: an Error where there are none, unless none is asked for.
struct Extreme {
  const char* call;  // "max"
  Dim elements, results;
};

struct Operation {
  // The op on stand-ins of its operands' types: interned, so that two operations alike in all but
  // their operands have the same. Null: a copy to another device.
  Ref<graph::Node> rule;
  std::vector<Operand> operands;
  std::optional<Device> copy_to = {};
  std::optional<Extreme> extreme = {};
};

// What a plan writes, anew in each execution.
class OutputCell {
 public:
  std::shared_ptr<const Elements> get() const {  // null: it was not executed yet
    const std::lock_guard lock(mutex_);
    return elements_;
  }
  void set(std::shared_ptr<const Elements> elements) {
    const std::lock_guard lock(mutex_);
    elements_ = std::move(elements);
  }

 private:
  mutable std::mutex mutex_;
  std::shared_ptr<const Elements> elements_;
};

class Expression {
 public:
  // `values`: of the variables that it and its operands name.
  Expression(std::vector<TensorType> types, Operation operation, VariableValues values);
  Expression(TensorType type, std::shared_ptr<const Elements> elements);
  Expression(TensorType type, std::shared_ptr<const OutputCell> cell, const Device& device);
  ~Expression();
  Expression(const Expression&) = delete;
  Expression& operator=(const Expression&) = delete;

  const TensorType& type(int result) const { return types_[static_cast<size_t>(result)]; }
  int results() const { return static_cast<int>(types_.size()); }
  const char* name() const { return name_; }  // of what made it
  // Of variables in it and in all that it is made of; what a plan computes has others each time.
  const VariableValues& values() const { return values_; }
  // Where it lies or will be computed; nullopt: wherever it is needed (a constant, a file).
  std::optional<Device> device() const;

  std::shared_ptr<const Operation> operation() const;  // null where the elements are there
  bool is_plan_output() const { return cell_ != nullptr; }
  std::shared_ptr<const Elements> elements(int result) const;  // null: not computed yet
  // One for each result, all at the same time. The first who does it counts; the operation goes.
  using Results = std::vector<std::shared_ptr<const Elements>>;
  void publish(Results results) const;

  // Stands for the result in rules: a constant for itself, others for their type.
  graph::Value stand_in(int result) const;

 private:
  const std::vector<TensorType> types_;
  const char* name_;
  const VariableValues values_;
  std::optional<Device> device_;
  const std::shared_ptr<const OutputCell> cell_;
  mutable std::atomic<const Results*> results_ = nullptr;  // owned
  mutable std::mutex mutex_;                               // of what follows
  mutable std::shared_ptr<const Operation> operation_;
  mutable std::vector<Ref<graph::Node>> stand_ins_;
};

inline const TensorType& Operand::type() const { return expression->type(result); }

// What is inside of the public handles.
struct Access {
  static Tensor tensor(std::shared_ptr<const Expression> expression, int result = 0) {
    return Tensor(std::move(expression), result);
  }
  static Operand operand(const Tensor& tensor) {
    check(tensor);
    return {tensor.expression_, tensor.result_};
  }
  static const Expression& expression(const Tensor& tensor) {
    check(tensor);
    return *tensor.expression_;
  }
  static int result(const Tensor& tensor) { return tensor.result_; }
  static ExecutionPlan plan(std::shared_ptr<PlanState> state) {
    return ExecutionPlan(std::move(state));
  }
  static void check(const Tensor& tensor);  // an Error where it is none
};

}  // namespace tenon::lazy
