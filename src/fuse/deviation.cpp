// See deviation.h.
#include "fuse/deviation.h"

#include <utility>

namespace tenon::fuse {

using graph::Node;
using graph::Op;
using graph::Value;

namespace {

// d where the value is d * d.
Value square_of(Value value) {
  if (value.op() != Op::Mul && value.op() != Op::Pow) return {};
  Value a = value.node->operand(0);
  Value b = value.node->operand(1);
  bool square = value.op() == Op::Mul ? a == b : scalar_constant(b) == 2.0;
  return square && a.type() == value.type() ? a : Value{};
}

// Multiplies by x, the scale, or both.
bool multiply(Normalized& state, Value factor, const Deviation& d) {
  if (factor == d.x) return !std::exchange(state.has_x, true);
  if (is_row_vector(factor, d.columns)) {
    if (state.scale) return false;
    state.scale = factor;
    return true;
  }
  if (factor.op() != Op::Mul || state.has_x || state.scale) return false;
  Value a = factor.node->operand(0);
  Value b = factor.node->operand(1);
  if (b == d.x) std::swap(a, b);
  if (!(a == d.x) || !is_row_vector(b, d.columns)) return false;
  state.has_x = true;
  state.scale = b;
  return true;
}

}  // namespace

Value mean_of(Value value) {
  if (value.op() != Op::ReduceMean || !reduces_last_axis(*value.node)) return {};
  return value.node->operand(0);
}

std::optional<Deviation> deviation(const Node& node) {
  if (node.op() != Op::Sqrt || node.operand(0).op() != Op::Add) return std::nullopt;
  const Node& radicand = *node.operand(0).node;
  Value mean = radicand.operand(0);
  Value added = radicand.operand(1);
  if (scalar_constant(mean)) std::swap(mean, added);
  const std::optional<double> epsilon = scalar_constant(added);
  if (!epsilon || *epsilon < 0) return std::nullopt;
  const Value squares = mean_of(mean);
  const Value x = squares ? square_of(squares) : Value{};
  if (!x) return std::nullopt;
  return Deviation{&node, x, *epsilon, x.shape()[x.shape().rank() - 1]};
}

bool advance(Normalized& state, const Node& user, const Deviation& d) {
  Value value = std::exchange(state.value, Value{&user});
  switch (user.op()) {
    case Op::Reciprocal:
      return !std::exchange(state.inverted, true);
    case Op::Div:
      if (state.inverted || !(user.operand(1) == value) || user.operand(0) == value) return false;
      state.inverted = true;
      return scalar_constant(user.operand(0)) == 1.0 || multiply(state, user.operand(0), d);
    case Op::Mul: {
      Value factor = other_operand(user, value);
      return factor && state.inverted && multiply(state, factor, d);
    }
    case Op::Cast:  // back to the dtype that x was widened from
      return state.has_x && state.inverted && is_widened(d.x) &&
             d.x.node->operand(0).dtype() == state.value.dtype();
    default:
      return false;
  }
}

void follow(const Deviation& d, const graph::UseLists& uses,
            const std::function<void(const Normalized&, const Node&)>& visit) {
  std::vector<Normalized> work{{.value = Value{d.root}}};
  while (!work.empty()) {
    const Normalized state = work.back();
    work.pop_back();
    for (const graph::UseLists::Use& use : uses.uses(state.value)) {
      visit(state, *use.user);
      Normalized next = state;
      if (advance(next, *use.user, d)) work.push_back(next);
    }
  }
}

}  // namespace tenon::fuse
