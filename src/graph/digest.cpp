// The digest of a graph: what decides compilation and nothing else. Nodes bring their own digests,
// so this reads only the inputs, the outputs and the constraints; origins, parameter data and
// unused parameters do not count.
#include <algorithm>

#include "graph/graph.h"

namespace tenon::graph {

Digest digest(const Graph& graph) {
  Hasher hasher;
  const auto add = [&](const Value& value) {
    hasher.bytes(std::as_bytes(std::span(value.node->digest().bytes))).number(value.result);
  };
  hasher.text("graph").number(static_cast<int64_t>(graph.inputs().size()));
  for (const Value& input : graph.inputs()) add(input);
  hasher.number(static_cast<int64_t>(graph.outputs().size()));
  for (const Output& output : graph.outputs()) {
    hasher.text(output.name);
    add(output.value);
  }
  std::vector<std::string> facts;  // a set: the order in which they were found does not matter
  for (const Constraint& c : graph.constraints()) {
    facts.push_back(std::to_string(static_cast<int>(c.kind)) + ' ' + c.left.to_string() + ' ' +
                    c.right.to_string());
  }
  std::ranges::sort(facts);
  for (const std::string& fact : facts) hasher.text(fact);
  return hasher.finish();
}

}  // namespace tenon::graph
