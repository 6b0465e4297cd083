// What a public Graph holds, and how its values are those of the tensor IR.
#pragma once

#include <memory>
#include <vector>

#include "graph/active_extent.h"
#include "graph/graph.h"
#include "tenon/graph.h"

namespace tenon {

struct GraphState : std::enable_shared_from_this<GraphState> {
  graph::Graph graph;
  graph::BucketAxes bucket_axes = {};  // that the builder marked

  GraphState() = default;
  explicit GraphState(graph::Graph from) : graph(std::move(from)) {}

  static GraphState& of(Graph& graph);  // an Error where it was moved from
  static const GraphState& of(const Graph& graph);
  static Graph wrap(graph::Graph graph);

  Value value(graph::Value from) const;
  std::vector<Value> values(const std::vector<graph::Value>& from) const;
  static graph::Value node_of(const Value& value);  // none of none
  static std::vector<graph::Value> nodes_of(const std::vector<Value>& values);
  static graph::Attributes attributes_of(const Attributes& attributes);
};

}  // namespace tenon
