// Context: owns the nodes of the graphs that share it and keeps each structure once. Nodes live as
// long as the context, in one flat list, so that destroying a chain of any depth does not recurse.
#pragma once

#include <memory>
#include <mutex>
#include <unordered_set>
#include <vector>

#include "graph/node.h"

namespace tenon::graph {

class Context {
 public:
  Context();
  ~Context();
  Context(const Context&) = delete;
  Context& operator=(const Context&) = delete;

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
  const Node* intern(Fields fields);
  bool owns(const Node* node) const { return node->context_ == this; }
  size_t size() const;

 private:
  struct HashNode {
    size_t operator()(const Node* node) const { return node->digest().prefix(); }
  };
  struct SameNode {
    bool operator()(const Node* a, const Node* b) const;
  };

  mutable std::mutex mutex_;
  std::vector<std::unique_ptr<Node>> nodes_;
  std::unordered_set<const Node*, HashNode, SameNode> interned_;
};

}  // namespace tenon::graph
