// Slices by data: bounds clamped to their axes by integer ops, counts defined. With steps of 1 the
// starts are symbols too and the result a view; otherwise an index for each position is computed.
#include <algorithm>

#include "legalize/named_axes.h"

namespace tenon::legalize::decompositions {

namespace {

// Of each axis.
struct Cuts {
  Term start, count, step;
  Term wrong;  // bool[]
};

// As the op says: both bounds count from the end where negative, and are clamped to the axis.
Cuts cuts_of(Graph& g, const NamedAxes& axes, const Term& extents,
             std::span<const Value> operands) {
  constexpr int64_t kFar = int64_t{1} << 62;  // what can be negated
  const auto numbers = [&](size_t i) { return integers_of(g, operands[i]); };
  const auto from_front = [&](const Term& at) { return choose(less(at, 0), at + extents, at); };
  const Term step = axes.spread(numbers(4), 1);
  const Term up = more(step, 0), last = choose(up, extents, extents - 1);
  const Term start = clamped(from_front(axes.spread(numbers(1), 0)), 0, last);
  const Term end =
      clamped(from_front(axes.spread(numbers(2), extents)), choose(up, extents * 0, -1), last);
  const Term span = choose(up, end - start, start - end);
  const Term stride = larger(choose(up, step, -larger(step, -kFar)), 1);
  const Term some = both(more(span, 0), more(extents, 0));
  return {start, choose(some, (span - 1) / stride + 1, 0), step,
          either(axes.wrong(), any_of(equal(step, 0)))};
}

bool are_ones(Value steps) {
  const auto& known = steps.shape_value();
  return known && std::ranges::all_of(*known, [](const Dim& step) { return step.is_const(1); });
}

Value sliced(Graph& g, Value x, const Term& start, const std::vector<Dim>& extents,
             const NamedAxes& axes) {
  const std::vector<Dim> first = define(g, start, "start");
  std::vector<Dim> starts(extents.size(), 0);
  for (const int axis : axes.possible()) {
    starts[static_cast<size_t>(axis)] = first[static_cast<size_t>(axis)];
  }
  return g.slice(x, std::move(starts), extents, std::vector<int64_t>(extents.size(), 1));
}

Value picked(Graph& g, Value x, const Cuts& cuts, const std::vector<Dim>& extents,
             const NamedAxes& axes) {
  for (const int axis : axes.possible()) {
    const Term positions(g, iota(g, extents[static_cast<size_t>(axis)]));
    x = g.gather(x, positions * cuts.step.at(axis) + cuts.start.at(axis), axis);
  }
  return x;
}

}  // namespace

std::vector<Value> slice_to(Graph& g, const Node& node, std::span<const Value> operands) {
  const Value x = operands[0];
  const std::vector<Dim>& extents = node.attributes().dims("shape");
  if (extents.empty()) return {x};
  const NamedAxes axes(g, operands[3], x.shape().rank());
  const Cuts cuts = cuts_of(g, axes, extents_of(g, x), operands);
  const bool defined = define_own(g, choose(cuts.wrong, -1, cuts.count), extents);
  const Value result = are_ones(operands[4]) ? sliced(g, x, cuts.start, extents, axes)
                                             : picked(g, x, cuts, extents, axes);
  return {defined ? result : checked(g, result, cuts.wrong, "wrong_slice")};
}

}  // namespace tenon::legalize::decompositions
