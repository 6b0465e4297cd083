// Counts the fused ops of a graph by pattern, before and after the passes. A pattern is a row of
// the table: its name and what a node of it is.
#include <algorithm>

#include "fuse/fuse.h"
#include "fuse/fused_nodes.h"

namespace tenon::fuse {
namespace {

using graph::Node;
using graph::Op;

// A norm of a sum that no kernel of its own makes: a linear adds its residual, or the norm reads
// both addends.
bool is_residual_norm(const Node& node, const graph::UseLists& uses) {
  if (!is<Op::LayerNorm>(node) && !is<Op::RmsNorm>(node) && !has_row_scale(node)) return false;
  const graph::Value sum = node.operand(0);
  const bool in_norm = sum.op() == Op::Add && uses.only_user(sum);
  return has_residual(*sum.node) || (in_norm && !has_row_scale(node));
}

struct Pattern {
  std::string_view name;
  bool (*matches)(const Node&) = nullptr;
  bool (*matches_in)(const Node&, const graph::UseLists&) = nullptr;  // where readers count, too
};

constexpr Pattern kPatterns[] = {
    {"fused_gelu", is_gelu},
    {"fused_silu", is_silu},
    {"fused_softmax", is<Op::Softmax>},
    {"fused_layer_norm", is<Op::LayerNorm>},
    {"fused_rms_norm", is<Op::RmsNorm>},
    {"fused_row_scale", has_row_scale},
    {.name = "fused_residual_norm", .matches_in = is_residual_norm},
    {"fused_rotary", is<Op::Rotary>},
    {"fused_attention", is<Op::Attention>},
    {"fused_swiglu", is<Op::GatedLinear>},
    {"fused_matmul", is<Op::Linear>},
    {"fused_matmul_bias_act", is_bias_act},
    {"fused_matmul_residual", has_residual},
    {"fused_shared_input", is_shared_input},
    {"fused_dequantize_matmul", is_dequantize_matmul},
};

class Counter {
 public:
  explicit Counter(const graph::Graph& graph) : nodes_(graph.topological()), uses_(graph) {}

  int operator()(const Pattern& pattern) const {
    return static_cast<int>(std::ranges::count_if(nodes_, [&](const Node* node) {
      return pattern.matches ? pattern.matches(*node) : pattern.matches_in(*node, uses_);
    }));
  }

 private:
  std::vector<const Node*> nodes_;
  graph::UseLists uses_;
};

}  // namespace

FusionReport fusion_report(const graph::Graph& before, const graph::Graph& after,
                           const graph::Claims& claims) {
  FusionReport report;
  const Counter count_before(before), count_after(after);
  for (const Pattern& pattern : kPatterns) {
    report.counts.push_back({.pattern = std::string(pattern.name),
                             .found = count_after(pattern),
                             .before = count_before(pattern)});
  }
  report.missed = missed_fusions(after, claims);
  return report;
}

}  // namespace tenon::fuse
