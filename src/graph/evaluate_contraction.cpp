// Evaluation of matmul and the linears: f64 sums in ascending order of the contracted axis, rounded
// once.
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

namespace {

// activation((x @ w) * scale of the row + bias)
std::vector<double> activated_product(const Evaluation& e, const Matrices& s, const Tensor& w,
                                      const Tensor* row_scale, const Tensor* bias,
                                      Activation activation) {
  std::vector<double> values = product(s, to_doubles(e.operand(0)), to_doubles(w));
  if (row_scale) {
    const std::vector<double> scale = to_doubles(*row_scale);
    if (scale.size() * s.n != values.size()) {
      throw user_error("[{}] row_scale has {} elements, not {}", info(e.node.op()).text,
                       scale.size(), s.n == 0 ? 0 : values.size() / s.n);
    }
    for (size_t i = 0; i < values.size(); ++i) values[i] *= scale[i / s.n];
  }
  if (bias) {
    const std::vector<double> added = to_doubles(*bias);
    if (added.size() != s.n) {
      throw user_error("[linear] bias has {} elements, not {}", added.size(), s.n);
    }
    for (size_t i = 0; i < values.size(); ++i) values[i] += added[i % s.n];
  }
  if (const std::optional<Op> op = op_of(activation)) {
    for (double& value : values) value = activate(*op, value);
  }
  return values;
}

// The last operand, where the attribute says that it is one.
const Tensor* row_scale_of(const Evaluation& e) {
  return e.attributes().integer("row_scale") != 0 ? e.operands.back() : nullptr;
}

Activation activation_of(const Evaluation& e) {
  return parse_activation(e.attributes().text("activation")).value();
}

}  // namespace

Results linear(const Evaluation& e) {
  Matrices s = matrices(e.operand(0), e.operand(1));
  int next = 2;
  const Tensor* bias = e.attributes().integer("bias") != 0 ? &e.operand(next++) : nullptr;
  std::vector<double> values =
      activated_product(e, s, e.operand(1), row_scale_of(e), bias, activation_of(e));
  if (e.attributes().integer("residual") != 0) {
    const Tensor& residual = e.operand(next);
    if (residual.shape != s.shape) throw user_error("[linear] residual has another shape");
    const std::vector<double> added = to_doubles(residual);
    for (size_t i = 0; i < values.size(); ++i) values[i] += added[i];
  }
  return {from_doubles(e.dtype(), std::move(s.shape), values)};
}

Results gated_linear(const Evaluation& e) {
  const Tensor &gate = e.operand(1), &up = e.operand(2), *row_scale = row_scale_of(e);
  Matrices s = matrices(e.operand(0), gate);
  if (up.shape != gate.shape) {
    throw user_error("[gated_linear] gate and up differ: [{}] x [{}]", fmt::join(gate.shape, ", "),
                     fmt::join(up.shape, ", "));
  }
  std::vector<double> values = activated_product(e, s, gate, row_scale, nullptr, activation_of(e));
  const std::vector<double> factors =
      activated_product(e, s, up, row_scale, nullptr, Activation::None);
  for (size_t i = 0; i < values.size(); ++i) values[i] *= factors[i];
  return {from_doubles(e.dtype(), std::move(s.shape), values)};
}

}  // namespace tenon::graph::evaluators
