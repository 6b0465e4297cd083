// Operands that must have equal extents: where the bucket's axis of one meets a constant of the
// other, that constant must be the bucket's too. It is looked for where it came into the graph.
#include <fmt/format.h>

#include <algorithm>

#include "graph/active_derivation.h"
#include "graph/state.h"
#include "types/active_extent.h"

namespace tenon::graph {
namespace {

// An axis of the operand, counted from the right as broadcasting does; -1: it has none.
int aligned(const Shape& operand, const Shape& result, int axis) {
  return axis - (result.rank() - operand.rank());
}

bool is_elementwise(const Node& node) { return has(node.op(), kElementwise); }

}  // namespace

// Walks to the node that decides the extent.
bool Derivation::need(Value value, int axis) {
  for (;;) {
    const Node& node = *value.node;
    const auto step = [&](const Value& operand, int to) {
      if (to < 0 || to >= operand.shape().rank()) return false;
      if (!operand.shape()[to].is_const(upper_)) return false;
      value = operand;
      axis = to;
      return true;
    };
    switch (node.op()) {
      case Op::Input:
        if (state_layout(value)) break;
        attempt_.needed = Place{&node, axis};
        return false;
      case Op::Range:
      case Op::Slice:
        attempt_.needed = Place{&node, axis};
        return false;
      case Op::Expand:
        if (step(node.operand(0), aligned(node.operand(0).shape(), value.shape(), axis))) continue;
        attempt_.needed = Place{&node, axis};
        return false;
      case Op::Transpose:
        if (step(node.operand(0),
                 static_cast<int>(node.attributes().integers("perm")[static_cast<size_t>(axis)])))
          continue;
        break;
      case Op::Reshape:
        if (step(node.operand(0), reshaped_from(node.operand(0).shape(), value.shape(), axis)))
          continue;
        break;
      default: {
        const Shape& shape = value.shape();
        const int from = axis;
        const auto takes_it = [&](const Value& operand) {
          return step(operand, aligned(operand.shape(), shape, from));
        };
        if (is_elementwise(node) && std::ranges::any_of(node.operands(), takes_it)) continue;
        break;
      }
    }
    const std::string name = node.name().empty() ? "" : fmt::format(" \"{}\"", node.name());
    return fail(fmt::format("[{}]{} {} has the bucket's extent {} for a constant",
                            info(node.op()).text, name, value.type().to_string(), upper_));
  }
}

// A place that is the bucket's already and still does not fit would be asked for again and again.
bool Derivation::same_extent(const Value& a, int axis_of_a, const Value& b, int axis_of_b) {
  if (axis_of_a < 0 || axis_of_b < 0) return true;
  const Dim &one = extent_now(a, axis_of_a), &other = extent_now(b, axis_of_b);
  const bool changed_one = changed(a, axis_of_a), changed_other = changed(b, axis_of_b);
  if (changed_one == changed_other) return true;
  const auto ask = [&](const Value& of, int axis) {
    if (!of.shape()[axis].is_const(upper_)) return true;
    if (need(of, axis)) return true;
    if (!attempt_.needed || !bucket_.contains(*attempt_.needed)) return false;
    attempt_.needed.reset();
    return fail(fmt::format("{} and {} do not fit", a.type().to_string(), b.type().to_string()));
  };
  if (changed_one && one == active_) return ask(b, axis_of_b);
  if (changed_other && other == active_) return ask(a, axis_of_a);
  return true;
}

bool Derivation::broadcast(const Node& node, size_t first, size_t second) {
  const Value &a = node.operands()[first], &b = node.operands()[second];
  const int rank = std::min(a.shape().rank(), b.shape().rank());
  for (int i = 1; i <= rank; ++i) {
    if (!same_extent(a, a.shape().rank() - i, b, b.shape().rank() - i)) return false;
  }
  return true;
}

bool Derivation::operands_fit(const Node& node, const std::vector<Value>& operands) {
  const auto value = [&](int i) { return node.operand(i); };
  const auto rank = [&](int i) { return value(i).shape().rank(); };
  if (is_elementwise(node)) {
    for (size_t i = 0; i < operands.size(); ++i) {
      for (size_t j = i + 1; j < operands.size(); ++j) {
        if (!broadcast(node, i, j)) return false;
      }
    }
    return true;
  }
  switch (node.op()) {
    case Op::MatMul:
      if (rank(0) < 2 || rank(1) < 2) return true;
      return same_extent(value(0), rank(0) - 1, value(1), rank(1) - 2);
    case Op::Concat:
      for (int i = 1; i < node.operand_count(); ++i) {
        for (int axis = 0; axis < rank(0); ++axis) {
          const bool joined = axis == node.attributes().integer("axis");
          if (!joined && !same_extent(value(0), axis, value(i), axis)) return false;
        }
      }
      return true;
    case Op::Attention:
      if (!same_extent(value(1), 1, value(2), 1)) return false;
      return node.operand_count() < 4 || (same_extent(value(0), 1, value(3), rank(3) - 2) &&
                                          same_extent(value(1), 1, value(3), rank(3) - 1));
    case Op::Rotary:
      return same_extent(value(0), 1, value(1), rank(1) - 2) &&
             same_extent(value(0), 1, value(2), rank(2) - 2);
    default:
      return true;
  }
}

}  // namespace tenon::graph
