// Determinants by elimination with the largest pivot of each column, all matrices of a batch at
// once, in f64. The steps of a small number of rows are written out, on matrices that become
// smaller; otherwise a loop goes over the columns of matrices that keep their extents.
#include "legalize/over_time.h"
#include "legalize/sampling.h"

namespace tenon::legalize::decompositions {

using graph::Op;

namespace {

constexpr int64_t kRows = 16;  // written out: a step is some twenty ops

// Rows `from` .. of the matrices, and columns likewise.
Term part(const Term& m, int64_t row, int64_t rows, int64_t column, int64_t columns) {
  return {m.g(), m.g().slice(m, {0, row, column}, {m.shape()[0], rows, columns}, {1, 1, 1})};
}

// One step of the loop: column i of [count, n, n] becomes 0 below row i.
StepOutputs eliminate_column(const StepInputs& in, const Dim& n) {
  const Term m(in.g, in.states[0]), i = in.number;
  const Term row = Term(in.g, iota(in.g, n)).reshape({1, n, 1});
  const Term is_column = equal(row.reshape({1, 1, n}), i);
  const auto column_of = [&](const Term& of) {
    return choose(is_column, of, 0.0).reduce(Op::ReduceSum, 2);
  };
  const auto row_of = [&](const Term& of) { return choose(of, m, 0.0).reduce(Op::ReduceSum, 1); };
  const Term below = at_most(i.reshape({1, 1, 1}), row);
  const Term sizes = choose(below, magnitude(column_of(m)), -1.0);
  const Term first =
      choose(equal(sizes, sizes.reduce(Op::ReduceMax, 1)), row, n).reduce(Op::ReduceMin, 1);
  const Term pivot = choose(equal(first, n), i, first);  // none: a NaN is in the column
  const Term chosen = equal(row, pivot), pivot_row = row_of(chosen);
  const Term divisor = column_of(pivot_row);
  const Term result = Term(in.g, in.states[1]) * choose(equal(pivot, i), divisor, -divisor);
  const Term rest = choose(chosen, row_of(equal(row, i)), m);
  const Term safe = choose(equal(divisor, 0), 1.0, divisor);
  return {{rest - column_of(rest) / safe * pivot_row, result}, {}};
}

Term eliminated(const Term& m) {
  Graph& g = m.g();
  const Dim n = m.shape()[1];
  const Value one = g.expand(g.scalar(DType::F64, 1), {m.shape()[0], 1, 1});
  const StepOutputs last = over_time(g, {n, {}, {}, {m, one}},
                                     [&](const StepInputs& in) { return eliminate_column(in, n); });
  return {g, last.states[1]};
}

}  // namespace

std::vector<Value> det(Graph& g, const Node& node, std::span<const Value> operands) {
  const Value x = operands[0];
  const Shape& shape = x.shape();
  const Dim& extent = shape[shape.rank() - 1];
  const std::vector<Dim>& batch = node.types()[0].shape.dims();
  const Dim count = product(batch);
  Term m = Term(g, g.reshape(x, {count, extent, extent})).as(DType::F64);
  if (!extent.is_const() || extent.const_value() > kRows) {
    return {eliminated(m).as(x.dtype()).reshape(batch)};
  }
  const int64_t n = extent.const_value();
  Term result(g, g.expand(g.scalar(DType::F64, 1), {count, 1, 1}));
  for (int64_t left = n; left > 0; --left) {  // m is [count, left, left]
    const Term row = Term(g, iota(g, left)).reshape({1, left, 1});
    const Term sizes = magnitude(part(m, 0, left, 0, 1));
    const Term first =
        choose(equal(sizes, sizes.reduce(Op::ReduceMax, 1)), row, left).reduce(Op::ReduceMin, 1);
    const Term pivot = choose(equal(first, left), 0, first);  // none: a NaN is in the column
    const Term chosen = equal(row, pivot);
    const Term pivot_row = choose(chosen, m, 0.0).reduce(Op::ReduceSum, 1);
    const Term divisor = part(pivot_row, 0, 1, 0, 1);
    result = result * choose(equal(pivot, 0), divisor, -divisor);
    if (left == 1) break;
    // The first row takes the pivot's place.
    const Term rest = choose(chosen, part(m, 0, 1, 0, left), m);
    const Term safe = choose(equal(divisor, 0), 1.0, divisor);
    const Term factors = part(rest, 1, left - 1, 0, 1) / safe;
    m = part(rest, 1, left - 1, 1, left - 1) - factors * part(pivot_row, 0, 1, 1, left - 1);
  }
  return {result.as(x.dtype()).reshape(batch)};
}

}  // namespace tenon::legalize::decompositions
