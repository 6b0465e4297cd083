// Fused ops that the backend does not take, or shall not, become primitives, round by round: a
// fused op may be made of others, which the report does not count: the model did not have them.
#include "legalize/dispatch.h"

#include <fmt/ranges.h>

#include <algorithm>
#include <set>

#include "base/error.h"
#include "graph/host_ops.h"
#include "legalize/decompose.h"
#include "legalize/decompose_fused.h"

namespace tenon::legalize {

using graph::Node;
using graph::Op;

namespace {

// Leaves, and what the executor does itself, no backend is asked about.
bool is_dispatched(Op op) { return !graph::has(op, graph::kLeaf) && !graph::is_host_op(op); }

std::string name_of(Op op) { return std::string(graph::info(op).text); }

class Policies {
 public:
  explicit Policies(const DispatchOptions& options) : policy_(options.policy) {
    for (const auto& [name, policy] : options.overrides) {
      const std::optional<Op> op = graph::parse_op(name);
      if (!op) throw user_error("[dispatch] there is no op \"{}\"", name);
      if (policy == DispatchPolicy::ForceCommon && !is_fused(*op))
        throw user_error("[dispatch] {} cannot be forced to primitives: it is one", name);
      overrides_.emplace(*op, policy);
    }
  }

  DispatchPolicy of(Op op) const {
    const auto found = overrides_.find(op);
    return found == overrides_.end() ? policy_ : found->second;
  }

 private:
  DispatchPolicy policy_;
  std::map<Op, DispatchPolicy> overrides_;
};

// What cannot run, to be told in one error.
class Offenders {
 public:
  void add(const graph::Graph& graph, const Node& node, DispatchPolicy policy) {
    const std::string_view origin = graph.origin(&node);
    Row& row = rows_[name_of(node.op())];
    row.forced = policy == DispatchPolicy::ForceNative && is_fused(node.op());
    row.origins.insert(origin.empty() ? node.types()[0].to_string() : std::string(origin));
  }

  void throw_if_any(const std::string& backend) const {
    if (rows_.empty()) return;
    std::string list;
    for (const auto& [op, row] : rows_) {
      list += fmt::format("\n  {} ({}){}", op, fmt::join(row.origins, ", "),
                          row.forced ? ": the policy forbids to make primitives of it" : "");
    }
    throw unsupported_error("[dispatch] the backend {} does not take:{}", backend, list);
  }

 private:
  struct Row {
    std::set<std::string> origins;
    bool forced = false;
  };
  std::map<std::string, Row> rows_;
};

}  // namespace

std::optional<DispatchPolicy> parse_dispatch_policy(std::string_view text) {
  const auto* const found = std::ranges::find(kDispatchPolicies, text);
  if (found == std::end(kDispatchPolicies)) return std::nullopt;
  return static_cast<DispatchPolicy>(found - std::begin(kDispatchPolicies));
}

graph::Graph dispatch(const graph::Graph& source, const graph::Claims& claims,
                      const DispatchOptions& options, DispatchReport& report) {
  const Policies policies(options);
  graph::Graph graph = source;
  bool changed = true;
  Offenders offenders;
  for (int round = 0; changed; ++round) {  // ends: a fused op is made of simpler ones
    changed = false;
    const auto choose = [&](graph::Graph& g, const Node& node,
                            std::span<const graph::Value> operands) -> std::vector<graph::Value> {
      if (!is_dispatched(node.op())) return {};
      const DispatchPolicy policy = policies.of(node.op());
      const bool native = claims.takes(node);
      const bool wanted = policy == DispatchPolicy::ForceCommon ||
                          (policy == DispatchPolicy::PreferNative && !native);
      if (wanted && is_fused(node.op())) {
        changed = true;
        if (round == 0) ++report.rows[name_of(node.op())].common;
        return decompose_fused(g, node, operands);
      }
      if (!native) offenders.add(graph, node, policy);
      return {};
    };
    graph = rebuild(graph, choose);
  }
  offenders.throw_if_any(claims.backend);
  for (const Node* node : graph.topological()) {
    if (is_dispatched(node->op())) ++report.rows[name_of(node->op())].native;
  }
  return graph;
}

void report_rewritten(const graph::Graph& graph, DispatchReport& report) {
  for (const Node* node : graph.topological()) {
    if (is_decomposed(node->op())) ++report.rows[name_of(node->op())].rewritten;
  }
}

}  // namespace tenon::legalize
