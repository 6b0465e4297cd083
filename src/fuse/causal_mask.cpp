// Each comparison is brought to the form row * i + column * j + offset >= 0, with i the query and j
// the key. Causal attention is i - j + keys - queries >= 0; a window turns the signs around.
#include "fuse/causal_mask.h"

#include <limits>

#include "fuse/match.h"

namespace tenon::fuse {

using graph::Node;
using graph::Op;
using graph::Value;

namespace {

constexpr int kMostSteps = 6;  // from the ranges to a mask
constexpr int64_t kMostWindow = int64_t{1} << 31;

struct Line {
  int row = 0, column = 0;
  Dim offset = 0;

  Line operator+(const Line& o) const {
    return {row + o.row, column + o.column, offset + o.offset};
  }
  Line operator-(const Line& o) const {
    return {row - o.row, column - o.column, offset - o.offset};
  }
};

// 0, 1, ... along one axis.
bool is_iota(const Node& node) {
  if (node.op() != Op::Range) return false;
  const auto &first = node.operand(0).shape_value(), &step = node.operand(2).shape_value();
  return first && step && (*first)[0].is_const(0) && (*step)[0].is_const(1);
}

// Which axis, counted from the last, has the elements of a vector; -1: there is but one element.
// Nothing where it is no vector.
std::optional<int> long_axis(const Shape& shape) {
  int found = -1;
  for (int i = 0; i < shape.rank(); ++i) {
    if (shape[i].is_const(1)) continue;
    if (found >= 0) return std::nullopt;
    found = shape.rank() - 1 - i;
  }
  return found;
}

// Counts in these are what they seem: they have a sign and room.
bool is_plain_integer(DType dtype) { return dtype == DType::I32 || dtype == DType::I64; }

std::optional<Line> line_of(Value value, int depth = kMostSteps) {
  if (depth == 0 || !is_plain_integer(value.dtype())) return std::nullopt;
  if (const auto& known = value.shape_value(); known && known->size() == 1) {
    return Line{.offset = known->front()};
  }
  const Node& node = *value.node;
  if (node.op() == Op::Cast) return line_of(node.operand(0), depth - 1);
  if (node.op() == Op::Add || node.op() == Op::Sub) {
    const std::optional<Line> a = line_of(node.operand(0), depth - 1);
    const std::optional<Line> b = line_of(node.operand(1), depth - 1);
    if (!a || !b) return std::nullopt;
    return node.op() == Op::Add ? *a + *b : *a - *b;
  }
  Value range = value;
  while (range.op() == Op::Reshape || range.op() == Op::Cast) {
    range = range.node->operand(0);
    if (!is_plain_integer(range.dtype())) return std::nullopt;
  }
  const std::optional<int> axis = long_axis(value.shape());
  if (!is_iota(*range.node) || !axis || *axis > 1) return std::nullopt;
  return Line{.row = axis == 1 ? 1 : 0, .column = axis == 0 ? 1 : 0};
}

// Collects the comparisons that all must hold; false where one is of another form.
bool comparisons(Value condition, std::vector<Line>& lines, int depth = kMostSteps) {
  const Node& node = *condition.node;
  if (depth == 0) return false;
  if (node.op() == Op::And) {
    return comparisons(node.operand(0), lines, depth - 1) &&
           comparisons(node.operand(1), lines, depth - 1);
  }
  const bool negated = node.op() == Op::Not;
  const Node& comparison = negated ? *node.operand(0).node : node;
  if (comparison.op() != Op::LessEqual && comparison.op() != Op::Less) return false;
  const std::optional<Line> a = line_of(comparison.operand(0)), b = line_of(comparison.operand(1));
  if (!a || !b) return false;
  const bool strict = (comparison.op() == Op::Less) != negated;
  const Line difference = negated ? *a - *b : *b - *a;
  lines.push_back(difference - Line{.offset = strict ? 1 : 0});
  return true;
}

// What stands where a key is seen, of a mask that is -inf elsewhere.
struct Choice {
  Value condition, seen;
};
std::optional<Choice> as_choice(Value mask) {
  if (mask.op() != Op::Where) return std::nullopt;
  const Node& node = *mask.node;
  const std::optional<double> hidden = scalar_constant(node.operand(2));
  if (hidden != -std::numeric_limits<double>::infinity()) return std::nullopt;
  return Choice{node.operand(0), node.operand(1)};
}

std::optional<CausalMask> limits(Value condition, const Dim& queries, const Dim& keys) {
  std::vector<Line> lines;
  if (!comparisons(condition, lines)) return std::nullopt;
  bool causal = false;
  CausalMask mask;
  for (const Line& line : lines) {
    const Dim from_causal = line.offset - (keys - queries) * line.row;
    if (line.row == 1 && line.column == -1 && from_causal.is_const(0)) {
      causal = true;
    } else if (line.row == -1 && line.column == 1 && from_causal.is_const() && mask.window == 0) {
      const int64_t keys_before = from_causal.const_value();
      if (keys_before < 0 || keys_before >= kMostWindow) return std::nullopt;
      mask.window = keys_before + 1;
    } else {
      return std::nullopt;
    }
  }
  if (!causal) return std::nullopt;
  return mask;
}

}  // namespace

std::optional<CausalMask> as_causal_mask(Value mask, const Dim& queries, const Dim& keys) {
  if (const std::optional<Choice> choice = as_choice(mask)) {
    std::optional<CausalMask> found = limits(choice->condition, queries, keys);
    if (found && scalar_constant(choice->seen) != 0.0) found->rest = choice->seen;
    return found;
  }
  if (mask.op() != Op::Add) return std::nullopt;
  for (int i = 0; i < 2; ++i) {  // a causal mask added to another one
    if (mask.node->operand(i).op() != Op::Where) continue;
    std::optional<CausalMask> found = as_causal_mask(mask.node->operand(i), queries, keys);
    if (!found || found->rest) continue;
    found->rest = mask.node->operand(1 - i);
    return found;
  }
  return std::nullopt;
}

}  // namespace tenon::fuse
