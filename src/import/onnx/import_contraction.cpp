// Importers of matrix products and the standard norms.
#include "import/onnx/importers.h"
#include "import/onnx/quantized.h"

namespace tenon::onnx::importers {
namespace {

Value swap_last(Call& call, Value x) {
  const int rank = x.shape().rank();
  if (rank < 2) throw user_error("cannot transpose {}", x.type().to_string());
  std::vector<int64_t> perm;
  for (int i = 0; i < rank; ++i) perm.push_back(i);
  std::swap(perm[perm.size() - 1], perm[perm.size() - 2]);
  return call.g.transpose(x, std::move(perm));
}

Value scaled(Call& call, Value x, double factor) {
  return factor == 1.0 ? x : call.g.mul(x, call.g.scalar(x.dtype(), factor));
}

}  // namespace

Results matmul(Call& call) { return {matmul_of(call, call.in(0), call.in(1))}; }

Results fused_matmul(Call& call) {
  for (std::string_view name : {"transBatchA", "transBatchB"}) {
    if (call.flag(name, false)) throw unsupported_error("{}=1 is not supported", name);
  }
  Value a = call.in(0), b = call.in(1);
  if (call.flag("transA", false)) a = swap_last(call, a);
  if (call.flag("transB", false)) b = swap_last(call, b);
  return {scaled(call, matmul_of(call, a, b), call.number("alpha", 1.0))};
}

Results gemm(Call& call) {
  Value a = call.in(0), b = call.in(1), c = call.maybe(2);
  if (a.shape().rank() != 2 || b.shape().rank() != 2) {
    throw user_error("operands must be matrices, not {} and {}", a.type().to_string(),
                     b.type().to_string());
  }
  if (call.flag("transA", false)) a = swap_last(call, a);
  if (call.flag("transB", false)) b = swap_last(call, b);
  if (call.opset() < 7) call.flag("broadcast", false);  // spreads c, as every opset does since
  const double alpha = call.number("alpha", 1.0), beta = call.number("beta", 1.0);
  Value result = scaled(call, call.g.matmul(a, b), alpha);
  if (c && beta != 0.0) result = call.g.add(result, scaled(call, c, beta));
  return {result};
}

// The graph's norm is over the last axis; a norm over several is one over their product.
Results layer_normalization(Call& call) {
  call.reject_output(1, "mean");
  call.reject_output(2, "inverse standard deviation");
  if (call.integer("stash_type", 1) != 1) throw unsupported_error("stash_type must be 1 (f32)");
  Value x = call.in(0), scale = call.in(1), bias = call.maybe(2);
  if (!bias) bias = call.zeros_like_vector(scale);
  const double epsilon = call.number("epsilon", 1e-5f);
  const int rank = x.shape().rank();
  const int64_t axis = Call::axis_of(call.integer("axis", -1), rank);
  if (axis == rank - 1) return {call.g.layer_norm(x, scale, bias, epsilon)};
  const std::vector<Dim> dims = x.shape().dims();
  const Dim width = product({dims.begin() + axis, dims.end()});
  std::vector<Dim> flat(dims.begin(), dims.begin() + axis);
  flat.push_back(width);
  Value y = call.g.layer_norm(call.g.reshape(x, flat), call.g.reshape(scale, {width}),
                              call.g.reshape(bias, {width}), epsilon);
  return {call.g.reshape(y, dims)};
}

// The root-mean-square norm, as ONNX Runtime names it.
Results simplified_layer_normalization(Call& call) {
  call.reject_output(1, "inverse standard deviation");
  if (call.integer("stash_type", 1) != 1) throw unsupported_error("stash_type must be 1 (f32)");
  graph::Graph& g = call.g;
  Value x = call.in(0);
  const int rank = x.shape().rank();
  const int64_t axis = Call::axis_of(call.integer("axis", -1), rank);
  if (axis != rank - 1) throw unsupported_error("the axis must be the last one");
  Value epsilon = g.scalar(x.dtype(), call.number("epsilon", 1e-5f));
  Value mean = g.reduce(Op::ReduceMean, g.mul(x, x), {axis});
  return {g.mul(g.div(x, g.unary(Op::Sqrt, g.add(mean, epsilon))), call.in(1))};
}

}  // namespace tenon::onnx::importers
