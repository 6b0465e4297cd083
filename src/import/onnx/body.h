// What importers of branches and loops build bodies with: a graph inside the graph of a scope.
#pragma once

#include <functional>
#include <string>
#include <vector>

#include "import/onnx/scope.h"

namespace tenon::onnx {

class BodyBuilder {
 public:
  BodyBuilder(Scope& around, const std::string& label)
      : graph_(around.frame().g.nested()),
        frame_(graph_, &around.frame()),
        scope_(around, frame_, label) {}

  graph::Graph& g() { return graph_; }
  Frame& frame() { return frame_; }
  Scope& scope() { return scope_; }  // for the nodes of the body
  graph::Subgraph finish(const std::vector<Value>& outputs);

 private:
  graph::Graph graph_;
  Frame frame_;
  Scope scope_;
};

// Extents of a body's results as the graph around it may say them: its own symbols mean nothing
// there, so such an extent is a fresh symbol.
bool is_visible(const graph::Graph& around, const Dim& extent);
Dim fresh_extent(graph::Graph& around, const std::string& stem);

// One element as a scalar. User error for another dtype or number of elements.
Value scalar_of(graph::Graph& g, Value value, DType dtype, std::string_view what);
Value true_scalar(graph::Graph& g);
// The condition, where it does not depend on data.
std::optional<bool> known_condition(Value condition);

struct LoopSource {
  std::string label;
  Value trips, condition;      // scalars
  std::vector<Value> carried;  // before the first iteration
};
// Writes one iteration: the condition, the carried values, what is scanned.
using Iteration = std::function<std::vector<Value>(BodyBuilder& body, Value number, Value condition,
                                                   const std::vector<Value>& carried)>;
// A loop in the graph of `scope`: the carried values after it, and the scans, stacked. An extent of
// a carried value that an iteration changes is a symbol inside the body; the body is written again
// until that is known of every extent.
Results build_loop(Scope& scope, const LoopSource& source, const Iteration& iteration);

}  // namespace tenon::onnx
