// Determinants, by elimination with the largest pivot of each column.
#include <cmath>

#include "graph/evaluate.h"

namespace tenon::graph::evaluators {

namespace {

double determinant(std::span<double> matrix, size_t n) {
  double result = 1;
  for (size_t column = 0; column < n; ++column) {
    size_t pivot = column;
    for (size_t row = column + 1; row < n; ++row) {
      if (std::fabs(matrix[row * n + column]) > std::fabs(matrix[pivot * n + column])) pivot = row;
    }
    if (pivot != column) {
      for (size_t k = 0; k < n; ++k) std::swap(matrix[pivot * n + k], matrix[column * n + k]);
      result = -result;
    }
    const double divisor = matrix[column * n + column];
    result *= divisor;
    if (divisor == 0) return 0;
    for (size_t row = column + 1; row < n; ++row) {
      const double factor = matrix[row * n + column] / divisor;
      for (size_t k = column; k < n; ++k) matrix[row * n + k] -= factor * matrix[column * n + k];
    }
  }
  return result;
}

}  // namespace

Results det(const Evaluation& e) {
  const Tensor& x = e.operand(0);
  const Extents shape(x.shape.begin(), x.shape.end() - 2);
  const auto n = static_cast<size_t>(x.shape.back());
  std::vector<double> values = to_doubles(x);
  std::vector<double> result(static_cast<size_t>(element_count(shape)));
  for (size_t i = 0; i < result.size(); ++i) {
    result[i] = determinant(std::span(values).subspan(i * n * n, n * n), n);
  }
  return {from_doubles(x.dtype, shape, result)};
}

}  // namespace tenon::graph::evaluators
