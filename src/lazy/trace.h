// Trace: everything that tensors need to be computed, as a list: elements that are there (leaves)
// and operations in an order in which they can be done, cut into segments. A segment is what one
// device does without waiting for another: it is compiled as one graph.
#pragma once

#include <map>
#include <memory>
#include <string>
#include <vector>

#include "lazy/expression.h"

namespace tenon::lazy {

// A value of a trace: a leaf, or a result of a step.
struct TraceValue {
  int leaf = -1;  // or
  int step = -1, result = 0;
  bool operator==(const TraceValue&) const = default;
};

struct Trace {
  struct Leaf {
    TensorType type;
    std::shared_ptr<const Elements> elements;
    std::shared_ptr<const Expression> expression;
    int result = 0;
  };
  struct Step {
    std::shared_ptr<const Expression> expression;
    std::shared_ptr<const Operation> operation;
    std::vector<TraceValue> operands;
    Device device = Device::Cpu();
    int level = 0;  // how often what it needs has gone from device to device
    bool is_constant() const {
      return operation->rule && graph::has(operation->rule->op(), graph::kLeaf);
    }
  };
  std::vector<Leaf> leaves;
  std::vector<Step> steps;
  std::vector<TraceValue> targets;
  VariableValues values;  // of all variables

  const TensorType& type(const TraceValue& value) const;
  const Device& device(const TraceValue& value) const;
};

// Targets are expressions without elements. `otherwise`: where operations run whose operands lie
// nowhere. A variable that has two values, or a plan's output that was never executed, is a User
// error.
Trace trace(const std::vector<Operand>& targets, const Device& otherwise);

}  // namespace tenon::lazy

template <>
struct std::hash<tenon::lazy::TraceValue> {
  size_t operator()(const tenon::lazy::TraceValue& value) const noexcept {
    const auto leaf = static_cast<uint32_t>(value.leaf), step = static_cast<uint32_t>(value.step);
    return (uint64_t{leaf} << 32 ^ step) * 31 + static_cast<uint32_t>(value.result);
  }
};
