// Walks the model. ONNX requires that nodes are sorted and names unique, so one pass suffices; a
// model that breaks this is told which node and name are at fault.
#include "import/onnx/model_importer.h"

#include <algorithm>

namespace tenon::onnx {
namespace {

std::string_view canonical_domain(std::string_view domain) {
  return domain == "ai.onnx" ? std::string_view() : domain;
}

std::string qualified(std::string_view domain, std::string_view op) {
  return domain.empty() ? std::string(op) : fmt::format("{}.{}", domain, op);
}

}  // namespace

void ModelImporter::run() {
  read_opsets();
  check_ops_known();
  declare_initializers();
  declare_inputs();
  symbols_.check_bounds_used();
  index_producers();
  for (size_t i = 0; i < model_.nodes.size(); ++i) import_node(i);
  import_outputs();
}

std::string ModelImporter::label(size_t index) const {
  const NodeProto& node = model_.nodes[index];
  if (!node.name.empty()) return std::string(node.name);
  return fmt::format("{}#{}", node.op_type, index);
}

void ModelImporter::read_opsets() {
  for (const auto& [domain, version] : model_.opsets) {
    const std::string_view key = canonical_domain(domain);
    if (version < 1) throw user_error("opset {} of domain '{}'", version, domain);
    if (key.empty() && version > kNewestOpset) {
      throw unsupported_error("opset {} is newer than the newest known one, {}", version,
                              kNewestOpset);
    }
    if (!opsets_.emplace(key, version).second) {
      throw user_error("the opset of domain '{}' is given twice", domain);
    }
  }
}

int64_t ModelImporter::opset_of(std::string_view domain) const {
  const auto found = opsets_.find(domain);
  if (found == opsets_.end()) {
    throw user_error("the model imports no opset of domain '{}'",
                     domain.empty() ? "ai.onnx" : domain);
  }
  return found->second;
}

// All unknown ops in one error, each with its count and first nodes.
void ModelImporter::check_ops_known() const {
  std::map<std::string, std::vector<size_t>> unknown;
  for (size_t i = 0; i < model_.nodes.size(); ++i) {
    const NodeProto& node = model_.nodes[i];
    const std::string_view domain = canonical_domain(node.domain);
    const Importer* importer = find_importer(domain, node.op_type);
    std::string name = qualified(domain, node.op_type);
    if (importer) {
      const auto opset = opsets_.find(domain);
      if (opset == opsets_.end() || opset->second >= importer->since) continue;
      name += fmt::format(" of opset {} (known since {})", opset->second, importer->since);
    }
    unknown[name].push_back(i);
  }
  if (unknown.empty()) return;
  std::string text;
  for (const auto& [op, nodes] : unknown) {
    text += fmt::format("\n  {} x{}: ", op.empty() ? "a node without op_type" : op, nodes.size());
    for (size_t i = 0; i < std::min<size_t>(nodes.size(), 8); ++i) {
      text += fmt::format("{}'{}'", i ? ", " : "", label(nodes[i]));
    }
    if (nodes.size() > 8) text += fmt::format(" and {} more", nodes.size() - 8);
  }
  throw unsupported_error("{} op{} not supported:{}", unknown.size(),
                          unknown.size() == 1 ? " is" : "s are", text);
}

void ModelImporter::declare_initializers() {
  for (const TensorProto& tensor : model_.initializers) {
    if (tensor.name.empty()) throw user_error("an initializer has no name");
    if (!initializers_.emplace(tensor.name, &tensor).second) {
      throw user_error("initializer '{}' is given twice", tensor.name);
    }
    loader_.load(tensor);  // sizes are checked even where nothing uses the tensor
  }
}

void ModelImporter::declare_inputs() {
  for (const ValueInfoProto& input : model_.inputs) {
    if (input.name.empty()) throw user_error("a graph input has no name");
    if (initializers_.contains(input.name)) continue;  // as models before IR version 4 have it
    if (!input.is_tensor) throw unsupported_error("input '{}' is no tensor", input.name);
    if (!input.dims) throw unsupported_error("input '{}' has no shape", input.name);
    const DType dtype = dtype_of(input.elem_type, fmt::format("input '{}'", input.name));
    std::vector<Dim> dims;
    for (size_t axis = 0; axis < input.dims->size(); ++axis) {
      dims.push_back(symbols_.extent((*input.dims)[axis], input.name, axis));
    }
    if (values_.contains(input.name)) throw user_error("input '{}' is given twice", input.name);
    values_[input.name] = g_.input(std::string(input.name), {Shape(std::move(dims)), dtype});
  }
}

void ModelImporter::index_producers() {
  for (size_t i = 0; i < model_.nodes.size(); ++i) {
    for (std::string_view output : model_.nodes[i].outputs) {
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

std::optional<Value> ModelImporter::find_value(std::string_view name) {
  if (const auto found = values_.find(name); found != values_.end()) return found->second;
  const auto initializer = initializers_.find(name);
  if (initializer == initializers_.end()) return {};
  Value leaf = make_leaf(g_, loader_.load(*initializer->second), std::string(name));
  g_.set_origin(leaf.node, std::string(name));
  return values_[name] = leaf;
}

Value ModelImporter::value_of(std::string_view name, size_t node_index) {
  if (const auto found = find_value(name)) {
    if (!*found) {
      throw unsupported_error("input '{}' is an output that node '{}' does not compute here", name,
                              label(producers_.at(name)));
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

void ModelImporter::import_node(size_t index) {
  const NodeProto& node = model_.nodes[index];
  try {
    Results results = call_importer(node, index);
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

Results ModelImporter::call_importer(const NodeProto& node, size_t index) {
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
  std::vector<Value> inputs;
  for (std::string_view name : node.inputs) {
    inputs.push_back(name.empty() ? Value{} : value_of(name, index));
  }
  Call call(g_, loader_, shared_, node, opset_of(domain), std::move(inputs));
  Results results = importer.function(call);
  call.check_all_read();
  return results;
}

void ModelImporter::define_outputs(const NodeProto& node, const Results& results) {
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
Value ModelImporter::settle(Value value) {
  const auto& known = value.shape_value();
  if (!known || value.op() == Op::Constant || value.op() == Op::Dims) return value;
  if (value.dtype() == DType::I64 && value.shape().rank() <= 1) {
    return g_.dims(*known, value.shape().rank() == 0);
  }
  const bool constant =
      std::all_of(known->begin(), known->end(), [](const Dim& dim) { return dim.is_const(); });
  if (!constant) return value;
  const auto size = static_cast<size_t>(size_of(value.dtype()));
  auto bytes = std::make_shared<std::vector<std::byte>>(known->size() * size);
  for (size_t i = 0; i < known->size(); ++i) {
    store_from_i64(value.dtype(), bytes->data() + i * size, (*known)[i].const_value());
  }
  return g_.constant(value.type(), {*bytes, bytes});
}

// Whatever hangs below the results and has no origin yet was made for this node.
void ModelImporter::set_origins(const Results& results, const std::string& origin) {
  std::vector<const graph::Node*> stack;
  for (Value value : results) {
    if (value) stack.push_back(value.node);
  }
  while (!stack.empty()) {
    const graph::Node* node = stack.back();
    stack.pop_back();
    if (node->op() == Op::Input || !g_.origin(node).empty()) continue;
    g_.set_origin(node, origin);
    for (Value operand : node->operands()) stack.push_back(operand.node);
  }
}

}  // namespace tenon::onnx
