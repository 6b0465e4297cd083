// Rebuilds the graph from its leaves with constants for symbols; inference derives the rest.
#include "graph/specialize.h"

#include <set>

#include "base/error.h"
#include "graph/state.h"

namespace tenon::graph {
namespace {

Dim bound(Dim dim, const SymbolTable& values) {
  for (const Symbol& symbol : dim.symbols()) {
    const auto found = values.find(symbol.name());
    if (found != values.end()) dim = dim.substitute(symbol, found->second);
  }
  return dim;
}

std::vector<Dim> bound(const std::vector<Dim>& dims, const SymbolTable& values) {
  std::vector<Dim> result;
  for (const Dim& dim : dims) result.push_back(bound(dim, values));
  return result;
}

TensorType bound(const TensorType& type, const SymbolTable& values) {
  return {Shape(bound(type.shape.dims(), values)), type.dtype};
}

Graph substituted(const Graph& graph, Graph result, const SymbolTable& values);

Attributes bound(const Attributes& attributes, const Graph& around, const SymbolTable& values) {
  Attributes result;
  for (const auto& [name, value] : attributes.items()) {
    if (const auto* dims = std::get_if<std::vector<Dim>>(&value)) {
      result.set(name, bound(*dims, values));
    } else if (const auto* body = std::get_if<Subgraph>(&value)) {
      result.set(name, Subgraph(substituted(**body, around.nested(), values)));
    } else {
      result.set(name, value);
    }
  }
  return result;
}

Graph substituted(const Graph& graph, Graph result, const SymbolTable& values) {
  std::unordered_map<Value, Value> now;
  for (const Value& input : graph.inputs()) {
    const std::string& name = input.node->name();
    const TensorType type = bound(input.type(), values);
    const std::optional<StateLayout> state = state_layout(input);
    now[input] = state ? result.state(name, type, *state) : result.input(name, type);
  }
  for (const Value& param : graph.params()) {
    const Data* data = graph.param_data(param.node->name());
    now[param] =
        result.param(param.node->name(), bound(param.type(), values), data ? *data : Data{});
  }
  for (const Node* node : graph.topological()) {
    if (node->op() == Op::Input || node->op() == Op::Param) continue;
    result.set_current_origin(std::string(graph.origin(node)));
    if (node->op() == Op::Constant) {
      now[{node}] = result.constant(node->types()[0], {node->bytes(), {}});
      continue;
    }
    if (node->op() == Op::Dims) {
      now[{node}] = result.dims(bound(node->attributes().dims("values"), values),
                                node->types()[0].shape.rank() == 0);
      continue;
    }
    std::vector<Value> operands;
    for (const Value& operand : node->operands()) operands.push_back(now.at(operand));
    const std::vector<Value> results = result.apply_all(node->op(), std::move(operands),
                                                        bound(node->attributes(), result, values));
    for (size_t i = 0; i < results.size(); ++i) now[{node, static_cast<int>(i)}] = results[i];
  }
  result.set_current_origin({});
  for (const Constraint& constraint : graph.constraints()) {
    result.add_constraint({.kind = constraint.kind,
                           .left = bound(constraint.left, values),
                           .right = bound(constraint.right, values),
                           .why = constraint.why});
  }
  std::vector<Output> outputs;
  for (const Output& output : graph.outputs())
    outputs.push_back({output.name, now.at(output.value)});
  result.set_outputs(std::move(outputs));
  return result;
}

// All symbols of the inputs have values, and nothing else does.
void check_names(const Graph& graph, const SymbolTable& values) {
  std::set<std::string> names;
  for (const Value& input : graph.inputs()) {
    for (const Dim& dim : input.shape()) {
      for (const Symbol& symbol : dim.symbols()) names.insert(symbol.name());
    }
  }
  for (const std::string& name : names) {
    if (!values.contains(name)) throw user_error("[specialize] no value for {}", name);
  }
  for (const auto& [name, value] : values) {
    if (!names.contains(name)) {
      throw user_error(
          "[specialize] {} = {}: no input has such a dim; there are: {}", name, value,
          names.empty() ? std::string("none") : fmt::format("{}", fmt::join(names, ", ")));
    }
  }
}

}  // namespace

Graph specialize(const Graph& graph, const SymbolTable& values) {
  check_names(graph, values);
  std::map<std::string, std::vector<int64_t>> shapes;
  for (const auto* leaves : {&graph.inputs(), &graph.params()}) {
    for (const Value& leaf : *leaves) {
      std::vector<int64_t>& shape = shapes[leaf.node->name()];
      for (const Dim& dim : leaf.shape())
        shape.push_back(dim.evaluate(values_of(values)).value_or(-1));
    }
  }
  bind_symbols(graph, shapes);  // bounds and constraints
  return values.empty() ? graph : substituted(graph, Graph(), values);
}

}  // namespace tenon::graph
