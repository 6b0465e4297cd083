// Importers of If, Loop and Scan. A branch that is known when the model is imported takes the
// node's place; Scan is a loop whose body reads one slice of each scanned input.
#include <limits>

#include "import/onnx/body.h"
#include "import/onnx/call.h"
#include "import/onnx/ops/control.h"

namespace tenon::onnx::importers {
namespace {

struct Branch {
  graph::Subgraph body;
  std::vector<Value> captures;
};

Branch build_branch(Call& call, const GraphProto& proto, const char* name) {
  BodyBuilder body(call.scope(), call.label() + "/" + name + "/");
  const Results outputs = body.scope().import_graph(proto, {});
  if (outputs.empty()) throw user_error("its {} branch has no outputs", name);
  return {body.finish(outputs), body.frame().captures()};
}

// Extents on which the branches agree; others are known when one has run.
std::vector<Dim> agreed_extents(graph::Graph& g, const graph::Graph& a, const graph::Graph& b) {
  if (a.outputs().size() != b.outputs().size()) {
    throw user_error("its branches have {} and {} outputs", a.outputs().size(), b.outputs().size());
  }
  std::vector<Dim> extents;
  for (size_t i = 0; i < a.outputs().size(); ++i) {
    const TensorType &x = a.outputs()[i].value.type(), &y = b.outputs()[i].value.type();
    if (x.dtype != y.dtype) {
      throw user_error("output {} is {} in one branch, {} in the other", i, x.to_string(),
                       y.to_string());
    }
    if (x.shape.rank() != y.shape.rank()) {
      throw unsupported_error(
          "output {} has another rank in each branch: {} and {}; give the model's inputs static "
          "shapes, or symbols bounds, that decide the condition",
          i, x.to_string(), y.to_string());
    }
    for (int axis = 0; axis < x.shape.rank(); ++axis) {
      const Dim& extent = x.shape[axis];
      const bool agreed = extent == y.shape[axis] && is_visible(g, extent);
      extents.push_back(agreed ? extent : fresh_extent(g, "branch"));
    }
  }
  return extents;
}

// A formal input declared as a vector of one gets one.
Value as_declared(graph::Graph& g, Value scalar, const ValueInfoProto& declared) {
  return declared.dims && declared.dims->size() == 1 ? g.reshape(scalar, {1}) : scalar;
}

}  // namespace

Results if_else(Call& call) {
  const GraphProto &then = call.graph("then_branch"), &other = call.graph("else_branch");
  const Value condition = scalar_of(call.g, call.in(0), DType::Bool, "the condition");
  if (const auto known = known_condition(condition)) {
    return call.inline_graph(*known ? then : other, {});
  }
  const Branch a = build_branch(call, then, "then"), b = build_branch(call, other, "else");
  std::vector<Value> operands{condition};
  operands.insert(operands.end(), a.captures.begin(), a.captures.end());
  operands.insert(operands.end(), b.captures.begin(), b.captures.end());
  std::vector<Dim> extents = agreed_extents(call.g, *a.body, *b.body);
  return call.g.apply_all(Op::If, std::move(operands),
                          {{"then", a.body}, {"else", b.body}, {"extents", std::move(extents)}});
}

Results loop(Call& call) {
  const GraphProto& proto = call.graph("body");
  LoopSource source{call.label() + "/", {}, {}, {}};
  source.trips = call.maybe(0) ? scalar_of(call.g, call.in(0), DType::I64, "the trip count")
                               : call.g.dims({std::numeric_limits<int64_t>::max()}, true);
  source.condition = call.maybe(1) ? scalar_of(call.g, call.in(1), DType::Bool, "the condition")
                                   : true_scalar(call.g);
  for (int i = 2; i < call.inputs(); ++i) source.carried.push_back(call.in(i));
  const auto iteration = [&](BodyBuilder& body, Value number, Value condition,
                             const std::vector<Value>& carried) {
    if (proto.inputs.size() < 2) throw user_error("its body has fewer than two inputs");
    std::vector<Value> inputs{as_declared(body.g(), number, proto.inputs[0]),
                              as_declared(body.g(), condition, proto.inputs[1])};
    inputs.insert(inputs.end(), carried.begin(), carried.end());
    Results outputs = body.scope().import_graph(proto, inputs);
    if (outputs.empty()) throw user_error("its body has no outputs");
    outputs[0] = scalar_of(body.g(), outputs[0], DType::Bool, "the condition of its body");
    return outputs;
  };
  return build_loop(call.scope(), source, iteration);
}

}  // namespace tenon::onnx::importers
