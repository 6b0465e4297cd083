// Importers of losses: the graph's nll_loss gives loss and weight of each target, the reduction is
// written out. 16-bit floats are computed in f32.
#include "import/onnx/compute.h"
#include "import/onnx/ops/sequence.h"
#include "import/onnx/window_attributes.h"

namespace tenon::onnx::importers {
namespace {

Value total(graph::Graph& g, Value x) {
  std::vector<int64_t> axes;
  for (int i = 0; i < x.shape().rank(); ++i) axes.push_back(i);
  return g.reshape(g.reduce(Op::ReduceSum, x, axes), {});
}

Value nll(Call& call, Value log_probabilities) {
  graph::Graph& g = call.g;
  const Value x = log_probabilities;
  if (x.shape().rank() < 2) throw user_error("{} has no classes", x.type().to_string());
  Value weight = call.maybe(2);
  weight = weight ? as(call, weight, x.dtype()) : filled(call, x.dtype(), 1, {x.shape()[1]});
  graph::Attributes attributes;
  if (call.find("ignore_index")) attributes.set("ignore", call.integer("ignore_index"));
  const std::vector<Value> parts =
      g.apply_all(Op::NllLoss, {x, call.in(1), weight}, std::move(attributes));
  const std::string_view reduction = call.text("reduction", "mean");
  if (reduction == "none") return parts[0];
  if (reduction == "sum") return total(g, parts[0]);
  if (reduction == "mean") return g.div(total(g, parts[0]), total(g, parts[1]));
  throw user_error("attribute 'reduction' must not be '{}'", reduction);
}

// x - max - log(sum(exp(x - max))) along the classes
Value log_softmax(graph::Graph& g, Value x) {
  Value shifted = g.sub(x, g.reduce(Op::ReduceMax, x, {1}));
  Value sums = g.reduce(Op::ReduceSum, g.unary(Op::Exp, shifted), {1});
  return g.sub(shifted, g.unary(Op::Log, sums));
}

}  // namespace

Results negative_log_likelihood_loss(Call& call) {
  return {as(call, nll(call, widened(call, call.in(0))), call.in(0).dtype())};
}

Results softmax_cross_entropy_loss(Call& call) {
  Value x = widened(call, call.in(0));
  if (x.shape().rank() < 2) throw user_error("{} has no classes", x.type().to_string());
  Value log_probabilities = log_softmax(call.g, x);
  const DType dtype = call.in(0).dtype();
  return {as(call, nll(call, log_probabilities), dtype), as(call, log_probabilities, dtype)};
}

}  // namespace tenon::onnx::importers
