// Inference of contractions and the fused ops around them: matmul, norms, linears, attention.
#include "graph/activation.h"
#include "graph/infer_checks.h"

namespace tenon::graph::rules {

namespace {

void check_float_and_equal(const Inference& op) {
  for (int i = 0; i < op.operand_count(); ++i) {
    if (!is_float(op.operand(i).dtype)) throw op.fail("needs floating-point operands");
    if (op.operand(i).dtype != op.operand(0).dtype) {
      throw op.fail("operands have different dtypes (cast them)");
    }
  }
}

std::span<const Dim> batch_dims(const Shape& shape) {
  return std::span(shape.dims()).first(static_cast<size_t>(shape.rank() - 2));
}

int64_t positive(const Inference& op, std::string_view name) {
  const int64_t value = op.attributes().integer(name);
  if (value < 1 || value > (int64_t{1} << 31)) {
    throw op.fail(fmt::format("{} = {} is not allowed", name, value));
  }
  return value;
}

void check_activation(const Inference& op) {
  const std::string& activation = op.attributes().text("activation");
  if (!parse_activation(activation)) {
    throw op.fail(fmt::format("activation \"{}\" is unknown", activation));
  }
}

// The last operand, where the attribute says that it is one: [rows..., 1].
void check_row_scale(Inference& op, const Shape& x) {
  if (op.attributes().integer("row_scale") == 0) return;
  const Shape& scale = op.operand(op.operand_count() - 1).shape;
  if (scale.rank() != x.rank()) throw op.fail("row_scale must have the rank of x");
  for (int i = 0; i < x.rank() - 1; ++i) op.same(x[i], scale[i], "rows of x and row_scale");
  op.same(scale[x.rank() - 1], 1, "last extent of row_scale and 1");
}

// x @ w, w a matrix.
std::vector<Dim> product_dims(Inference& op, const Shape& x, const Shape& w) {
  op.same(x[x.rank() - 1], w[0], "inner extents");
  std::vector<Dim> dims = x.dims();
  dims.back() = w[1];
  return dims;
}

}  // namespace

void matmul(Inference& op) {
  const TensorType &a = op.operand(0), &b = op.operand(1);
  if (a.dtype != b.dtype) throw op.fail("operands have different dtypes (cast one of them)");
  if (a.dtype == DType::Bool) throw op.fail("has no meaning for bool");
  const int rank_a = a.shape.rank(), rank_b = b.shape.rank();
  if (rank_a == 0 || rank_b == 0) throw op.fail("a scalar is no matrix");
  if (rank_a == 1 || rank_b == 1) {
    throw op.unsupported("operands of one axis must be reshaped to two");
  }
  op.same(a.shape[rank_a - 1], b.shape[rank_b - 2], "inner extents");
  std::vector<Dim> dims = op.broadcast(batch_dims(a.shape), batch_dims(b.shape)).dims();
  dims.push_back(a.shape[rank_a - 2]);
  dims.push_back(b.shape[rank_b - 1]);
  op.result(Shape(std::move(dims)), a.dtype);
}

void layer_norm(Inference& op) {
  check_float_and_equal(op);
  const Shape &x = op.operand(0).shape, &scale = op.operand(1).shape, &bias = op.operand(2).shape;
  if (x.rank() == 0) throw op.fail("a scalar has no axis to normalize");
  if (scale.rank() != 1 || bias.rank() != 1) throw op.fail("scale and bias must have one axis");
  if (op.attributes().number("epsilon") < 0) throw op.fail("epsilon is negative");
  op.same(x[x.rank() - 1], scale[0], "last extent and scale");
  op.same(x[x.rank() - 1], bias[0], "last extent and bias");
  op.result(x, op.operand(0).dtype);
}

void rms_norm(Inference& op) {
  check_float_and_equal(op);
  const Shape &x = op.operand(0).shape, &scale = op.operand(1).shape;
  if (x.rank() == 0) throw op.fail("a scalar has no axis to normalize");
  if (scale.rank() != 1) throw op.fail("scale must have one axis");
  if (op.attributes().number("epsilon") < 0) throw op.fail("epsilon is negative");
  op.same(x[x.rank() - 1], scale[0], "last extent and scale");
  op.result(x, op.operand(0).dtype);
}

void linear(Inference& op) {
  check_float_and_equal(op);
  const int64_t has_bias = checked_integer(op, "bias", kFlag);
  const int64_t has_residual = checked_integer(op, "residual", kFlag);
  const int64_t has_scale = checked_integer(op, "row_scale", kFlag);
  if (op.operand_count() != 2 + has_bias + has_residual + has_scale) {
    throw op.fail(
        fmt::format("bias = {}, residual = {} and row_scale = {} do not fit the number of operands",
                    has_bias, has_residual, has_scale));
  }
  check_activation(op);
  const Shape &x = op.operand(0).shape, &w = op.operand(1).shape;
  if (x.rank() < 2 || w.rank() != 2) throw op.fail("needs x of two axes or more, and w of two");
  std::vector<Dim> dims = product_dims(op, x, w);
  if (has_bias != 0) {
    const Shape& bias = op.operand(2).shape;
    if (bias.rank() != 1) throw op.fail("bias must have one axis");
    dims.back() = op.same(w[1], bias[0], "columns and bias");
  }
  if (has_residual != 0) {
    const Shape& residual = op.operand(static_cast<int>(2 + has_bias)).shape;
    if (residual.rank() != x.rank()) throw op.fail("residual must have the rank of the result");
    for (int i = 0; i < x.rank(); ++i) {
      Dim& dim = dims[static_cast<size_t>(i)];
      dim = op.same(dim, residual[i], "result and residual extents");
    }
  }
  check_row_scale(op, x);
  op.result(Shape(std::move(dims)), op.operand(0).dtype);
}

void gated_linear(Inference& op) {
  check_float_and_equal(op);
  const int64_t has_scale = checked_integer(op, "row_scale", kFlag);
  if (op.operand_count() != 3 + has_scale) {
    throw op.fail(fmt::format("row_scale = {} does not fit the number of operands", has_scale));
  }
  check_activation(op);
  const Shape &x = op.operand(0).shape, &gate = op.operand(1).shape, &up = op.operand(2).shape;
  if (x.rank() < 2 || gate.rank() != 2 || up.rank() != 2) {
    throw op.fail("needs x of two axes or more, gate and up of two");
  }
  std::vector<Dim> dims = product_dims(op, x, gate);
  dims.back() = op.same(dims.back(), product_dims(op, x, up).back(), "columns of gate and up");
  check_row_scale(op, x);
  op.result(Shape(std::move(dims)), op.operand(0).dtype);
}

void attention(Inference& op) {
  check_float_and_equal(op);
  const int64_t heads = positive(op, "heads"), kv_heads = positive(op, "kv_heads");
  const int64_t head_dim = positive(op, "head_dim");
  if (heads % kv_heads != 0) {
    throw op.fail(fmt::format("{} heads are no multiple of {} kv_heads", heads, kv_heads));
  }
  const int64_t causal = checked_integer(op, "causal", kFlag);
  const int64_t window = checked_integer(op, "window", {0, int64_t{1} << 31});
  if (window != 0 && causal == 0) throw op.fail("a window needs causal attention");
  if (op.attributes().number("softcap") < 0) throw op.fail("softcap is negative");
  const Shape &q = op.operand(0).shape, &k = op.operand(1).shape, &v = op.operand(2).shape;
  if (q.rank() != 3 || k.rank() != 3 || v.rank() != 3) throw op.fail("q, k and v need three axes");
  op.same(q[2], heads * head_dim, "last extent of q and heads * head_dim");
  op.same(k[2], kv_heads * head_dim, "last extent of k and kv_heads * head_dim");
  op.same(v[2], kv_heads * head_dim, "last extent of v and kv_heads * head_dim");
  op.same(q[0], k[0], "batches of q and k");
  op.same(q[0], v[0], "batches of q and v");
  op.same(k[1], v[1], "keys of k and v");
  if (op.operand_count() == 4) {
    const Dim scores[] = {q[0], heads, q[1], k[1]};
    op.spread(op.operand(3).shape.dims(), scores, "mask and score extents");
  }
  op.result(q, op.operand(0).dtype);
}

}  // namespace tenon::graph::rules
