// Known patterns that a legalized graph still has written out. Two kinds: those that a pass would
// find now, which the backend does not claim, or which were taken apart again; of the others a row
// of the table knows the heart (a softmax between matmuls, a square root of a mean of squares) and
// says what kept the pass from taking it.
#include <fmt/format.h>

#include <algorithm>
#include <map>

#include "fuse/dequantized.h"
#include "fuse/deviation.h"
#include "fuse/fuse.h"
#include "graph/linear_parts.h"

namespace tenon::fuse {
namespace {

using graph::LinearParts;
using graph::Node;
using graph::Op;
using graph::Value;
using Missed = FusionReport::Missed;

struct Miss {
  const char* reason;
  const char* hint;
};

constexpr const char* kShared = "compute what else needs it apart, or do not give it out";

// The matmul that scores come from, through scalings, caps and masks.
Value product_below(Value value) {
  constexpr int kMostSteps = 8;
  for (int i = 0; i < kMostSteps; ++i) {
    if (value.op() == Op::MatMul) return value;
    const bool looked_through = value.op() == Op::Add || value.op() == Op::Tanh ||
                                value.op() == Op::Where || as_scaled(value);
    if (!looked_through) return {};
    Value next = {};
    for (Value operand : value.node->operands()) {
      if (operand.type() == value.type() && operand.op() != Op::Where) next = next ? next : operand;
    }
    if (!next) return {};
    value = next;
  }
  return {};
}

std::optional<Miss> missed_attention(const Node& node, const graph::UseLists& uses) {
  if (node.op() != Op::Softmax || !product_below(node.operand(0))) return std::nullopt;
  const Value weights{&node};
  bool weighs = false;
  for (const graph::UseLists::Use& use : uses.uses(weights)) {
    weighs |= use.user->op() == Op::MatMul && use.operand == 0;
  }
  if (!weighs) return std::nullopt;
  if (!uses.only_user(weights)) return Miss{"its weights are needed elsewhere", kShared};
  Value value = node.operand(0);
  const Value product = product_below(value);
  if (!uses.only_user(value) || !uses.only_user(product)) {
    return Miss{"its scores are needed elsewhere", kShared};
  }
  return Miss{"its heads or its mask have another form",
              "split heads by reshape and transpose, add one mask that broadcasts to the scores"};
}

// A norm whose deviation is the row scale of linears (fold_row_scale).
bool is_folded(const Node& root, const graph::UseLists& uses) {
  for (const graph::UseLists::Use& inverse : uses.uses(Value{&root})) {
    for (const graph::UseLists::Use& use : uses.uses(Value{inverse.user})) {
      const Op op = use.user->op();
      const bool linear = op == Op::Linear || op == Op::GatedLinear;
      if (linear && parts_of(*use.user).row_scale == Value{inverse.user}) return true;
    }
  }
  return false;
}

std::optional<Miss> missed_norm(const Node& node, const graph::UseLists& uses, bool centred) {
  const std::optional<Deviation> d = deviation(node);
  if (!d || (d->x.op() == Op::Sub) != centred || is_folded(node, uses)) return std::nullopt;
  if (!uses.only_user(Value{&node})) return Miss{"its deviation is needed elsewhere", kShared};
  return Miss{"no scale (and bias) of the last axis follows", "scale by a vector of its width"};
}
std::optional<Miss> missed_layer_norm(const Node& node, const graph::UseLists& uses) {
  return missed_norm(node, uses, true);
}
std::optional<Miss> missed_rms_norm(const Node& node, const graph::UseLists& uses) {
  return missed_norm(node, uses, false);
}

std::optional<Miss> missed_gelu(const Node& node, const graph::UseLists&) {
  constexpr double kSqrtHalf = 0.70710678118654752;
  if (node.op() != Op::Erf) return std::nullopt;
  const std::optional<Scaled> argument = as_scaled(node.operand(0));
  if (!argument || !close(argument->factor, kSqrtHalf, node.types()[0].dtype)) return std::nullopt;
  return Miss{"it is not x * 0.5 * (1 + erf(x / sqrt 2)), or a part of it is needed elsewhere",
              "use gelu itself"};
}

// A linear that could take a bias, and an addend that is none.
std::optional<Miss> missed_bias(const Node& node, const graph::UseLists& uses) {
  if (node.op() != Op::Linear) return std::nullopt;
  const LinearParts parts = parts_of(node);
  const Node* user = uses.only_user(Value{&node});
  if (parts.residual || !user || user->op() != Op::Add) return std::nullopt;
  const Value addend = other_operand(*user, Value{&node});
  if (!addend || addend.op() == Op::Linear) return std::nullopt;
  return Miss{"what is added is neither a row of the result nor of its shape",
              "reshape a bias to one axis, expand a residual"};
}

std::optional<Miss> missed_swiglu(const Node& node, const graph::UseLists& uses) {
  if (node.op() != Op::Mul) return std::nullopt;
  const Value a = node.operand(0), b = node.operand(1);
  if (a.op() != Op::Linear || b.op() != Op::Linear || a == b) return std::nullopt;
  const LinearParts left = parts_of(*a.node), right = parts_of(*b.node);
  if (!(left.x == right.x)) return std::nullopt;
  if (left.bias || right.bias) return Miss{"gate or up has a bias", "leave biases out"};
  if (!uses.only_user(a) || !uses.only_user(b)) {
    return Miss{"gate or up is needed elsewhere", kShared};
  }
  return Miss{"gate and up differ in shape, or both are activated", "activate one of them"};
}

// exp(x) / sum(exp(x)) along an axis, whatever x is.
std::optional<Miss> missed_softmax(const Node& node, const graph::UseLists&) {
  if (node.op() != Op::Div || node.operand(0).op() != Op::Exp) return std::nullopt;
  const Value powers = node.operand(0), sum = node.operand(1);
  if (sum.op() != Op::ReduceSum || !(sum.node->operand(0) == powers)) return std::nullopt;
  if (size_of(powers.dtype()) < size_of(DType::F32)) {
    return Miss{"in 16 bits every step of it rounds", "cast to f32 before it and back after it"};
  }
  return Miss{"not the maximum of one axis is subtracted before exp", "use softmax itself"};
}

// A sum that neither a linear nor the norm computes.
std::optional<Miss> missed_residual_norm(const Node& node, const graph::UseLists& uses) {
  if (node.op() != Op::LayerNorm && node.op() != Op::RmsNorm) return std::nullopt;
  const Value sum = node.operand(0);
  if (sum.op() != Op::Add || uses.only_user(sum)) return std::nullopt;
  const auto operands = sum.node->operands();
  const auto is_linear = [](Value v) { return v.op() == Op::Linear; };
  if (std::ranges::none_of(operands, is_linear)) return std::nullopt;
  return Miss{"the product that is added is needed elsewhere, or has a residual already", kShared};
}

std::optional<Miss> missed_dequantize(const Node& node, const graph::UseLists&) {
  if (node.op() != Op::MatMul || !is_dequantized(node.operand(1))) return std::nullopt;
  return Miss{"a vector is multiplied, or more than one matrix", "multiply rows by one matrix"};
}

struct Row {
  const char* pattern;
  std::optional<Miss> (*missed)(const Node& node, const graph::UseLists& uses);
  graph::Graph (*pass)(const graph::Graph& graph, const graph::Claims& claims);
  Op fused;  // what the pass makes
};

constexpr Row kRows[] = {
    {"fused_gelu", missed_gelu, fuse_gelu, Op::Gelu},
    {"fused_softmax", missed_softmax, fuse_softmax, Op::Softmax},
    {"fused_layer_norm", missed_layer_norm, fuse_layer_norm, Op::LayerNorm},
    {"fused_rms_norm", missed_rms_norm, fuse_rms_norm, Op::RmsNorm},
    {"fused_rotary", nullptr, fuse_rotary, Op::Rotary},
    {"fused_attention", missed_attention, fuse_attention, Op::Attention},
    {"fused_matmul_bias_act", missed_bias, fuse_linear, Op::Linear},
    {"fused_swiglu", missed_swiglu, fuse_gated_linear, Op::GatedLinear},
    {"fused_residual_norm", missed_residual_norm, nullptr, {}},
    {"fused_dequantize_matmul", missed_dequantize, nullptr, {}},
};

std::vector<const Node*> nodes_of(const graph::Graph& graph, Op op) {
  std::vector<const Node*> result = graph.topological();
  std::erase_if(result, [&](const Node* node) { return node->op() != op; });
  return result;
}

Missed left_apart(const Row& row, const Node& node, std::string_view origin,
                  const graph::Claims& claims) {
  const std::string_view op = graph::info(row.fused).text;
  if (!claims.takes(node)) {
    return {row.pattern, std::string(origin), fmt::format("not claimed by {}", claims.backend),
            fmt::format("choose a backend with a kernel for {}; name it in supported_ops", op)};
  }
  return {row.pattern, std::string(origin),
          "it, or a part of it, was taken apart or not looked for",
          fmt::format("let {} and its parts run natively, and skip no pass", op)};
}

// What a pass finds in `seen` that `after` does not have; the passes keep the origins.
std::vector<Missed> left_apart(const Row& row, const graph::Graph& after, const graph::Graph& seen,
                               const graph::Claims& claims) {
  std::vector<Missed> result;
  std::map<std::string_view, size_t> had;
  for (const Node* node : nodes_of(after, row.fused)) ++had[after.origin(node)];
  for (const Node* node : nodes_of(seen, row.fused)) {
    const std::string_view origin = seen.origin(node);
    size_t& left = had[origin];
    if (left > 0) {
      --left;
    } else {
      result.push_back(left_apart(row, *node, origin, claims));
    }
  }
  return result;
}

}  // namespace

std::vector<Missed> missed_fusions(const graph::Graph& after, const graph::Claims& claims) {
  std::vector<Missed> result;
  const std::vector<const Node*> nodes = after.topological();
  const graph::UseLists uses(after);
  graph::Graph seen = after;  // as if everything were claimed: patterns are made of others
  for (const Row& row : kRows) {
    if (row.pass != nullptr) {
      seen = row.pass(seen, {});
      const std::vector<Missed> apart = left_apart(row, after, seen, claims);
      result.insert(result.end(), apart.begin(), apart.end());
      if (!apart.empty()) continue;
    }
    for (const Node* node : nodes) {
      const std::optional<Miss> miss = row.missed ? row.missed(*node, uses) : std::nullopt;
      if (!miss) continue;
      result.push_back({row.pattern, std::string(after.origin(node)), miss->reason, miss->hint});
    }
  }
  return result;
}

}  // namespace tenon::fuse
