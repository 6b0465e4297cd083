// Importers of sums that ONNX Runtime fuses with what follows them (domain com.microsoft), and of a
// few older names.
#include "import/onnx/compute.h"
#include "import/onnx/ops/microsoft.h"

namespace tenon::onnx::importers {

// The softmax is over all axes from `axis` on. The bias spreads as NumPy says: on which axes, its
// extents of 1 show.
Results bias_softmax(Call& call) {
  graph::Graph& g = call.g;
  Value x = call.in(0), bias = call.in(1);
  call.integer("is_inner_broadcast");
  const int64_t axis = Call::axis_of(call.integer("axis", 1), x.shape().rank());
  const std::vector<Dim> dims = x.shape().dims();
  Value flat = g.reshape(g.add(x, bias), {product({dims.begin(), dims.begin() + axis}),
                                          product({dims.begin() + axis, dims.end()})});
  return {g.reshape(g.softmax(flat, 1), dims)};
}

// Nothing is dropped outside training.
Results bias_dropout(Call& call) {
  graph::Graph& g = call.g;
  call.find("seed");
  if (Value training = call.maybe(4)) {
    const auto known = shape_value(training);
    if (!known || known->size() != 1 || !known->front().is_const(0)) {
      throw unsupported_error("a training_mode that is not false");
    }
  }
  Value sum = g.add(call.in(0), call.in(1));
  if (Value residual = call.maybe(2)) sum = g.add(sum, residual);
  Value mask = call.wants(1) ? filled(call, DType::Bool, 1, sum.shape().dims()) : Value{};
  return {sum, mask};
}

Results expand_dims(Call& call) {
  Value x = call.in(0);
  const std::vector<int64_t> axes = call.constants(call.in(1), "the axis");
  if (axes.size() != 1) throw user_error("{} axes", axes.size());
  std::vector<Dim> dims = x.shape().dims();
  dims.insert(dims.begin() + Call::axis_of(axes[0], x.shape().rank() + 1), 1);
  return {call.g.reshape(x, std::move(dims))};
}

}  // namespace tenon::onnx::importers
