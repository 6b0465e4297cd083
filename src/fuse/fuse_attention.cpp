// Finds attention where an exporter wrote it out: heads split by reshape and transpose, softmax(q
// k^T * scale + mask) times v, heads joined again. The score matrix then never exists in memory.
// The search starts at each softmax: scores backwards, context forwards. Scores or probabilities
// that something else needs are left alone. Heads and their size are constants, everything else may
// be symbolic.
#include <algorithm>
#include <array>

#include "fuse/fuse.h"
#include "fuse/match.h"

namespace tenon::fuse {
namespace {

using graph::Node;
using graph::Op;
using graph::Value;

// A value [batch, length, heads, dim] seen through transposes and scalings.
struct Heads {
  Value split;
  double scale = 1;
  const Dim& batch() const { return split.shape()[0]; }
  const Dim& length() const { return split.shape()[1]; }
  const Dim& heads() const { return split.shape()[2]; }
  const Dim& dim() const { return split.shape()[3]; }
};

struct Match {
  Heads q, k, v;
  Value mask;
  double scale;
  Shape result;  // of the node that is replaced
};

using Permutation = std::array<int64_t, 4>;
constexpr Permutation kHeadsFirst = {0, 2, 1, 3};  // [batch, heads, length, dim]
constexpr Permutation kTransposed = {0, 2, 3, 1};  // [batch, heads, dim, length]
constexpr int kMostSteps = 4;  // scalings and transposes in a row that exporters write

double strip_scale(Value& value) {
  double scale = 1;
  for (int i = 0; i < kMostSteps; ++i) {
    std::optional<Scaled> scaled = as_scaled(value);
    if (!scaled) break;
    scale *= scaled->factor;
    value = scaled->value;
  }
  return scale;
}

// Undoes the transposes below `value`, which together must be `expected`.
std::optional<Heads> split_heads(Value value, const Permutation& expected) {
  if (value.shape().rank() != 4) return std::nullopt;
  Permutation perm = {0, 1, 2, 3};
  double scale = 1;
  for (int i = 0; i < kMostSteps && perm != expected; ++i) {
    scale *= strip_scale(value);
    if (value.op() != Op::Transpose) return std::nullopt;
    const std::vector<int64_t>& step = value.node->attributes().integers("perm");
    for (int64_t& axis : perm) axis = step[static_cast<size_t>(axis)];
    value = value.node->operand(0);
  }
  if (perm != expected) return std::nullopt;
  scale *= strip_scale(value);
  return Heads{value, scale};
}

bool equal(const Dim& a, const Dim& b) { return prove_equal(a, b) == Proof::Yes; }

bool same_heads(const Heads& a, const Heads& b) {
  return equal(a.batch(), b.batch()) && equal(a.heads(), b.heads()) && equal(a.dim(), b.dim());
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

// scores = q k^T, scaled before or after; without the mask. Each value between is needed here only.
std::optional<Match> match_product(Value scores, Value mask, const graph::UseLists& uses) {
  Match match{.mask = mask, .scale = 1};
  Value product = scores;
  match.scale = strip_scale(product);
  for (Value value = scores; !(value == product); value = as_scaled(value)->value) {
    if (!uses.only_user(value)) return std::nullopt;
  }
  if (product.op() != Op::MatMul || !uses.only_user(product)) return std::nullopt;
  std::optional<Heads> q = split_heads(product.node->operand(0), kHeadsFirst);
  std::optional<Heads> k = split_heads(product.node->operand(1), kTransposed);
  if (!q || !k || !same_heads(*q, *k)) return std::nullopt;
  if (!q->heads().is_const() || !q->dim().is_const()) return std::nullopt;
  match.q = *q;
  match.k = *k;
  match.scale *= q->scale * k->scale;
  return match;
}

std::optional<Match> match_scores(Value scores, const graph::UseLists& uses) {
  if (std::optional<Match> match = match_product(scores, {}, uses)) return match;
  if (scores.op() != Op::Add || !uses.only_user(scores)) return std::nullopt;
  for (int i = 0; i < 2; ++i) {
    Value product = scores.node->operand(i);
    Value mask = scores.node->operand(1 - i);
    if (!(product.type() == scores.type()) || !mask_fits(mask, scores.shape())) continue;
    if (std::optional<Match> match = match_product(product, mask, uses)) return match;
  }
  return std::nullopt;
}

// The reshape that joins the heads of softmax @ v; completes the match with v.
const Node* match_context(const Node& softmax, Match& match, const graph::UseLists& uses) {
  Value weights{&softmax};
  const Node* context = uses.only_user(weights);
  if (!context || context->op() != Op::MatMul || !(context->operand(0) == weights)) return nullptr;
  std::optional<Heads> v = split_heads(context->operand(1), kHeadsFirst);
  if (!v || v->scale != 1 || !same_heads(match.q, *v)) return nullptr;
  if (!equal(match.k.length(), v->length())) return nullptr;
  match.v = *v;
  const Node* joined = uses.only_user(Value{context});
  if (!joined || joined->op() != Op::Transpose) return nullptr;
  const std::vector<int64_t>& perm = joined->attributes().integers("perm");
  if (!std::equal(perm.begin(), perm.end(), kHeadsFirst.begin())) return nullptr;
  const Node* packed = uses.only_user(Value{joined});
  return packed && packed->op() == Op::Reshape ? packed : nullptr;
}

// [batch, length, heads * dim]: what was reshaped to split the heads, where it has this shape
// already.
Value packed(const Site& site, const Heads& heads) {
  std::vector<Dim> shape = {heads.batch(), heads.length(), heads.heads() * heads.dim()};
  if (heads.split.op() == Op::Reshape) {
    Value source = heads.split.node->operand(0);
    if (same_shape(source.shape(), Shape(shape))) return site.moved(source);
    return site.g.reshape(site.moved(source), shape);
  }
  return site.g.reshape(site.moved(heads.split), shape);
}

Value build(const Site& site, const Match& m) {
  graph::AttentionOptions options{.heads = m.q.heads().const_value(),
                                  .head_dim = m.q.dim().const_value(),
                                  .scale = m.scale,
                                  .mask = site.moved(m.mask)};
  Value q = packed(site, m.q);
  Value k = packed(site, m.k);
  Value v = packed(site, m.v);
  Value context = site.g.attention(q, k, v, options);
  bool joined = same_shape(context.shape(), m.result);
  return joined ? context : site.g.reshape(context, m.result.dims());
}

}  // namespace

graph::Graph fuse_attention(const graph::Graph& graph) {
  graph::UseLists uses(graph);
  std::unordered_map<const Node*, Match> matches;
  for (const Node* node : graph.topological()) {
    if (node->op() != Op::Softmax || node->attributes().integer("axis") != 3) continue;
    if (node->operand(0).shape().rank() != 4) continue;
    std::optional<Match> match = match_scores(node->operand(0), uses);
    if (!match || match->scale == 0 || !std::isfinite(match->scale)) continue;
    const Node* root = match_context(*node, *match, uses);
    if (!root) continue;
    match->result = Value{root}.shape();
    matches[root] = *match;
  }
  return replace_matches(graph, matches, build);
}

}  // namespace tenon::fuse
