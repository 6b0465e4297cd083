// One pass over a model: symbols, inputs, initializers, nodes, outputs, in this order.
#pragma once

#include <map>
#include <string>
#include <string_view>
#include <unordered_map>
#include <utility>

#include "import/onnx/call.h"
#include "import/onnx/importers.h"
#include "import/onnx/symbols.h"

namespace tenon::onnx {

class ModelImporter {
 public:
  // Builds on `g`, which must be empty. On an error `g` keeps what was built: its constraints are
  // facts all the same.
  ModelImporter(const ModelProto& model, TensorLoader& loader, graph::Graph& g, SymbolRules rules)
      : model_(model), loader_(loader), g_(g), symbols_(std::move(rules)) {}

  void run();

 private:
  void read_opsets();
  void check_ops_known() const;
  void declare_initializers();
  void declare_inputs();
  void index_producers();
  void import_node(size_t index);
  Results call_importer(const NodeProto& node, size_t index);
  void define_outputs(const NodeProto& node, const Results& results);
  void import_outputs();

  std::string label(size_t index) const;  // the node's name, or Op#index
  int64_t opset_of(std::string_view domain) const;
  Value value_of(std::string_view name, size_t node_index);
  std::optional<Value> find_value(std::string_view name);
  Value settle(Value value);  // a shape computed by the model, as a leaf
  void set_origins(const Results& results, const std::string& origin);
  void check_declared(const ValueInfoProto& declared, Value value);

  const ModelProto& model_;
  TensorLoader& loader_;
  graph::Graph& g_;
  Symbols symbols_;
  std::map<std::string_view, int64_t> opsets_;  // by domain, ai.onnx as ""
  std::unordered_map<std::string_view, const TensorProto*> initializers_;
  std::unordered_map<std::string_view, size_t> producers_;  // node that makes the name
  std::unordered_map<std::string_view, Value> values_;
  SharedLeaves shared_;
};

}  // namespace tenon::onnx
