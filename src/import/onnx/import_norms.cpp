// Importers of norms over the last axes: layer norm and the root-mean-square norm, of the standard
// and as ONNX Runtime fuses them with a sum. Statistics are computed in stash_type (f32).
#include <algorithm>

#include "import/onnx/importers.h"
#include "import/onnx/ops/transformer.h"

namespace tenon::onnx::importers {
namespace {

Value to_dtype(Call& call, Value x, DType dtype) {
  return x.dtype() == dtype ? x : call.g.cast(x, dtype);
}

// Statistics are never narrower than stash_type.
DType stash_dtype(Call& call, DType dtype) {
  const DType stash = dtype_of(call.integer("stash_type", 1), "stash_type");
  if (!is_float(stash)) throw user_error("stash_type must be a float type");
  return dtype == DType::F64 ? dtype : stash;
}

std::vector<int64_t> axes_from(int64_t axis, int rank) {
  std::vector<int64_t> axes;
  for (int64_t i = axis; i < rank; ++i) axes.push_back(i);
  return axes;
}

// 1 / sqrt(mean of the squares + epsilon), in the dtype of x.
Value inverse_root(Call& call, Value x, const std::vector<int64_t>& axes, double epsilon) {
  graph::Graph& g = call.g;
  Value mean = g.reduce(Op::ReduceMean, g.mul(x, x), axes);
  return g.unary(Op::Reciprocal, g.unary(Op::Sqrt, g.add(mean, g.scalar(x.dtype(), epsilon))));
}

struct Statistics {
  Value mean, inverse;
};

Statistics statistics(Call& call, Value x, int64_t axis, double epsilon, DType dtype) {
  x = to_dtype(call, x, dtype);
  const std::vector<int64_t> axes = axes_from(axis, x.shape().rank());
  Value mean = call.g.reduce(Op::ReduceMean, x, axes);
  return {mean, inverse_root(call, call.g.sub(x, mean), axes, epsilon)};
}

Value reshaped(Call& call, Value x, const std::vector<Dim>& dims) {
  return x.shape().dims() == dims ? x : call.g.reshape(x, dims);
}

bool has_dims(Value x, std::span<const Dim> dims) {
  return x && std::equal(dims.begin(), dims.end(), x.shape().begin(), x.shape().end());
}

// The graph's norm is over the last axis; a norm over several is one over their product. Scale and
// bias that are spread come after it.
Value layer_norm(Call& call, Value x, Value scale, Value bias, int64_t axis, double epsilon) {
  graph::Graph& g = call.g;
  const std::vector<Dim> dims = x.shape().dims();
  const std::vector<Dim> inner(dims.begin() + axis, dims.end());
  const bool fits = has_dims(scale, inner) && (!bias || has_dims(bias, inner));
  const Dim width = product(inner);
  Value factor =
      fits ? reshaped(call, scale, {width}) : g.expand(g.scalar(x.dtype(), 1.0), {width});
  Value shift = fits && bias ? reshaped(call, bias, {width}) : call.zeros_like_vector(factor);
  std::vector<Dim> flat(dims.begin(), dims.begin() + axis);
  flat.push_back(width);
  Value y = reshaped(call, g.layer_norm(reshaped(call, x, flat), factor, shift, epsilon), dims);
  if (fits) return y;
  y = g.mul(y, scale);
  return bias ? g.add(y, bias) : y;
}

struct RmsNorm {
  Value y, inverse;
};

// The result has the dtype of the scale.
RmsNorm rms_norm(Call& call, Value x, Value scale, int64_t axis, double epsilon, DType stash) {
  graph::Graph& g = call.g;
  Value precise = to_dtype(call, x, stash);
  Value inverse = inverse_root(call, precise, axes_from(axis, x.shape().rank()), epsilon);
  Value normal = to_dtype(call, g.mul(precise, inverse), scale.dtype());
  return {g.mul(normal, scale), inverse};
}

int64_t first_axis(Call& call, Value x) {
  return Call::axis_of(call.integer("axis", -1), x.shape().rank());
}

}  // namespace

Results layer_normalization(Call& call) {
  Value x = call.in(0), scale = call.in(1), bias = call.maybe(2);
  const double epsilon = call.number("epsilon", 1e-5f);
  const DType stash = stash_dtype(call, x.dtype());
  const int64_t axis = first_axis(call, x);
  Value y = layer_norm(call, x, to_dtype(call, scale, x.dtype()),
                       bias ? to_dtype(call, bias, x.dtype()) : bias, axis, epsilon);
  if (!call.wants(1) && !call.wants(2)) return {y};
  const Statistics s = statistics(call, x, axis, epsilon, stash);
  const DType declared = dtype_of(call.integer("stash_type", 1), "stash_type");
  return {y, to_dtype(call, s.mean, declared), to_dtype(call, s.inverse, declared)};
}

Results rms_normalization(Call& call) {
  Value x = call.in(0);
  const DType stash = stash_dtype(call, x.dtype());
  return {
      rms_norm(call, x, call.in(1), first_axis(call, x), call.number("epsilon", 1e-5f), stash).y};
}

// The root-mean-square norm, as ONNX Runtime names it.
Results simplified_layer_normalization(Call& call) {
  Value x = call.in(0);
  const DType stash = stash_dtype(call, x.dtype());
  const RmsNorm norm =
      rms_norm(call, x, call.in(1), first_axis(call, x), call.number("epsilon", 1e-5f), stash);
  const DType declared = dtype_of(call.integer("stash_type", 1), "stash_type");
  return {norm.y, call.wants(1) ? to_dtype(call, norm.inverse, declared) : Value{}};
}

// The sum is built as matmul + bias + residual, which is what fusion looks for.
Results skip_layer_normalization(Call& call) {
  graph::Graph& g = call.g;
  Value sum = call.in(0), scale = call.in(2), shift = call.maybe(3);
  if (Value bias = call.maybe(4)) sum = g.add(sum, bias);
  sum = g.add(sum, call.in(1));
  if (!shift) shift = call.zeros_like_vector(scale);
  const double epsilon = call.number("epsilon", 1e-12f);
  Results results = {g.layer_norm(sum, scale, shift, epsilon), {}, {}, sum};
  if (call.wants(1) || call.wants(2)) {
    const Statistics s =
        statistics(call, sum, sum.shape().rank() - 1, epsilon, promote(sum.dtype(), DType::F32));
    results[1] = s.mean;
    results[2] = s.inverse;
  }
  return results;
}

Results skip_simplified_layer_normalization(Call& call) {
  graph::Graph& g = call.g;
  Value sum = call.in(0);
  if (Value bias = call.maybe(3)) sum = g.add(sum, bias);
  sum = g.add(sum, call.in(1));
  const RmsNorm norm = rms_norm(call, sum, call.in(2), sum.shape().rank() - 1,
                                call.number("epsilon", 1e-12f), promote(sum.dtype(), DType::F32));
  call.reject_output(1, "mean");
  return {norm.y, {}, norm.inverse, sum};
}

}  // namespace tenon::onnx::importers
