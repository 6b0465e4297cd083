// Frame: one graph under construction, and the graph around it where it is a body (a branch, a
// loop). A body sees values of the graph around it as inputs of its own; small constants are copied
// into it. Large tensors are parameters of the outermost graph, wherever a model defines them.
#pragma once

#include <string>
#include <unordered_map>
#include <unordered_set>
#include <vector>

#include "graph/graph.h"
#include "import/onnx/tensors.h"

namespace tenon::onnx {

using graph::Value;

class Frame {
 public:
  explicit Frame(graph::Graph& graph, Frame* outer = nullptr) : g(graph), outer_(outer) {}
  Frame(const Frame&) = delete;
  Frame& operator=(const Frame&) = delete;

  graph::Graph& g;
  Frame* outer() const { return outer_; }

  Value input(TensorType type);  // of a body, by position
  // A value of the graph around, in this one.
  Value capture(Value outside);
  // What was captured as inputs, in their order: operands of the node that gets this body.
  const std::vector<Value>& captures() const { return captures_; }

  // A constant up to 4 KB, a parameter above. A name that is taken gets a number.
  Value leaf(LoadedTensor tensor, const std::string& name);
  // Leaves that importers make themselves: equal names are equal leaves.
  Value shared_leaf(LoadedTensor tensor, const std::string& name);
  void reserve_name(const std::string& name) { names_.insert(name); }

 private:
  Frame* outer_;
  std::vector<Value> captures_;
  std::unordered_map<Value, Value> captured_;
  std::unordered_map<std::string, Value> shared_;
  std::unordered_set<std::string> names_;  // of inputs and parameters
};

}  // namespace tenon::onnx
