// Runs a graph node by node in topological order. Results are checked against the inferred types,
// so an error of inference or of an evaluator is found here, and freed after their last use.
#include "graph/interpret.h"

#include <memory>

#include "base/error.h"
#include "graph/bind.h"
#include "graph/evaluate.h"

namespace tenon::graph {

namespace {

using Bound = std::unordered_map<Value, std::shared_ptr<const Tensor>>;

std::shared_ptr<const Tensor> given_tensor(const Value& leaf, const Tensor& tensor) {
  const int64_t bytes = tensor.elements() * size_of(tensor.dtype);
  if (tensor.dtype != leaf.dtype()) {
    throw user_error("[{}] \"{}\" is {}, but {} was given", info(leaf.op()).text, leaf.node->name(),
                     leaf.type().to_string(), to_string(tensor.dtype));
  }
  if (static_cast<int64_t>(tensor.bytes.size()) != bytes) {
    throw user_error("[{}] \"{}\" has {} bytes, where its shape needs {}", info(leaf.op()).text,
                     leaf.node->name(), tensor.bytes.size(), bytes);
  }
  return {std::shared_ptr<const void>(),
          &tensor};  // not owned: the caller's inputs outlive the run
}

Bound bind_leaves(const Graph& graph, const std::map<std::string, Tensor>& inputs) {
  Bound bound;
  for (const Value& input : graph.inputs()) {
    bound[input] = given_tensor(input, inputs.at(input.node->name()));
  }
  for (const Value& param : graph.params()) {
    const auto given = inputs.find(param.node->name());
    if (given != inputs.end()) {
      bound[param] = given_tensor(param, given->second);
      continue;
    }
    const Data* data = graph.param_data(param.node->name());
    auto tensor = std::make_shared<Tensor>();
    tensor->dtype = param.dtype();
    for (const Dim& extent : param.shape()) tensor->shape.push_back(extent.const_value());
    tensor->bytes.assign(data->bytes.begin(), data->bytes.end());
    bound[param] = std::move(tensor);
  }
  return bound;
}

// An extent that is a symbol without a value is what this result defines.
void check_result(const Graph& graph, const Node& node, int result, const Tensor& tensor,
                  SymbolTable& table) {
  const TensorType& type = node.types()[static_cast<size_t>(result)];
  std::vector<int64_t> expected;
  for (const Dim& extent : type.shape) {
    const std::optional<Symbol> symbol = extent.as_symbol();
    if (symbol && !table.contains(symbol->name()) && expected.size() < tensor.shape.size()) {
      define_symbol(graph, *symbol, tensor.shape[expected.size()], table);
    }
    expected.push_back(extent.evaluate(values_of(table)).value_or(-1));
  }
  if (tensor.dtype != type.dtype || tensor.shape != expected) {
    throw internal_error("[{}] gave {}[{}] for {}", info(node.op()).text, to_string(tensor.dtype),
                         fmt::join(tensor.shape, ", "), type.to_string());
  }
}

// The elements of a define's operand are its symbols' values.
void define_symbols(const Graph& graph, const Node& node, const Tensor& values,
                    SymbolTable& table) {
  const std::vector<int64_t> numbers = to_integers(values);
  const std::vector<Dim>& symbols = node.attributes().dims("symbols");
  for (size_t i = 0; i < symbols.size(); ++i) {
    define_symbol(graph, *symbols[i].as_symbol(), numbers[i], table);
  }
}

// Symbols in `table` have values already; those that steps define join them.
std::vector<Tensor> run(const Graph& graph, Bound bound, SymbolTable table) {
  const SymbolValues values = values_of(table);
  const std::vector<const Node*> order = graph.topological();
  std::unordered_map<Value, int> uses;
  for (const Node* node : order) {
    for (const Value& operand : node->operands()) ++uses[operand];
  }
  for (const Output& output : graph.outputs()) ++uses[output.value];
  for (const Node* node : order) {
    if (node->op() == Op::Input || node->op() == Op::Param) continue;
    std::vector<const Tensor*> operands;
    for (const Value& operand : node->operands()) operands.push_back(bound.at(operand).get());
    std::vector<Tensor> results = evaluate(*node, operands, values);
    if (node->op() == Op::Define) define_symbols(graph, *node, results[0], table);
    for (int i = 0; i < node->result_count(); ++i) {
      Tensor& tensor = results[static_cast<size_t>(i)];
      check_result(graph, *node, i, tensor, table);
      bound[{node, i}] = std::make_shared<const Tensor>(std::move(tensor));
    }
    for (const Value& operand : node->operands()) {
      if (--uses[operand] == 0) bound.erase(operand);
    }
  }
  std::vector<Tensor> outputs;
  for (const Output& output : graph.outputs()) outputs.push_back(*bound.at(output.value));
  return outputs;
}

}  // namespace

std::vector<Tensor> interpret(const Graph& graph, const std::map<std::string, Tensor>& inputs) {
  std::map<std::string, std::vector<int64_t>> shapes;
  for (const auto& [name, tensor] : inputs) shapes[name] = tensor.shape;
  SymbolTable table = bind_symbols(graph, shapes);
  return run(graph, bind_leaves(graph, inputs), std::move(table));
}

std::vector<Tensor> interpret_body(const Graph& body, std::span<const Tensor* const> inputs,
                                   const SymbolValues& outside) {
  SymbolTable known;
  for (const auto& [name, symbol] : body.symbols()) {
    if (const std::optional<int64_t> value = outside(symbol)) known.emplace(name, *value);
  }
  std::map<std::string, std::vector<int64_t>> shapes;
  Bound bound;
  for (size_t i = 0; i < inputs.size(); ++i) {
    const Value& input = body.inputs()[i];
    shapes[input.node->name()] = inputs[i]->shape;
    bound[input] = given_tensor(input, *inputs[i]);
  }
  return run(body, std::move(bound), bind_symbols(body, shapes, std::move(known)));
}

}  // namespace tenon::graph
