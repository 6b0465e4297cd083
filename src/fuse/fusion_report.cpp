// Counts the fused ops of a graph by pattern, before and after the passes, so that a user sees at a
// glance whether a model's attention or norms were recognized. A pattern is a row of the table: its
// name and what a node of it is.
#include <fmt/format.h>

#include <algorithm>

#include "fuse/fuse.h"
#include "fuse/linear_parts.h"

namespace tenon {
namespace fuse {
namespace {

using graph::Activation;
using graph::Node;
using graph::Op;

bool is_gelu(const Node& node) {
  if (node.op() == Op::Linear) return parts_of(node).activation == Activation::Gelu;
  return node.op() == Op::Gelu;
}

bool is_layer_norm(const Node& node) { return node.op() == Op::LayerNorm; }
bool is_attention(const Node& node) { return node.op() == Op::Attention; }
bool is_linear(const Node& node) { return node.op() == Op::Linear; }

bool is_bias_act(const Node& node) {
  if (!is_linear(node)) return false;
  LinearParts parts = parts_of(node);
  return parts.bias || parts.activation != Activation::None;
}

bool has_residual(const Node& node) { return is_linear(node) && parts_of(node).residual; }

bool is_shared_input(const Node& node) {
  if (!is_linear(node)) return false;
  const Node& w = *node.operand(1).node;
  return w.op() == Op::Concat && w.attributes().integer("axis") == 1;
}

struct Pattern {
  std::string_view name;
  bool (*matches)(const Node&);
};

constexpr Pattern kPatterns[] = {
    {"fused_gelu", is_gelu},
    {"fused_layer_norm", is_layer_norm},
    {"fused_attention", is_attention},
    {"fused_matmul", is_linear},
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
  return report;
}

}  // namespace fuse

int FusionReport::found(std::string_view pattern) const {
  for (const Count& count : counts) {
    if (count.pattern == pattern) return count.found;
  }
  return 0;
}

std::string FusionReport::to_string() const {
  std::string text = fmt::format("{:<24}{:>8}{:>8}\n", "pattern", "before", "after");
  for (const Count& count : counts) {
    text += fmt::format("{:<24}{:>8}{:>8}\n", count.pattern, count.before, count.found);
  }
  return text;
}

}  // namespace tenon
