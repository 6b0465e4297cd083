// Evaluation of rotary positions: each pair of a head turned by its angle, in f64.
#include "base/error.h"
#include "graph/evaluate.h"

namespace tenon::graph::evaluators {

Results rotary(const Evaluation& e) {
  const Tensor &x = e.operand(0), &tc = e.operand(1), &ts = e.operand(2);
  const bool interleaved = e.attributes().integer("interleaved") != 0;
  const auto width = static_cast<size_t>(x.shape[2] / e.attributes().integer("heads"));
  const auto pairs = static_cast<size_t>(tc.shape.back());
  const Extents per_row{x.shape[0], x.shape[1], tc.shape.back()};
  const bool batched = tc.shape.size() == 3;
  if (tc.shape != ts.shape || tc.shape != (batched ? per_row : Extents{per_row[1], per_row[2]})) {
    throw user_error("[rotary] extents of x, cos and sin do not fit: [{}] x [{}] x [{}]",
                     fmt::join(x.shape, ", "), fmt::join(tc.shape, ", "),
                     fmt::join(ts.shape, ", "));
  }
  std::vector<double> values = to_doubles(x);
  const std::vector<double> cos = to_doubles(tc), sin = to_doubles(ts);
  const auto rows = static_cast<size_t>(x.shape[0] * x.shape[1]),
             columns = static_cast<size_t>(x.shape[2]);
  for (size_t row = 0; row < rows; ++row) {
    const size_t angles = (batched ? row : row % static_cast<size_t>(x.shape[1])) * pairs;
    for (size_t head = 0; head < columns; head += width) {
      double* first = values.data() + row * columns + head;
      for (size_t i = 0; i < pairs; ++i) {
        double& a = first[interleaved ? 2 * i : i];
        double& b = first[interleaved ? 2 * i + 1 : i + pairs];
        const double c = cos[angles + i], s = sin[angles + i], turned = a * c - b * s;
        b = b * c + a * s;
        a = turned;
      }
    }
  }
  return {from_doubles(e.dtype(), x.shape, values)};
}

}  // namespace tenon::graph::evaluators
