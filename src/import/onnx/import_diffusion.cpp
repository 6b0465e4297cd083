// Importers of the norms and sums that ONNX Runtime fuses in diffusion models (domain
// com.microsoft). Channels are last unless an attribute says otherwise.
#include "import/onnx/compute.h"
#include "import/onnx/ops/microsoft.h"
#include "import/onnx/window_attributes.h"

namespace tenon::onnx::importers {
namespace {

// [n, groups, width, pixels] of an image with its channels in the second place.
Value standardized_groups(Call& call, Value x, int64_t groups, double epsilon) {
  graph::Graph& g = call.g;
  const std::vector<Dim> dims = x.shape().dims();
  if (groups < 1) throw user_error("{} groups", groups);
  if (dims[1].is_const() && dims[1].const_value() % groups != 0) {
    throw user_error("{} groups of the channels of {}", groups, x.type().to_string());
  }
  Value parts = g.reshape(
      x, {dims[0], groups, quotient({dims[1]}, {groups}), product({dims.begin() + 2, dims.end()})});
  Value centered = g.sub(parts, g.reduce(Op::ReduceMean, parts, {2, 3}));
  Value variance = g.reduce(Op::ReduceMean, g.mul(centered, centered), {2, 3});
  Value root = g.unary(Op::Sqrt, g.add(variance, number_like(call, variance, epsilon)));
  return g.reshape(g.div(centered, root), dims);
}

// By the attributes of both ops.
Value group_normed(Call& call, Value x) {
  graph::Graph& g = call.g;
  const DType dtype = x.dtype(), precise = compute_dtype(dtype);
  const bool last = call.flag("channels_last", true);
  Value image = as(call, last ? channels_first(call, x) : x, precise);
  const int rank = image.shape().rank();
  if (rank < 3) throw user_error("{} is no image", x.type().to_string());
  Value y = standardized_groups(call, image, call.integer("groups"), call.number("epsilon", 1e-5f));
  const auto parameter = [&](int i) {
    return per_channel(call, as(call, call.in(i), precise), rank);
  };
  y = g.add(g.mul(y, parameter(1)), parameter(2));
  if (call.flag("activation", false)) y = g.unary(Op::Silu, y);
  y = as(call, y, dtype);
  return last ? channels_last(call, y) : y;
}

}  // namespace

Results fused_group_norm(Call& call) { return {group_normed(call, call.in(0))}; }

// The skipped value has the image's axes, or those of batch and channels.
Results skip_group_norm(Call& call) {
  graph::Graph& g = call.g;
  Value sum = call.in(0), skip = call.in(3);
  const int rank = sum.shape().rank();
  const bool last = call.flag("channels_last", true);
  if (skip.shape().rank() == 2 && rank > 2) {
    std::vector<Dim> dims(static_cast<size_t>(rank), 1);
    dims[0] = skip.shape()[0];
    dims[last ? dims.size() - 1 : 1] = skip.shape()[1];
    skip = g.reshape(skip, std::move(dims));
  }
  sum = g.add(sum, skip);
  if (Value bias = call.maybe(4)) {
    sum = g.add(sum, last ? bias : per_channel(call, bias, rank));
  }
  return {group_normed(call, sum), sum};
}

Results bias_add(Call& call) {
  return {call.g.add(call.g.add(call.in(0), call.in(1)), call.in(2))};
}

}  // namespace tenon::onnx::importers
