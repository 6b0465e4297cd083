// Determinants by elimination with the largest pivot of each column, all matrices of a batch at
// once, in f64. The steps are written out, so the number of rows must be known and small.
#include "legalize/sampling.h"

namespace tenon::legalize::decompositions {

using graph::Op;

namespace {

constexpr int64_t kRows = 64;  // a step is some twenty ops

// Rows `from` .. of the matrices, and columns likewise.
Term part(const Term& m, int64_t row, int64_t rows, int64_t column, int64_t columns) {
  return {m.g(), m.g().slice(m, {0, row, column}, {m.shape()[0], rows, columns}, {1, 1, 1})};
}

}  // namespace

std::vector<Value> det(Graph& g, const Node& node, std::span<const Value> operands) {
  const Value x = operands[0];
  const Shape& shape = x.shape();
  const Dim& extent = shape[shape.rank() - 1];
  if (!extent.is_const() || extent.const_value() > kRows) return {};
  const int64_t n = extent.const_value();
  const std::vector<Dim>& batch = node.types()[0].shape.dims();
  const Dim count = product(batch);
  Term m = Term(g, g.reshape(x, {count, n, n})).as(DType::F64);
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
