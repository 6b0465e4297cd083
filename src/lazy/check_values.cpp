#include "lazy/check_values.h"

#include <algorithm>

#include "base/error.h"
#include "graph/attributes.h"
#include "graph/constraint_kind.h"
#include "graph/infer.h"
#include "lazy/apply.h"

namespace tenon::lazy {
namespace {

bool holds(Constraint::Kind kind, int64_t left, int64_t right) {
  switch (kind) {
    case Constraint::Kind::Equal:
      return left == right;
    case Constraint::Kind::AtMost:
      return left <= right;
    case Constraint::Kind::Broadcastable:
      return left == right || left == 1 || right == 1;
  }
  return true;
}

// Whether the bytes can be counted. What is too large is nothing where another extent is 0.
bool fits(const TensorType& type, const VariableValues& values) {
  int64_t bytes = size_of(type.dtype);
  bool overflows = false;
  for (const Dim& dim : type.shape) {
    const auto extent = evaluate(dim, values);
    if (extent == 0) return true;
    if (extent) {
      overflows |= __builtin_mul_overflow(bytes, *extent, &bytes);
    } else {
      const auto has_value = [&](const Symbol& symbol) { return values.contains(symbol.name()); };
      if (!std::ranges::all_of(dim.symbols(), has_value)) return true;
      overflows = true;
    }
  }
  return !overflows;
}

}  // namespace

void check_values(const graph::Node& rule, const VariableValues& values) {
  graph::Inference inference(rule.op(), rule.operands(), rule.attributes());
  graph::infer(inference);
  for (const Constraint& each : inference.constraints()) {
    const auto left = evaluate(each.left, values), right = evaluate(each.right, values);
    if (left && right && !holds(each.kind, *left, *right))
      throw user_error("{}, but has {} and {}", graph::needs(each), *left, *right);
  }
  check_sizes(rule, values);
}

void check_extreme(const Operation& operation, const VariableValues& values) {
  if (!operation.extreme) return;
  const auto& [call, elements, results] = *operation.extreme;
  if (evaluate(elements, values) == 0 && evaluate(results, values).value_or(0) != 0)
    throw user_error("[{}] there is no element: {}", call,
                     operation.operands[0].type().to_string());
}

void check_sizes(const graph::Node& rule, const VariableValues& values) {
  for (const TensorType& type : rule.types()) {
    if (!fits(type, values))
      throw user_error("[{}] the result has more bytes than there can be: {}",
                       graph::info(rule.op()).text, type.to_string());
  }
}

}  // namespace tenon::lazy
