// The named builders that do more than fill in attributes: defaults, optional operands, operands of
// several kinds.
#include "base/error.h"
#include "graph/activation.h"
#include "graph/graph.h"

namespace tenon::graph {

Value Graph::activation(Activation kind, Value x) {
  const std::optional<Op> op = op_of(kind);
  return op ? unary(*op, x) : x;
}

Value Graph::slice(Value x, std::vector<Dim> starts, std::vector<Dim> extents,
                   std::vector<int64_t> steps) {
  return apply(Op::Slice, {x},
               {{"starts", std::move(starts)},
                {"extents", std::move(extents)},
                {"steps", std::move(steps)}});
}

Value Graph::concat(std::vector<Value> parts, int64_t axis) {
  return apply(Op::Concat, std::move(parts), {{"axis", axis}});
}

std::vector<Value> Graph::split(Value x, int64_t axis, std::vector<Dim> extents) {
  return apply_all(Op::Split, {x}, {{"axis", axis}, {"extents", std::move(extents)}});
}

Value Graph::reduce(Op op, Value x, std::vector<int64_t> axes) {
  if (!has(op, kReduction)) throw user_error("[{}] is no reduction", info(op).text);
  return apply(op, {x}, {{"axes", std::move(axes)}});
}

Value Graph::layer_norm(Value x, Value scale, Value bias, double epsilon) {
  return apply(Op::LayerNorm, {x, scale, bias}, {{"epsilon", epsilon}});
}

Value Graph::rms_norm(Value x, Value scale, double epsilon) {
  return apply(Op::RmsNorm, {x, scale}, {{"epsilon", epsilon}});
}

Value Graph::linear(Value x, Value w, Value bias, Value residual, Activation activation,
                    Value row_scale) {
  std::vector<Value> operands{x, w};
  if (bias) operands.push_back(bias);
  if (residual) operands.push_back(residual);
  if (row_scale) operands.push_back(row_scale);
  return apply(Op::Linear, std::move(operands),
               {{"activation", std::string(to_string(activation))},
                {"bias", int64_t{bias ? 1 : 0}},
                {"residual", int64_t{residual ? 1 : 0}},
                {"row_scale", int64_t{row_scale ? 1 : 0}}});
}

Value Graph::gated_linear(Value x, Value gate, Value up, Activation activation, Value row_scale) {
  std::vector<Value> operands{x, gate, up};
  if (row_scale) operands.push_back(row_scale);
  return apply(Op::GatedLinear, std::move(operands),
               {{"activation", std::string(to_string(activation))},
                {"row_scale", int64_t{row_scale ? 1 : 0}}});
}

Value Graph::rotary(Value x, Value cos, Value sin, const RotaryOptions& options) {
  return apply(Op::Rotary, {x, cos, sin},
               {{"heads", options.heads}, {"interleaved", int64_t{options.interleaved ? 1 : 0}}});
}

Value Graph::attention(Value q, Value k, Value v, const AttentionOptions& options) {
  std::vector<Value> operands{q, k, v};
  if (options.mask) operands.push_back(options.mask);
  int64_t head_dim = options.head_dim;
  if (head_dim == 0 && options.heads > 0 && q && q.shape().rank() == 3 && q.shape()[2].is_const()) {
    head_dim = q.shape()[2].const_value() / options.heads;
  }
  return apply(Op::Attention, std::move(operands),
               {{"heads", options.heads},
                {"head_dim", head_dim},
                {"kv_heads", options.kv_heads},
                {"scale", options.scale},
                {"causal", int64_t{options.causal ? 1 : 0}},
                {"window", options.window},
                {"softcap", options.softcap}});
}

Value Graph::shape_of(Value x) {
  if (!x) throw user_error("[shape_of] the operand is empty");
  return dims(x.shape().dims());
}

}  // namespace tenon::graph
