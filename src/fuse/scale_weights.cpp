// conv(x, w) * scale + shift, per channel and of parameters only, in any order of steps: a batch
// normalization as models export it. The scale goes into the weights, the shift into the bias, both
// computed once; what is left of a normalization's division is nothing.
#include "fuse/fuse.h"
#include "fuse/match.h"
#include "graph/fixed_nodes.h"

namespace tenon::fuse {
namespace {

using graph::Graph;
using graph::Node;
using graph::Op;
using graph::Value;

struct Step {
  Op op;
  Value by;
};
struct Scaling {
  const Node* conv;
  std::vector<Step> steps;
};

// One number for all channels or one for each: [C, 1, 1], perhaps with an axis for the batch.
bool is_per_channel(const Shape& shape, const Shape& image) {
  const int skip = image.rank() - shape.rank();
  if (skip < 0) return false;
  for (int axis = 0; axis < shape.rank(); ++axis) {
    const bool channels = axis + skip == 1 && shape[axis] == image[1];
    if (!channels && !shape[axis].is_const(1)) return false;
  }
  return true;
}

// What a reader of the value does to it, if that is a step.
std::optional<Step> step_of(const Node& user, Value value, const graph::FixedNodes& fixed) {
  const Op op = user.op();
  if (op != Op::Add && op != Op::Sub && op != Op::Mul && op != Op::Div) return std::nullopt;
  const Value by = other_operand(user, value);
  const bool turned = (op == Op::Sub || op == Op::Div) && user.operand(0) != value;
  if (!by || turned || !fixed.contains(by.node)) return std::nullopt;
  if (!is_per_channel(by.shape(), value.shape())) return std::nullopt;
  return Step{op, by};
}

bool takes_scale(const Node& conv, const graph::FixedNodes& fixed) {
  if (conv.op() != Op::Conv || conv.types()[0].dtype != DType::F32) return false;
  for (int i = 1; i < conv.operand_count(); ++i) {
    const Value operand = conv.operand(i);
    if (!fixed.contains(operand.node) || !operand.shape().is_static()) return false;
  }
  return true;
}

Value build(const Site& site, const Scaling& match) {
  Graph& g = site.g;
  const Node& conv = *match.conv;
  const Dim channels = conv.types()[0].shape[1];
  Value scale, shift = conv.operand_count() > 2 ? site.moved(conv.operand(2)) : Value();
  for (const auto& [op, old] : match.steps) {
    const Value moved = site.moved(old);
    const Value by = g.reshape(moved, {moved.shape().elements()});
    if (op == Op::Add || op == Op::Sub) {
      if (shift) {
        shift = g.binary(op, shift, by);
      } else {
        shift = op == Op::Add ? by : g.unary(Op::Neg, by);
      }
    } else {
      const Value one = g.scalar(by.dtype(), 1);
      scale = g.binary(op, scale ? scale : one, by);
      if (shift) shift = g.binary(op, shift, by);
    }
  }
  Value w = site.moved(conv.operand(1));
  if (scale) {
    std::vector<Dim> per_row(static_cast<size_t>(w.shape().rank()), 1);
    per_row[0] = scale.shape().elements();
    w = g.mul(w, g.reshape(scale, std::move(per_row)));
  }
  std::vector<Value> operands{site.moved(conv.operand(0)), w};
  if (shift) operands.push_back(g.expand(shift, {channels}));
  return g.apply(Op::Conv, std::move(operands), conv.attributes());
}

}  // namespace

graph::Graph scale_weights(const graph::Graph& graph) {
  const graph::UseLists uses(graph);
  const graph::FixedNodes fixed = graph::fixed_nodes(graph.topological());
  std::unordered_map<const Node*, Scaling> matches;
  for (const Node* node : graph.topological()) {
    if (fixed.contains(node) || !takes_scale(*node, fixed)) continue;
    Scaling match{node, {}};
    const Node* last = node;
    while (const Node* user = uses.only_user({last})) {
      const auto step = step_of(*user, {last}, fixed);
      if (!step) break;
      match.steps.push_back(*step);
      last = user;
    }
    if (!match.steps.empty()) matches.emplace(last, std::move(match));
  }
  return replace_matches(graph, {}, matches, build);
}

}  // namespace tenon::fuse
