// See named_axes.h.
#include "legalize/named_axes.h"

#include <algorithm>

namespace tenon::legalize::decompositions {

using graph::Op;

namespace {

// The axis itself, or counted from the end.
Term hits_of(Graph& g, Value axes, int rank) {
  const Term given = integers_of(g, axes);
  const Term here = Term(g, iota(g, rank)).reshape({rank, 1});
  return either(equal(here, given), equal(here - rank, given));
}

Term named_of(const Term& hits) {
  return more(hits.as(DType::I64).reduce(Op::ReduceSum, 1), 0).reshape({hits.shape()[0]});
}

std::vector<int> possible_axes(Value axes, int rank) {
  std::vector<int> result;
  const auto& known = axes.shape_value();
  for (int axis = 0; axis < rank; ++axis) {
    const auto may_be = [&](const Dim& named) {
      return !named.is_const() || named.is_const(axis) || named.is_const(axis - rank);
    };
    if (!known || std::ranges::any_of(*known, may_be)) result.push_back(axis);
  }
  return result;
}

}  // namespace

NamedAxes::NamedAxes(Graph& g, Value axes, int rank)
    : g_(g),
      count_(axes.shape().elements()),
      hits_(hits_of(g, axes, rank)),
      named_(named_of(hits_)),
      wrong_(!equal(sum_of(named_.as(DType::I64)), count_)),
      possible_(possible_axes(axes, rank)) {}

Term NamedAxes::none() const { return equal(number(g_, count_), 0); }

Term NamedAxes::spread(const Term& values, const Operand& otherwise) const {
  g_.add_constraint({Constraint::Kind::Equal, values.shape()[0], count_, "numbers for each axis"});
  const Term sums = choose(hits_, values, 0).reduce(Op::ReduceSum, 1);
  return choose(named_, sums.reshape({hits_.shape()[0]}), otherwise);
}

}  // namespace tenon::legalize::decompositions
