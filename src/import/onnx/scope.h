// Scope: a list of nodes while it is imported, and the names it knows: the model's graph, a body, a
// function. A name that it does not know is looked for in the scope around it; functions have none.
// ONNX requires that nodes are sorted and names unique, so one pass suffices; a model that breaks
// this is told which node and name are at fault.
#pragma once

#include <map>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <unordered_map>
#include <unordered_set>
#include <vector>

#include "import/onnx/frame.h"
#include "import/onnx/functions.h"
#include "import/onnx/tensors.h"

namespace tenon::onnx {

using Results =
    std::vector<Value>;  // of a node, in order; a null one is a result that nobody may use

using Opsets = std::map<std::string_view, int64_t>;  // by domain, ai.onnx as ""
Opsets read_opsets(const OpsetImports& imports);     // User error: repeated, or out of range

// What all scopes of one import share.
struct Import {
  const ModelProto& model;
  TensorLoader& loader;
  Functions functions;
  size_t nodes_left = limits::kExpandedNodes;  // functions and bodies count as often as they occur
};

class Scope {
 public:
  // The model's graph.
  Scope(Import& import, Frame& frame, const Opsets& opsets)
      : import_(import), frame_(frame), opsets_(opsets) {}
  // A body of node `label`, in a graph of its own or in its parent's.
  Scope(Scope& parent, Frame& frame, std::string label);
  // The nodes of a function.
  Scope(Scope& caller, const FunctionCall& call, const Opsets& opsets, std::string label);

  Frame& frame() { return frame_; }
  TensorLoader& loader() { return import_.loader; }

  void declare_initializers(const std::vector<TensorProto>& initializers);
  bool has_initializer(std::string_view name) const { return initializers_.contains(name); }
  bool knows(std::string_view name) const { return values_.contains(name); }
  void define(std::string_view name, Value value) { values_[name] = value; }
  void import_nodes(std::span<const NodeProto> nodes);
  // Null inside where the name's node does not compute it; nullopt where there is no such name.
  std::optional<Value> find(std::string_view name);

  // The graph of a body, on values of this scope's frame: its outputs.
  Results import_graph(const GraphProto& graph, const std::vector<Value>& inputs);

 private:
  void import_node(size_t index);
  Results call_importer(const NodeProto& node, size_t index);
  Results call_function(const FunctionProto& function, const NodeProto& node, size_t index);
  std::vector<Value> inputs_of(const NodeProto& node, size_t index);
  void index_producers();
  void define_outputs(const NodeProto& node, const Results& results);
  std::string label(size_t index) const;  // the node's name, or Op#index
  int64_t opset_of(std::string_view domain) const;
  Value value_of(std::string_view name, size_t node_index);
  Value settle(Value value);  // a shape computed by the model, as a leaf
  void set_origins(const Results& results, const std::string& origin);
  void check_depth() const;

  Import& import_;
  Frame& frame_;
  Scope* parent_ = nullptr;
  const Opsets& opsets_;
  const FunctionCall* call_ = nullptr;
  std::string prefix_;  // of labels
  size_t depth_ = 0;
  std::span<const NodeProto> nodes_;
  std::unordered_map<std::string_view, const TensorProto*> initializers_;
  std::unordered_map<std::string_view, size_t> producers_;  // node that makes the name
  std::unordered_map<std::string_view, Value> values_;
  std::unordered_set<std::string_view> absent_;  // inputs of a function that the call leaves out
};

}  // namespace tenon::onnx
