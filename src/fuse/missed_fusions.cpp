// Known patterns that a legalized graph still has written out. The passes run again, one after the
// other: what one makes now the backend does not claim, or it was taken apart, or the pass was
// skipped. Of what is left after that a row of the table knows the heart (a softmax between
// matmuls, a square root of a mean of squares) and says what kept the pass from taking it.
#include <fmt/format.h>

#include <algorithm>
#include <map>
#include <unordered_set>

#include "fuse/dequantized.h"
#include "fuse/deviation.h"
#include "fuse/fuse.h"
#include "fuse/fused_nodes.h"
#include "graph/linear_parts.h"

namespace tenon::fuse {
namespace {

using graph::LinearParts;
using graph::Node;
using graph::Op;
using graph::Value;
using Missed = FusionReport::Missed;

struct Miss {
  std::string reason, hint;
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
// Or the rms norm of centred rows, and a bias that is added to it.
std::optional<Miss> missed_layer_norm(const Node& node, const graph::UseLists& uses) {
  if (node.op() != Op::RmsNorm) return missed_norm(node, uses, true);
  const Node& rows = *node.operand(0).node;
  if (rows.op() != Op::Sub || rows.operand(1).op() != Op::ReduceMean) return std::nullopt;
  const bool centred = rows.operand(1).node->operand(0) == rows.operand(0);
  const Node* user = uses.only_user(Value{&node});
  if (!centred || !user || user->op() != Op::Add) return std::nullopt;
  return Miss{"its rows are centred apart", "let fuse_layer_norm run, or use layer_norm itself"};
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

// A pass that finds something to do in a legalized graph did not run, or was undone.
struct Row {
  const char* pattern;
  bool (*made)(const Node& node);  // what the pass makes
  // None: that of the row above, which makes this, too.
  graph::Graph (*pass)(const graph::Graph& graph, const graph::Claims& claims) = nullptr;
  std::optional<Miss> (*missed)(const Node& node, const graph::UseLists& uses) = nullptr;
};

// In the order of the pipeline: patterns are made of others.
constexpr Row kRows[] = {
    {"fused_gelu", is<Op::Gelu>, fuse_gelu, missed_gelu},
    {"fused_silu", is<Op::Silu>, fuse_silu},
    {"fused_softmax", is<Op::Softmax>, fuse_softmax, missed_softmax},
    {"fused_layer_norm", is<Op::LayerNorm>, fuse_layer_norm, missed_layer_norm},
    {"fused_rms_norm", is<Op::RmsNorm>, fuse_rms_norm, missed_rms_norm},
    {"fused_rotary", is<Op::Rotary>, fuse_rotary},
    {"fused_attention", is<Op::Attention>, fuse_attention, missed_attention},
    {"fused_dequantize_matmul", is_dequantize_matmul, fuse_linear, missed_dequantize},
    {"fused_matmul_residual", has_residual},
    {"fused_matmul_bias_act", is_bias_act, nullptr, missed_bias},
    {"fused_matmul", is<Op::Linear>},
    {"fused_swiglu", is<Op::GatedLinear>, fuse_gated_linear, missed_swiglu},
    {"fused_row_scale", has_row_scale, fold_row_scale},
    {"fused_residual_norm", nullptr, nullptr, missed_residual_norm},
    {"fused_shared_input", is_shared_input, fuse_shared_input},
};

class Search {
 public:
  Search(const graph::Graph& after, const graph::Claims& claims)
      : claims_(claims), before_(after), seen_(after) {}

  std::vector<Missed> run() {
    for (const Row& row : kRows) {
      if (row.pass != nullptr) {
        before_ = std::move(seen_);
        seen_ = row.pass(before_, {});  // as if everything were claimed
      }
      if (row.made != nullptr) add_made(row);
      if (row.missed != nullptr) add_missed(row);
    }
    return std::move(result_);
  }

 private:
  // What the pass has made; passes keep the origins. A node is told once, by the first row it is
  // of.
  void add_made(const Row& row) {
    std::map<std::string_view, int> had;
    for (const Node* node : before_.topological()) {
      if (row.made(*node)) ++had[before_.origin(node)];
    }
    for (const Node* node : seen_.topological()) {
      if (!row.made(*node) || had[seen_.origin(node)]-- > 0) continue;
      if (told_.insert(node).second) add(row, *node, why_apart(*node));
    }
  }

  // What no pass can make anything of.
  void add_missed(const Row& row) {
    const graph::UseLists uses(seen_);
    for (const Node* node : seen_.topological()) {
      const std::optional<Miss> miss = row.missed(*node, uses);
      if (miss) add(row, *node, *miss);
    }
  }

  Miss why_apart(const Node& node) const {
    const std::string_view op = graph::info(node.op()).text;
    if (!claims_.takes(node)) {
      return {fmt::format("not claimed by {}", claims_.backend),
              fmt::format("choose a backend with a kernel for {}; name it in supported_ops", op)};
    }
    return {"it, or a part of it, was taken apart or not looked for",
            fmt::format("let {} and its parts run natively, and skip no pass", op)};
  }

  void add(const Row& row, const Node& node, Miss miss) {
    result_.push_back({row.pattern, std::string(seen_.origin(&node)), std::move(miss.reason),
                       std::move(miss.hint)});
  }

  const graph::Claims& claims_;
  graph::Graph before_, seen_;  // by the last pass
  std::unordered_set<const Node*> told_;
  std::vector<Missed> result_;
};

}  // namespace

std::vector<Missed> missed_fusions(const graph::Graph& after, const graph::Claims& claims) {
  return Search(after, claims).run();
}

}  // namespace tenon::fuse
