// Evaluation of matmul, linear and attention: f64 sums in ascending order of the contracted axis,
// rounded once.
#include <algorithm>
#include <cmath>
#include <limits>

#include "base/error.h"
#include "graph/activation.h"
#include "graph/evaluate.h"
#include "graph/product.h"

namespace tenon::graph::evaluators {

namespace {

struct Matrices {
  Extents shape;                    // of the result
  std::vector<int64_t> at_a, at_b;  // matrix numbers per result matrix
  size_t m, n, k;
};

Matrices matrices(const Tensor& a, const Tensor& b) {
  const std::span<const int64_t> sa(a.shape), sb(b.shape);
  const size_t ra = sa.size(), rb = sb.size();
  if (sa[ra - 1] != sb[rb - 2]) {
    throw user_error("[matmul] inner extents differ: [{}] x [{}]", fmt::join(sa, ", "),
                     fmt::join(sb, ", "));
  }
  Matrices result;
  result.shape = broadcast_extents(Op::MatMul, sa.first(ra - 2), sb.first(rb - 2));
  result.at_a = spread_offsets(sa.first(ra - 2), result.shape);
  result.at_b = spread_offsets(sb.first(rb - 2), result.shape);
  result.m = static_cast<size_t>(sa[ra - 2]);
  result.k = static_cast<size_t>(sa[ra - 1]);
  result.n = static_cast<size_t>(sb[rb - 1]);
  result.shape.push_back(sa[ra - 2]);
  result.shape.push_back(sb[rb - 1]);
  return result;
}

template <typename T>
std::vector<T> product(const Matrices& s, const std::vector<T>& a, const std::vector<T>& b) {
  std::vector<T> c(static_cast<size_t>(element_count(s.shape)));
  for (size_t i = 0; i < s.at_a.size(); ++i) {
    add_product(a.data() + static_cast<size_t>(s.at_a[i]) * s.m * s.k,
                b.data() + static_cast<size_t>(s.at_b[i]) * s.k * s.n, c.data() + i * s.m * s.n,
                s.m, s.n, s.k);
  }
  return c;
}

// exp(row - max) / sum; 0 where every score is -inf.
void softmax_row(std::span<double> row) {
  double largest = -std::numeric_limits<double>::infinity(), sum = 0;
  for (const double score : row) largest = std::isnan(score) ? score : std::max(largest, score);
  if (largest == -std::numeric_limits<double>::infinity()) {
    std::ranges::fill(row, 0.0);
    return;
  }
  for (double& score : row) sum += score = std::exp(score - largest);
  for (double& score : row) score /= sum;
}

}  // namespace

Results matmul(const Evaluation& e) {
  const Tensor &a = e.operand(0), &b = e.operand(1);
  const Matrices s = matrices(a, b);
  if (is_float(a.dtype)) {
    return {from_doubles(e.dtype(), s.shape, product(s, to_doubles(a), to_doubles(b)))};
  }
  const std::vector<int64_t> ia = to_integers(a), ib = to_integers(b);
  const std::vector<uint64_t> sums = product(s, std::vector<uint64_t>(ia.begin(), ia.end()),
                                             std::vector<uint64_t>(ib.begin(), ib.end()));
  Tensor result = make_tensor(e.dtype(), s.shape);
  const auto size = static_cast<size_t>(size_of(e.dtype()));
  for (size_t i = 0; i < sums.size(); ++i) {  // little-endian: the low bytes are the wrapped value
    for (size_t k = 0; k < size; ++k) {
      result.bytes[i * size + k] = static_cast<std::byte>(sums[i] >> (8 * k));
    }
  }
  return {std::move(result)};
}

Results linear(const Evaluation& e) {
  const Tensor &x = e.operand(0), &w = e.operand(1);
  Matrices s = matrices(x, w);
  std::vector<double> values = product(s, to_doubles(x), to_doubles(w));
  if (e.attributes().integer("bias") != 0) {
    const std::vector<double> bias = to_doubles(e.operand(2));
    if (bias.size() != s.n)
      throw user_error("[linear] bias has {} elements, not {}", bias.size(), s.n);
    for (size_t i = 0; i < values.size(); ++i) values[i] += bias[i % s.n];
  }
  const std::optional<Activation> kind = parse_activation(e.attributes().text("activation"));
  if (const std::optional<Op> op = op_of(kind.value())) {
    for (double& value : values) value = activate(*op, value);
  }
  if (e.attributes().integer("residual") != 0) {
    const Tensor& residual = *e.operands.back();
    if (residual.shape != s.shape) throw user_error("[linear] residual has another shape");
    const std::vector<double> added = to_doubles(residual);
    for (size_t i = 0; i < values.size(); ++i) values[i] += added[i];
  }
  return {from_doubles(e.dtype(), std::move(s.shape), values)};
}

Results attention(const Evaluation& e) {
  const Tensor &tq = e.operand(0), &tk = e.operand(1), &tv = e.operand(2);
  const auto heads = static_cast<size_t>(e.attributes().integer("heads"));
  const auto kv_heads = static_cast<size_t>(e.attributes().integer("kv_heads"));
  const auto width = static_cast<size_t>(e.attributes().integer("head_dim"));
  const double scale = e.attributes().number("scale");
  const auto batch = static_cast<size_t>(tq.shape[0]), queries = static_cast<size_t>(tq.shape[1]);
  const auto keys = static_cast<size_t>(tk.shape[1]);
  if (tk.shape != tv.shape || tk.shape[0] != tq.shape[0]) {
    throw user_error("[attention] extents of q, k and v differ: [{}] x [{}] x [{}]",
                     fmt::join(tq.shape, ", "), fmt::join(tk.shape, ", "),
                     fmt::join(tv.shape, ", "));
  }
  const std::vector<double> q = to_doubles(tq), k = to_doubles(tk), v = to_doubles(tv);
  const Extents score_shape{tq.shape[0], static_cast<int64_t>(heads), tq.shape[1], tk.shape[1]};
  std::vector<double> mask;
  std::vector<int64_t> at_mask;
  if (e.node.operand_count() == 4) {
    mask = to_doubles(e.operand(3));
    at_mask = spread_offsets(e.operand(3).shape, score_shape);
  }
  std::vector<double> result(q.size()), scores(keys);
  const size_t row_q = heads * width, row_kv = kv_heads * width;
  for (size_t row = 0; row < batch * heads * queries; ++row) {
    const size_t b = row / (heads * queries), h = row / queries % heads, i = row % queries;
    const double* qi = q.data() + (b * queries + i) * row_q + h * width;
    const size_t head_kv = b * keys * row_kv + h / (heads / kv_heads) * width;
    for (size_t j = 0; j < keys; ++j) {
      const double* kj = k.data() + head_kv + j * row_kv;
      double sum = 0;
      for (size_t d = 0; d < width; ++d) sum += qi[d] * kj[d];
      scores[j] = sum * scale;
      if (!mask.empty()) scores[j] += mask[static_cast<size_t>(at_mask[row * keys + j])];
    }
    softmax_row(scores);
    double* out = result.data() + (b * queries + i) * row_q + h * width;
    for (size_t j = 0; j < keys; ++j) {
      const double* vj = v.data() + head_kv + j * row_kv;
      for (size_t d = 0; d < width; ++d) out[d] += scores[j] * vj[d];
    }
  }
  return {from_doubles(e.dtype(), tq.shape, result)};
}

}  // namespace tenon::graph::evaluators
