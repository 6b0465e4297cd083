// Finds attention where an exporter wrote it out: heads split by reshape and transpose, softmax(q
// k^T * scale + mask) times v, heads joined again. The score matrix then never exists in memory.
// The search starts at each softmax: scores backwards, context forwards. Scores or probabilities
// that something else needs are left alone. Heads and their size are constants, everything else may
// be symbolic.
#include <cmath>
#include <limits>

#include "fuse/causal_mask.h"
#include "fuse/fuse.h"
#include "fuse/heads.h"

namespace tenon::fuse {
namespace {

using graph::Node;
using graph::Op;
using graph::Value;

struct Match {
  Heads q, k, v;
  Value mask;
  double scale = 1, softcap = 0;
  std::optional<CausalMask> causal;
  Shape result;  // of the node that is replaced
};

bool same_heads(const Heads& q, const Heads& kv) {
  return equal(q.batch(), kv.batch()) && equal(q.heads(), kv.heads() * kv.group) &&
         equal(q.dim(), kv.dim()) && q.group == 1;
}

bool mask_fits(Value mask, const Shape& scores) {
  int offset = scores.rank() - mask.shape().rank();
  if (offset < 0) return false;
  for (int i = 0; i < mask.shape().rank(); ++i) {
    const Dim& extent = mask.shape()[i];
    if (!extent.is_const(1) && !equal(extent, scores[i + offset])) return false;
  }
  return true;
}

// One softmax and what stands around it.
class Search {
 public:
  Search(const Node& softmax, const graph::UseLists& uses)
      : uses_(uses), scores_(softmax.operand(0)), weights_(&softmax) {
    const Node* guard = uses.only_user(weights_);
    if (guard && zero_where_nothing_is_seen(*guard)) weights_ = Value{guard};
  }

  // The node that joins the heads again, and the match.
  const Node* root() {
    const size_t users = weights_.op() == Op::Softmax ? 1 : 2;  // the guard looks at them, too
    if (uses_.is_output(scores_) || uses_.uses(scores_).size() != users) return nullptr;
    if (!match_scores() || match_.scale == 0 || !std::isfinite(match_.scale)) return nullptr;
    const Node* root = match_context();
    if (root) match_.result = Value{root}.shape();
    return root;
  }
  const Match& match() const { return match_; }

 private:
  // where(max(scores) == -inf, 0, softmax(scores))
  bool zero_where_nothing_is_seen(const Node& node) const {
    if (node.op() != Op::Where || !(node.operand(2) == weights_)) return false;
    if (scalar_constant(node.operand(1)) != 0.0) return false;
    const Value nothing = node.operand(0);
    if (nothing.op() != Op::Equal) return false;
    const Value largest = nothing.node->operand(0);
    const double inf = std::numeric_limits<double>::infinity();
    return scalar_constant(nothing.node->operand(1)) == -inf && largest.op() == Op::ReduceMax &&
           reduces_last_axis(*largest.node) && largest.node->operand(0) == scores_;
  }

  bool is_private(Value value) const { return value == scores_ || uses_.only_user(value); }

  // Looks through scalings of values that are needed here only, and of the last one.
  std::optional<double> strip_private(Value& value) const {
    double scale = 1;
    while (is_private(value)) {
      const std::optional<Scaled> scaled = as_scaled(value);
      if (!scaled) return scale;
      scale *= scaled->factor;
      value = scaled->value;
    }
    return std::nullopt;
  }

  // q k^T, scaled before or after, perhaps capped; without the mask.
  bool match_product(Value value, Value mask) {
    match_ = {.mask = mask};
    std::optional<double> scale = strip_private(value);
    if (scale && value.op() == Op::Tanh) {  // c * tanh(f * product): the scores were f * c
      match_.softcap = *scale;
      value = value.node->operand(0);
      scale = strip_private(value);
      if (!(match_.softcap > 0) || !std::isfinite(match_.softcap)) return false;
      if (scale) *scale *= match_.softcap;
    }
    if (!scale || value.op() != Op::MatMul) return false;
    const std::optional<Heads> q = split_heads(value.node->operand(0), kHeadsFirst);
    const std::optional<Heads> k = split_heads(value.node->operand(1), kTransposed);
    if (!q || !k || !same_heads(*q, *k)) return false;
    const auto is_count = [](const Dim& d) { return d.is_const() && d.const_value() > 0; };
    if (!is_count(q->heads()) || !is_count(q->dim()) || !is_count(k->heads())) return false;
    match_.q = *q;
    match_.k = *k;
    match_.scale = *scale * q->scale * k->scale;
    return true;
  }

  bool match_scores() {
    if (match_product(scores_, {})) return true;
    if (scores_.op() != Op::Add) return false;
    for (int i = 0; i < 2; ++i) {
      Value product = scores_.node->operand(i);
      Value mask = scores_.node->operand(1 - i);
      if (!(product.type() == scores_.type()) || !mask_fits(mask, scores_.shape())) continue;
      if (match_product(product, mask)) return take_causal();
    }
    return false;
  }

  // A mask that says no more than causal is not needed.
  bool take_causal() {
    match_.causal = as_causal_mask(match_.mask, match_.q.length(), match_.k.length());
    if (match_.causal && match_.causal->rest && !mask_fits(match_.causal->rest, scores_.shape())) {
      match_.causal.reset();
    }
    if (match_.causal) match_.mask = match_.causal->rest;
    return true;
  }

  // The reshape that joins the heads of softmax @ v; completes the match with v.
  const Node* match_context() {
    const Node* context = uses_.only_user(weights_);
    if (!context || context->op() != Op::MatMul || !(context->operand(0) == weights_)) {
      return nullptr;
    }
    std::optional<Heads> v = split_heads(context->operand(1), kHeadsFirst);
    if (!v || v->scale != 1 || v->group != match_.k.group || !same_heads(match_.q, *v)) {
      return nullptr;
    }
    if (!equal(match_.k.length(), v->length())) return nullptr;
    match_.v = *v;
    const Node* joined = uses_.only_user(Value{context});
    if (!joined || !is_transpose(*joined, kHeadsFirst)) return nullptr;
    const Node* packed = uses_.only_user(Value{joined});
    return packed && packed->op() == Op::Reshape ? packed : nullptr;
  }

  const graph::UseLists& uses_;
  Value scores_, weights_;
  Match match_;
};

Value build(const Site& site, const Match& m) {
  graph::AttentionOptions options{.heads = m.q.heads().const_value(),
                                  .head_dim = m.q.dim().const_value(),
                                  .kv_heads = m.k.heads().const_value(),
                                  .scale = m.scale,
                                  .mask = site.moved(m.mask),
                                  .causal = m.causal.has_value(),
                                  .window = m.causal ? m.causal->window : 0,
                                  .softcap = m.softcap};
  Value q = packed_heads(site, m.q.split);
  Value k = packed_heads(site, m.k.split);
  Value v = packed_heads(site, m.v.split);
  Value context = site.taken(site.g.attention(q, k, v, options));
  if (!context) return {};
  bool joined = same_shape(context.shape(), m.result);
  return joined ? context : site.g.reshape(context, m.result.dims());
}

}  // namespace

graph::Graph fuse_attention(const graph::Graph& graph, const graph::Claims& claims) {
  graph::UseLists uses(graph);
  std::unordered_map<const Node*, Match> matches;
  for (const Node* node : graph.topological()) {
    if (node->op() != Op::Softmax || node->attributes().integer("axis") != 3) continue;
    if (node->operand(0).shape().rank() != 4) continue;
    Search search(*node, uses);
    if (const Node* root = search.root()) matches[root] = search.match();
  }
  return replace_matches(graph, claims, matches, build);
}

}  // namespace tenon::fuse
