// Counts the fused ops of a graph by pattern, before and after the passes. A pattern is a row of
// the table: its name and what a node of it is.
#include <algorithm>

#include "fuse/fuse.h"
#include "fuse/linear_parts.h"

namespace tenon::fuse {
namespace {

using graph::Activation;
using graph::Node;
using graph::Op;

bool is_gelu(const Node& node) {
  if (node.op() == Op::Linear) return parts_of(node).activation == Activation::Gelu;
  return node.op() == Op::Gelu;
}

template <Op op>
bool is(const Node& node) {
  return node.op() == op;
}

bool is_bias_act(const Node& node) {
  if (!is<Op::Linear>(node)) return false;
  LinearParts parts = parts_of(node);
  return parts.bias || parts.activation != Activation::None;
}

bool has_residual(const Node& node) { return is<Op::Linear>(node) && parts_of(node).residual; }

bool has_row_scale(const Node& node) { return node.attributes().integer("row_scale", 0) != 0; }

bool is_shared_input(const Node& node) {
  if (!is<Op::Linear>(node)) return false;
  const Node& w = *node.operand(1).node;
  return w.op() == Op::Concat && w.attributes().integer("axis") == 1;
}

struct Pattern {
  std::string_view name;
  bool (*matches)(const Node&);
};

constexpr Pattern kPatterns[] = {
    {"fused_gelu", is_gelu},
    {"fused_layer_norm", is<Op::LayerNorm>},
    {"fused_rms_norm", is<Op::RmsNorm>},
    {"fused_row_scale", has_row_scale},  // norms that became part of linears
    {"fused_rotary", is<Op::Rotary>},
    {"fused_attention", is<Op::Attention>},
    {"fused_swiglu", is<Op::GatedLinear>},
    {"fused_matmul", is<Op::Linear>},
    {"fused_matmul_bias_act", is_bias_act},
    {"fused_matmul_residual", has_residual},
    {"fused_shared_input", is_shared_input},
};

int count(std::span<const Node* const> nodes, const Pattern& pattern) {
  auto matches = [&](const Node* node) { return pattern.matches(*node); };
  return static_cast<int>(std::count_if(nodes.begin(), nodes.end(), matches));
}

}  // namespace

FusionReport fusion_report(const graph::Graph& before, const graph::Graph& after) {
  FusionReport report;
  std::vector<const Node*> old_nodes = before.topological();
  std::vector<const Node*> new_nodes = after.topological();
  for (const Pattern& pattern : kPatterns) {
    report.counts.push_back({.pattern = std::string(pattern.name),
                             .found = count(new_nodes, pattern),
                             .before = count(old_nodes, pattern)});
  }
  report.missed = missed_fusions(after);
  return report;
}

}  // namespace tenon::fuse
