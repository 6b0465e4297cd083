// The form with rotate_half that exporters of language models write, and the building of the op.
#include "fuse/rotary_match.h"

namespace tenon::fuse {

using graph::Node;
using graph::Op;
using graph::Value;

namespace {

constexpr int kMostSteps = 6;  // from the angles to a table, as exporters write it

// Half of the last axis of x: the first or the second one.
bool is_half(Value value, Value x, int64_t start, int64_t half) {
  if (value.op() != Op::Slice || !(value.node->operand(0) == x)) return false;
  const graph::Attributes& attributes = value.node->attributes();
  std::vector<Dim> extents = x.shape().dims();
  extents.back() = half;
  std::vector<Dim> starts(extents.size(), Dim(0));
  starts.back() = start;
  return attributes.dims("starts") == starts && same_shape(value.shape(), Shape(extents)) &&
         attributes.integers("steps").back() == 1;
}

// The value is a concat of the same thing twice, seen through what is done to each element alone.
bool is_twice(Value value, int depth = kMostSteps) {
  const Node& node = *value.node;
  const Shape& shape = value.shape();
  if (shape.rank() == 0 || depth == 0) return false;
  if (node.op() == Op::Concat) {
    return node.operand_count() == 2 && node.operand(0) == node.operand(1) &&
           node.attributes().integer("axis") == shape.rank() - 1;
  }
  if (node.op() == Op::Reshape) {
    const Shape& source = node.operand(0).shape();
    return source.rank() > 0 && shape[shape.rank() - 1] == source[source.rank() - 1] &&
           is_twice(node.operand(0), depth - 1);
  }
  if (const std::optional<Scaled> scaled = as_scaled(value))
    return is_twice(scaled->value, depth - 1);
  return has(node.op(), graph::kElementwise) && node.operand_count() == 1 &&
         is_twice(node.operand(0), depth - 1);
}

// The first half of a value that is_twice.
Value once(const Site& site, Value value) {
  const Node& node = *value.node;
  if (node.op() == Op::Concat) return site.moved(node.operand(0));
  std::vector<Value> operands;
  for (Value operand : node.operands()) {
    operands.push_back(scalar_constant(operand) ? site.moved(operand) : once(site, operand));
  }
  graph::Attributes attributes = node.attributes();
  if (node.op() == Op::Reshape) {
    std::vector<Dim> dims = value.shape().dims();
    dims.back() = floordiv(dims.back(), 2);
    attributes.set("shape", std::move(dims));
  }
  return site.g.apply(node.op(), std::move(operands), std::move(attributes));
}

// x and its rotated half, of concat(-second half, first half).
Value rotated_from(Value value) {
  const int last = value.shape().rank() - 1;
  if (value.op() != Op::Concat || value.node->operand_count() != 2 || last != 3) return {};
  if (value.node->attributes().integer("axis") != last) return {};
  const Value negated = value.node->operand(0), first = value.node->operand(1);
  if (negated.op() != Op::Neg || first.op() != Op::Slice) return {};
  const Value x = first.node->operand(0);
  if (!(x.type() == value.type()) || !x.shape()[last].is_const()) return {};
  const int64_t width = x.shape()[last].const_value(), half = width / 2;
  const bool fits = width % 2 == 0 && is_half(first, x, 0, half) &&
                    is_half(negated.node->operand(0), x, half, half);
  return fits ? x : Value{};
}

// The extents of a table, as an x of four axes sees them.
std::optional<std::vector<Dim>> aligned(Value table) {
  std::vector<Dim> dims = table.shape().dims();
  if (dims.size() > 4) return std::nullopt;
  dims.insert(dims.begin(), 4 - dims.size(), Dim(1));
  return dims;
}

bool fits(Value table, const Turn& turn, size_t heads, size_t length) {
  const std::optional<std::vector<Dim>> dims = aligned(table);
  const Shape& x = turn.x.shape();
  return dims && (*dims)[heads].is_const(1) && x[static_cast<int>(heads)].is_const() &&
         equal((*dims)[length], x[static_cast<int>(length)]) &&
         ((*dims)[0].is_const(1) || equal((*dims)[0], x[0])) &&
         (*dims)[3].is_const(turn.twice ? 2 * turn.pairs : turn.pairs);
}

}  // namespace

std::optional<Turn> match_rotated_half(const Node& node) {
  if (node.op() != Op::Add) return std::nullopt;
  for (int i = 0; i < 4; ++i) {
    const Value turned = node.operand(i & 1), plain = node.operand(1 - (i & 1));
    if (turned.op() != Op::Mul || plain.op() != Op::Mul) return std::nullopt;
    const Value half = turned.node->operand(i >> 1), sin = turned.node->operand(1 - (i >> 1));
    const Value x = rotated_from(half);
    if (!x || !(Value{&node}.type() == x.type())) continue;
    const Value cos = other_operand(*plain.node, x);
    if (!cos || (!(plain.node->operand(0) == x) && !(plain.node->operand(1) == x))) continue;
    if (!is_twice(cos) || !is_twice(sin)) continue;
    return Turn{
        .x = x, .cos = cos, .sin = sin, .pairs = x.shape()[3].const_value() / 2, .twice = true};
  }
  return std::nullopt;
}

bool place_heads(Turn& turn) {
  const auto both = [&](size_t heads, size_t length) {
    return fits(turn.cos, turn, heads, length) && fits(turn.sin, turn, heads, length) &&
           turn.cos.shape().elements() == turn.sin.shape().elements();
  };
  const bool first = both(1, 2), last = both(2, 1);
  turn.heads_first = first && (!last || is_transpose(*turn.x.node, kHeadsFirst));
  return first || last;
}

Value build_rotary(const Site& site, const Turn& turn) {
  graph::Graph& g = site.g;
  const auto perm = std::vector<int64_t>(kHeadsFirst.begin(), kHeadsFirst.end());
  const Shape& s = turn.x.shape();
  const Dim batch = s[0], length = s[turn.heads_first ? 2 : 1], heads = s[turn.heads_first ? 1 : 2];
  const auto table = [&](Value old) {
    const bool batched = !(*aligned(old))[0].is_const(1);
    const Value value = turn.twice ? once(site, old) : site.moved(old);
    return g.reshape(value, batched ? std::vector<Dim>{batch, length, turn.pairs}
                                    : std::vector<Dim>{length, turn.pairs});
  };
  Value packed;
  if (!turn.heads_first) {
    packed = packed_heads(site, turn.x);
  } else if (is_transpose(*turn.x.node, kHeadsFirst)) {
    packed = packed_heads(site, turn.x.node->operand(0));
  } else {
    packed = g.reshape(g.transpose(site.moved(turn.x), perm), {batch, length, heads * s[3]});
  }
  Value y = site.taken(g.rotary(packed, table(turn.cos), table(turn.sin),
                                {.heads = heads.const_value(), .interleaved = turn.interleaved}));
  if (!y) return {};
  if (turn.heads_first) {
    y = g.transpose(g.reshape(y, {batch, length, heads, s[3]}), perm);
  }
  return same_shape(y.shape(), turn.result) ? y : g.reshape(y, turn.result.dims());
}

}  // namespace tenon::fuse
