// Context: keeps each structure once among the graphs that share it. Nodes are counted: they live
// as long as a graph or another node needs them, and a chain of any depth goes without recursion.
#pragma once

#include <atomic>
#include <string>
#include <vector>

#include "base/interner.h"
#include "graph/node.h"

namespace tenon::graph {

class Context {
 public:
  // What makes a node. Types have been inferred; a constant's data has been copied.
  struct Fields {
    Op op{};
    std::vector<Value> operands;
    Attributes attributes;
    std::vector<TensorType> types;
    std::string name;
    Data data;
  };

  // The node with these fields: an existing one, or a new one. Safe to call from several threads.
  Ref<Node> intern(Fields fields);
  bool owns(const Node* node) const { return node->context_ == this; }
  size_t size() const { return interner_.size(); }  // nodes alive
  // Of an op that is never the same as another: 0, 1, ...
  int64_t next_token() { return tokens_.fetch_add(1); }

 private:
  Interner<Node> interner_;
  std::atomic<int64_t> tokens_ = 0;
};

}  // namespace tenon::graph
