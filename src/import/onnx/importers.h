// The table of importers: how each ONNX op becomes nodes of the graph. Rows stand in importers.def.
#pragma once

#include <string_view>

#include "import/onnx/call.h"

namespace tenon::onnx {

using ImportFunction = Results (*)(Call&);

struct Importer {
  std::string_view domain, op;
  int since;
  int least_inputs, most_inputs;  // -1: any number
  int most_outputs;
  ImportFunction function;
  std::string_view signature;  // see signature.h
};

// The newest default-domain opset whose ops were looked through for changes of meaning.
inline constexpr int64_t kNewestOpset = 28;

// Null where the op has no row. `domain` is "" for ai.onnx.
const Importer* find_importer(std::string_view domain, std::string_view op);

namespace importers {
Results constant(Call& call);
Results constant_of_shape(Call& call);
Results identity(Call& call);
Results shape(Call& call);
Results dropout(Call& call);
Results cast(Call& call);
Results pow(Call& call);
Results where(Call& call);
Results gelu(Call& call);
Results gather(Call& call);
Results unsqueeze(Call& call);
Results squeeze(Call& call);
Results slice(Call& call);
Results concat(Call& call);
Results split(Call& call);
Results reshape(Call& call);
Results flatten(Call& call);
Results transpose(Call& call);
Results expand(Call& call);
Results matmul(Call& call);
Results gemm(Call& call);
Results softmax(Call& call);
Results layer_normalization(Call& call);
Results simplified_layer_normalization(Call& call);
Results embed_layer_normalization(Call& call);
Results skip_layer_normalization(Call& call);
Results attention(Call& call);
Results bias_gelu(Call& call);
Results fast_gelu(Call& call);
Results erf_gelu(Call& call);
Results fused_matmul(Call& call);

Results reduce_over_axes(Call& call, Op op);
Results binary_op(Call& call, Op op);
Results swapped_op(Call& call, Op op);

template <Op op>
Results reduce(Call& call) {
  return reduce_over_axes(call, op);
}
template <Op op>
Results unary(Call& call) {
  return {call.g.unary(op, call.in(0))};
}
template <Op op>
Results binary(Call& call) {
  return binary_op(call, op);
}
template <Op op>
Results swapped(Call& call) {
  return swapped_op(call, op);
}
template <Op op>
Results variadic(Call& call) {
  Value result = call.in(0);
  for (int i = 1; i < call.inputs(); ++i) result = call.g.binary(op, result, call.in(i));
  return {result};
}
}  // namespace importers

}  // namespace tenon::onnx
