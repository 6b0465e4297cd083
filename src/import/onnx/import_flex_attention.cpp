// FlexAttention of the preview domain: attention whose scores and weights pass through graphs of
// the model's own, which stand in the node's place.
#include "import/onnx/heads.h"
#include "import/onnx/ops/transformer.h"

namespace tenon::onnx::importers {
namespace {

std::function<Value(Value)> change(Call& call, std::string_view name) {
  const GraphProto* graph = call.maybe_graph(name);
  if (!graph) return {};
  return [&call, graph, name](Value x) {
    const Results results = call.inline_graph(*graph, {x});
    if (results.size() != 1 || !(results[0].type() == x.type())) {
      throw user_error("{} must give one tensor of type {}", name, x.type().to_string());
    }
    return results[0];
  };
}

}  // namespace

Results flex_attention(Call& call) {
  Attend a{.q = call.in(0), .k = call.in(1), .v = call.in(2)};
  for (const Value& x : {a.q, a.k, a.v}) {
    if (x.shape().rank() != 4) throw user_error("{} must have four axes", x.type().to_string());
  }
  a.scale = call.number("scale", 0);
  a.softmax_dtype = promote(a.q.dtype(), DType::F32);
  if (call.find("softmax_precision")) {
    a.softmax_dtype = dtype_of(call.integer("softmax_precision"), "softmax_precision");
  }
  a.precise_values = true;
  a.change_scores = change(call, "score_mod");
  a.change_weights = change(call, "prob_mod");
  return {attend(call, a).result};
}

}  // namespace tenon::onnx::importers
