// See heads.h.
#include "fuse/heads.h"

#include <algorithm>

namespace tenon::fuse {

using graph::Node;
using graph::Op;
using graph::Value;

namespace {

constexpr int kMostSteps = 4;  // scalings and transposes in a row that exporters write

// axis i of the value above is axis step[perm[i]] below
Permutation below(const Permutation& perm, std::span<const int64_t> step) {
  Permutation result{};
  for (size_t i = 0; i < 4; ++i) result[i] = step[static_cast<size_t>(perm[i])];
  return result;
}

struct Repeated {
  Value heads;  // [batch, heads, length, dim]
  int64_t times;
};

// [batch, heads, 1, length, dim], expanded to copies and reshaped to [batch, heads * times, ...].
std::optional<Repeated> as_repeated(Value value) {
  if (value.op() != Op::Reshape || value.node->operand(0).op() != Op::Expand) return std::nullopt;
  const Value copies = value.node->operand(0), single = copies.node->operand(0);
  const Shape &wide = copies.shape(), &narrow = single.shape();
  if (single.op() != Op::Reshape || narrow.rank() != 5 || wide.rank() != 5) return std::nullopt;
  if (!narrow[2].is_const(1) || !wide[2].is_const()) return std::nullopt;
  const Value heads = single.node->operand(0);
  const Shape source = {wide[0], wide[1], wide[3], wide[4]};
  const Shape result = {wide[0], wide[1] * wide[2], wide[3], wide[4]};
  if (!same_shape(heads.shape(), source) || !same_shape(value.shape(), result)) return std::nullopt;
  return Repeated{heads, wide[2].const_value()};
}

}  // namespace

bool equal(const Dim& a, const Dim& b) { return prove_equal(a, b) == Proof::Yes; }

bool is_transpose(const Node& node, const Permutation& perm) {
  return node.op() == Op::Transpose && std::ranges::equal(node.attributes().integers("perm"), perm);
}

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

std::optional<Heads> split_heads(Value value, const Permutation& expected) {
  if (value.shape().rank() != 4) return std::nullopt;
  Permutation perm = {0, 1, 2, 3};
  double scale = 1;
  for (int i = 0; i < kMostSteps && perm != expected; ++i) {
    scale *= strip_scale(value);
    if (const std::optional<Repeated> repeated = as_repeated(value)) {
      if (below(perm, kHeadsFirst) != expected) return std::nullopt;
      std::optional<Heads> heads = split_heads(repeated->heads, kHeadsFirst);
      if (!heads || heads->group != 1) return std::nullopt;
      return Heads{heads->split, heads->scale * scale, repeated->times};
    }
    if (value.op() != Op::Transpose) return std::nullopt;
    perm = below(perm, value.node->attributes().integers("perm"));
    value = value.node->operand(0);
  }
  if (perm != expected) return std::nullopt;
  scale *= strip_scale(value);
  return Heads{value, scale};
}

Value packed_heads(const Site& site, Value split) {
  const Shape& s = split.shape();
  const std::vector<Dim> shape = {s[0], s[1], s[2] * s[3]};
  if (split.op() != Op::Reshape) return site.g.reshape(site.moved(split), shape);
  const Value source = split.node->operand(0);
  if (same_shape(source.shape(), Shape(shape))) return site.moved(source);
  return site.g.reshape(site.moved(source), shape);
}

}  // namespace tenon::fuse
