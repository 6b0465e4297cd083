// See around_axis.h.
#include "legalize/around_axis.h"

#include "base/error.h"

namespace tenon::legalize::decompositions {

namespace {

AroundAxis around_known(const Shape& shape, int64_t axis, int rank) {
  if (axis < 0) axis += shape.rank();
  if (axis < 0 || axis >= rank) {
    throw user_error("axis {} is none of {}", axis, shape.to_string());
  }
  AroundAxis around{1, shape[static_cast<int>(axis)], 1};
  for (int i = 0; i < rank; ++i) {
    if (i < axis) around.outer = around.outer * shape[i];
    if (i > axis) around.inner = around.inner * shape[i];
  }
  return around;
}

}  // namespace

AroundAxis around_axis(Graph& g, Value x, Value axis, int rank) {
  const auto& known = axis.shape_value();
  if (known && known->size() == 1 && (*known)[0].is_const()) {
    return around_known(x.shape(), (*known)[0].const_value(), rank);
  }
  const Term given = integer_of(g, axis);
  const Term at = choose(less(given, 0), given + x.shape().rank(), given);
  const Term here(g, iota(g, rank));
  const Term extents(g, g.dims({x.shape().begin(), x.shape().begin() + rank}));
  const Term parts = joined({product_of(choose(less(here, at), extents, 1)),
                             sum_of(choose(equal(here, at), extents, 0)),
                             product_of(choose(more(here, at), extents, 1))});
  const Term wrong = either(less(at, 0), more(at, rank - 1));
  const std::vector<Dim> dims = define(g, choose(wrong, -1, parts), "around");
  return {dims[0], dims[1], dims[2]};
}

}  // namespace tenon::legalize::decompositions
