// Finds rotary positions where they were written out on split heads: (a cos - b sin, b cos + a sin)
// of the halves or of the neighbours of a head, joined by concat. x * cos + rotate_half(x) * sin,
// with each angle twice in the tables, is in rotary_match.cpp.
#include "fuse/fuse.h"
#include "fuse/rotary_match.h"

namespace tenon::fuse {
namespace {

using graph::Node;
using graph::Op;
using graph::Value;

// Elements start, start + step, ... of the last axis of x.
struct Part {
  Value x;
  int64_t start, count, step;
};

std::optional<Part> part_of(Value value) {
  if (value.op() != Op::Slice) return std::nullopt;
  const graph::Attributes& attributes = value.node->attributes();
  const Value x = value.node->operand(0);
  const std::vector<Dim>& starts = attributes.dims("starts");
  const std::vector<int64_t>& steps = attributes.integers("steps");
  const int last = x.shape().rank() - 1;
  for (int i = 0; i < last; ++i) {
    const auto axis = static_cast<size_t>(i);
    if (!starts[axis].is_const(0) || steps[axis] != 1 || !equal(value.shape()[i], x.shape()[i])) {
      return std::nullopt;
    }
  }
  if (!starts.back().is_const() || !value.shape()[last].is_const()) return std::nullopt;
  return Part{x, starts.back().const_value(), value.shape()[last].const_value(), steps.back()};
}

Shape with_last(const Shape& shape, std::initializer_list<Dim> last) {
  std::vector<Dim> dims = shape.dims();
  dims.pop_back();
  dims.insert(dims.end(), last);
  return Shape(std::move(dims));
}

// Every other element, as a slice of pairs: reshape to [..., n, 2], one of the two, reshape back.
std::optional<Part> part_of_pairs(Value value) {
  if (value.op() != Op::Reshape) return std::nullopt;
  const std::optional<Part> one = part_of(value.node->operand(0));
  if (!one || one->count != 1 || one->step != 1 || one->x.op() != Op::Reshape) return std::nullopt;
  const Value source = one->x.node->operand(0);
  const Dim& count = value.shape()[value.shape().rank() - 1];
  if (!count.is_const() || !same_shape(value.shape(), with_last(source.shape(), {count})) ||
      !same_shape(one->x.shape(), with_last(source.shape(), {count, 2}))) {
    return std::nullopt;
  }
  const std::optional<Part> first = part_of(source);
  const bool part = first && first->start == 0 && first->step == 1;
  return Part{part ? first->x : source, one->start, count.const_value(), 2};
}

std::optional<Part> any_part(Value value) {
  const std::optional<Part> part = part_of(value);
  return part ? part : part_of_pairs(value);
}

bool is_product(Value value, Value a, Value b) {
  if (value.op() != Op::Mul) return false;
  const Value x = value.node->operand(0), y = value.node->operand(1);
  return (x == a && y == b) || (x == b && y == a);
}

// (a cos - b sin, b cos + a sin)
std::optional<Turn> turn_of(Value left, Value right) {
  if (left.op() != Op::Sub || right.op() != Op::Add) return std::nullopt;
  const Value plus = left.node->operand(0), minus = left.node->operand(1);
  if (plus.op() != Op::Mul || minus.op() != Op::Mul) return std::nullopt;
  for (int i = 0; i < 4; ++i) {
    const Value a = plus.node->operand(i & 1), cos = plus.node->operand(1 - (i & 1));
    const Value b = minus.node->operand(i >> 1), sin = minus.node->operand(1 - (i >> 1));
    const std::optional<Part> pa = any_part(a), pb = any_part(b);
    if (!pa || !pb || !(pa->x == pb->x) || pa->start != 0) continue;
    if (pa->count != pb->count || pa->step != pb->step) continue;
    const Value u = right.node->operand(0), v = right.node->operand(1);
    const bool crossed = (is_product(u, b, cos) && is_product(v, a, sin)) ||
                         (is_product(v, b, cos) && is_product(u, a, sin));
    if (!crossed || !(left.type() == a.type())) continue;
    const bool halves = pa->step == 1 && pb->start == pa->count;
    const bool neighbours = pa->step == 2 && pb->start == 1;
    if (halves || neighbours) return Turn{pa->x, cos, sin, pa->count, neighbours};
  }
  return std::nullopt;
}

// The parts of a concat on the last axis, and of those that are its parts.
void flatten(Value value, std::vector<Value>& parts, int depth = 2) {
  const int64_t last = value.shape().rank() - 1;
  if (depth == 0 || value.op() != Op::Concat || value.node->attributes().integer("axis") != last) {
    parts.push_back(value);
    return;
  }
  for (Value part : value.node->operands()) flatten(part, parts, depth - 1);
}

// Neighbours, each with an axis of its own, concatenated on it.
std::optional<Turn> woven(Value value) {
  std::vector<Value> parts;
  if (value.shape().rank() != 5) return std::nullopt;
  flatten(value, parts);
  if (parts.size() != 2 || !value.shape()[4].is_const(2)) return std::nullopt;
  for (Value& part : parts) {
    if (part.op() != Op::Reshape) return std::nullopt;
    const Value source = part.node->operand(0);
    if (source.shape().rank() != 4) return std::nullopt;
    const Dim& count = source.shape()[3];
    if (!same_shape(part.shape(), with_last(source.shape(), {count, 1}))) return std::nullopt;
    part = source;
  }
  std::optional<Turn> turn = turn_of(parts[0], parts[1]);
  return turn && turn->interleaved ? turn : std::nullopt;
}

std::optional<Turn> match_turn(const Node& node) {
  if (node.op() != Op::Concat) return std::nullopt;
  const Value value{&node};
  std::optional<Turn> turn;
  std::vector<Value> parts;
  size_t used = 1;
  if (value.shape().rank() == 5) {
    turn = woven(value);
  } else if (value.shape().rank() == 4) {
    flatten(value, parts);
    if (parts.size() >= 2 && parts[0].op() == Op::Reshape) turn = woven(parts[0].node->operand(0));
    if (!turn && parts.size() >= 2) {
      turn = turn_of(parts[0], parts[1]);
      if (turn && turn->interleaved) return std::nullopt;
      used = 2;
    }
  }
  if (!turn || turn->x.shape().rank() != 4 || !turn->x.shape()[3].is_const()) return std::nullopt;
  int64_t width = 2 * turn->pairs;
  for (size_t i = used; i < parts.size(); ++i) {  // what is passed on
    const std::optional<Part> rest = part_of(parts[i]);
    if (!rest || !(rest->x == turn->x) || rest->start != width || rest->step != 1) {
      return std::nullopt;
    }
    width += rest->count;
  }
  if (!turn->x.shape()[3].is_const(width)) return std::nullopt;
  return turn;
}

}  // namespace

graph::Graph fuse_rotary(const graph::Graph& graph, const graph::Claims& claims) {
  std::unordered_map<const Node*, Turn> matches;
  for (const Node* node : graph.topological()) {
    std::optional<Turn> turn = match_turn(*node);
    if (!turn) turn = match_rotated_half(*node);
    if (!turn || !place_heads(*turn)) continue;
    turn->result = Value{node}.shape();
    matches[node] = *turn;
  }
  return replace_matches(graph, claims, matches, build_rotary);
}

}  // namespace tenon::fuse
