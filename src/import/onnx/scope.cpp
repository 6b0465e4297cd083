// Walks a list of nodes: operands by name, each node through its importer or its function, results
// under their names.
#include "import/onnx/scope.h"

#include <algorithm>

#include "import/onnx/call.h"
#include "import/onnx/importers.h"

namespace tenon::onnx {

Opsets read_opsets(const OpsetImports& imports) {
  Opsets opsets;
  for (const auto& [domain, version] : imports) {
    const std::string_view key = canonical_domain(domain);
    if (version < 1) throw user_error("opset {} of domain '{}'", version, domain);
    if (key.empty() && version > kNewestOpset) {
      throw unsupported_error("opset {} is newer than the newest known one, {}", version,
                              kNewestOpset);
    }
    if (!opsets.emplace(key, version).second) {
      throw user_error("the opset of domain '{}' is given twice", domain);
    }
  }
  return opsets;
}

Scope::Scope(Scope& parent, Frame& frame, std::string label)
    : import_(parent.import_),
      frame_(frame),
      parent_(&parent),
      opsets_(parent.opsets_),
      call_(parent.call_),
      prefix_(std::move(label)),
      depth_(parent.depth_ + 1) {
  check_depth();
}

Scope::Scope(Scope& caller, const FunctionCall& call, const Opsets& opsets, std::string label)
    : import_(caller.import_),
      frame_(caller.frame_),
      opsets_(opsets),
      call_(&call),
      prefix_(std::move(label)),
      depth_(caller.depth_ + 1) {
  check_depth();
}

void Scope::check_depth() const {
  if (depth_ > limits::kNesting) {
    throw user_error("more than {} graphs and functions inside of each other", limits::kNesting);
  }
}

std::string Scope::label(size_t index) const {
  const NodeProto& node = nodes_[index];
  if (!node.name.empty()) return prefix_ + std::string(node.name);
  return fmt::format("{}{}#{}", prefix_, node.op_type, index);
}

int64_t Scope::opset_of(std::string_view domain) const {
  const auto found = opsets_.find(domain);
  if (found == opsets_.end()) {
    throw user_error("the {} imports no opset of domain '{}'", call_ ? "function" : "model",
                     domain.empty() ? "ai.onnx" : domain);
  }
  return found->second;
}

void Scope::declare_initializers(const std::vector<TensorProto>& initializers) {
  for (const TensorProto& tensor : initializers) {
    if (tensor.name.empty()) throw user_error("an initializer has no name");
    if (!initializers_.emplace(tensor.name, &tensor).second) {
      throw user_error("initializer '{}' is given twice", tensor.name);
    }
    import_.loader.load(tensor);  // sizes are checked even where nothing uses the tensor
  }
}

void Scope::index_producers() {
  for (size_t i = 0; i < nodes_.size(); ++i) {
    for (std::string_view output : nodes_[i].outputs) {
      if (output.empty()) continue;
      if (initializers_.contains(output) || values_.contains(output)) {
        throw user_error("node '{}' writes '{}', which is an input or initializer", label(i),
                         output);
      }
      auto [found, added] = producers_.emplace(output, i);
      if (!added) {
        throw user_error("nodes '{}' and '{}' both write '{}'", label(found->second), label(i),
                         output);
      }
    }
  }
}

void Scope::import_nodes(std::span<const NodeProto> nodes) {
  nodes_ = nodes;
  index_producers();
  for (size_t i = 0; i < nodes_.size(); ++i) import_node(i);
}

Results Scope::import_graph(const GraphProto& graph, const std::vector<Value>& inputs) {
  if (graph.inputs.size() != inputs.size()) {
    throw user_error("its graph has {} inputs, where {} are given", graph.inputs.size(),
                     inputs.size());
  }
  declare_initializers(graph.initializers);
  for (size_t i = 0; i < inputs.size(); ++i) {
    if (!values_.emplace(graph.inputs[i].name, inputs[i]).second) {
      throw user_error("input '{}' of its graph is given twice", graph.inputs[i].name);
    }
  }
  import_nodes(graph.nodes);
  Results results;
  for (const ValueInfoProto& output : graph.outputs) {
    const std::optional<Value> value = find(output.name);
    if (!value) throw user_error("output '{}' of its graph is made by no node", output.name);
    if (!*value) throw unsupported_error("output '{}' of its graph is not computed", output.name);
    results.push_back(*value);
  }
  return results;
}

std::optional<Value> Scope::find(std::string_view name) {
  if (const auto found = values_.find(name); found != values_.end()) return found->second;
  const auto initializer = initializers_.find(name);
  if (initializer == initializers_.end()) {
    if (!parent_ || producers_.contains(name)) return {};
    const std::optional<Value> outside = parent_->find(name);
    if (!outside || &parent_->frame_ == &frame_) return outside;
    return values_[name] = frame_.capture(*outside);
  }
  Value leaf = frame_.leaf(import_.loader.load(*initializer->second), std::string(name));
  if (leaf.op() != Op::Input) frame_.g.set_origin(leaf.node, std::string(name));
  return values_[name] = leaf;
}

Value Scope::value_of(std::string_view name, size_t node_index) {
  if (const auto found = find(name)) {
    if (!*found) {
      throw unsupported_error("input '{}' is an output that its node does not compute here", name);
    }
    return *found;
  }
  const auto producer = producers_.find(name);
  if (producer == producers_.end()) {
    throw user_error("input '{}' is made by no node, input or initializer", name);
  }
  if (producer->second == node_index) throw user_error("it uses its own output '{}'", name);
  throw user_error(
      "input '{}' is made only later, by node '{}': nodes are not sorted or form a cycle", name,
      label(producer->second));
}

std::vector<Value> Scope::inputs_of(const NodeProto& node, size_t index) {
  std::vector<Value> inputs;
  for (std::string_view name : node.inputs) {
    const bool absent = name.empty() || absent_.contains(name);
    inputs.push_back(absent ? Value{} : value_of(name, index));
  }
  return inputs;
}

void Scope::import_node(size_t index) {
  const NodeProto& node = nodes_[index];
  if (import_.nodes_left-- == 0) {
    throw user_error("its functions and inner graphs expand to more than {} nodes",
                     limits::kExpandedNodes);
  }
  try {
    const bool refers = call_ && refers_to_attributes(node);
    Results results =
        refers ? call_importer(with_attributes(node, *call_), index) : call_importer(node, index);
    for (Value& value : results) {
      if (!value) continue;
      check_extents_small(value);
      value = settle(value);
    }
    set_origins(results, label(index));
    define_outputs(node, results);
  } catch (const Error& error) {
    throw Error(error.kind(),
                fmt::format("node '{}' ({}): {}", label(index),
                            qualified(canonical_domain(node.domain), node.op_type), error.what()));
  }
}

Results Scope::call_importer(const NodeProto& node, size_t index) {
  if (!call_ && refers_to_attributes(node)) {
    throw user_error("an attribute refers to one of a function, but the node is in none");
  }
  if (const FunctionProto* function = import_.functions.find(node)) {
    return call_function(*function, node, index);
  }
  const std::string_view domain = canonical_domain(node.domain);
  const Importer& importer = *find_importer(domain, node.op_type);
  const int given = static_cast<int>(node.inputs.size());
  const int made = static_cast<int>(node.outputs.size());
  if (given < importer.least_inputs ||
      (importer.most_inputs >= 0 && given > importer.most_inputs)) {
    throw user_error("it has {} inputs", given);
  }
  if (made < 1 || (importer.most_outputs >= 0 && made > importer.most_outputs)) {
    throw user_error("it has {} outputs", made);
  }
  Call call(*this, node, label(index), opset_of(domain), inputs_of(node, index));
  Results results = importer.function(call);
  call.check_all_read();
  return results;
}

Results Scope::call_function(const FunctionProto& function, const NodeProto& node, size_t index) {
  if (node.inputs.size() > function.inputs.size() ||
      node.outputs.size() > function.outputs.size()) {
    throw user_error("the function takes {} inputs and gives {} outputs", function.inputs.size(),
                     function.outputs.size());
  }
  const std::vector<Value> inputs = inputs_of(node, index);
  const FunctionCall call = enter(function, node, call_);
  const Opsets opsets = read_opsets(function.opsets);
  Scope inner(*this, call, opsets, label(index) + "/");
  for (size_t i = 0; i < function.inputs.size(); ++i) {
    if (i < inputs.size() && inputs[i]) {
      inner.define(function.inputs[i], inputs[i]);
    } else {
      inner.absent_.insert(function.inputs[i]);
    }
  }
  inner.import_nodes(function.nodes);
  Results results;
  for (size_t i = 0; i < node.outputs.size(); ++i) {
    const std::optional<Value> value = inner.find(function.outputs[i]);
    if (!value) throw user_error("function output '{}' is made by no node", function.outputs[i]);
    results.push_back(*value);
  }
  return results;
}

void Scope::define_outputs(const NodeProto& node, const Results& results) {
  for (size_t i = 0; i < node.outputs.size(); ++i) {
    const Value value = i < results.size() ? results[i] : Value{};
    if (value && value.shape().rank() > static_cast<int>(limits::kRank)) {
      throw user_error("its output has rank {}", value.shape().rank());
    }
    if (!node.outputs[i].empty()) values_[node.outputs[i]] = value;
  }
}

// Shape arithmetic ends here: what is known as Dims becomes a leaf, so no later pass sees the ops
// that computed it.
Value Scope::settle(Value value) {
  const auto& known = value.shape_value();
  if (!known || value.op() == Op::Constant || value.op() == Op::Dims) return value;
  if (value.dtype() == DType::I64 && value.shape().rank() <= 1) {
    return frame_.g.dims(*known, value.shape().rank() == 0);
  }
  const bool constant =
      std::all_of(known->begin(), known->end(), [](const Dim& dim) { return dim.is_const(); });
  if (!constant) return value;
  const auto size = static_cast<size_t>(size_of(value.dtype()));
  auto bytes = std::make_shared<std::vector<std::byte>>(known->size() * size);
  for (size_t i = 0; i < known->size(); ++i) {
    store_from_i64(value.dtype(), bytes->data() + i * size, (*known)[i].const_value());
  }
  return frame_.g.constant(value.type(), {*bytes, bytes});
}

// Whatever hangs below the results and has no origin yet was made for this node.
void Scope::set_origins(const Results& results, const std::string& origin) {
  std::vector<const graph::Node*> stack;
  for (Value value : results) {
    if (value) stack.push_back(value.node);
  }
  while (!stack.empty()) {
    const graph::Node* node = stack.back();
    stack.pop_back();
    if (node->op() == Op::Input || !frame_.g.origin(node).empty()) continue;
    frame_.g.set_origin(node, origin);
    for (Value operand : node->operands()) stack.push_back(operand.node);
  }
}

}  // namespace tenon::onnx
