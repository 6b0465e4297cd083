// Softmax and the norms as reductions and arithmetic, in f32 at least: squares and sums of narrow
// floats would overflow.
#include "legalize/decompose_fused.h"
#include "legalize/term.h"

namespace tenon::legalize::fused {

using decompositions::Term;
using graph::Op;
using graph::Value;

namespace {

Term widened(graph::Graph& g, Value x) {
  const Term term(g, x);
  return size_of(x.dtype()) < size_of(DType::F32) ? term.as(DType::F32) : term;
}

int64_t last_axis(const Term& x) { return x.shape().rank() - 1; }

// x / sqrt(mean(x^2) + epsilon)
Term normalized(const Term& x, double epsilon) {
  const Term mean = (x * x).reduce(Op::ReduceMean, last_axis(x));
  return x / (mean + epsilon).unary(Op::Sqrt);
}

}  // namespace

Value softmax(graph::Graph& g, const graph::Node& node, std::span<const Value> operands) {
  const int64_t axis = node.attributes().integer("axis");
  const Term x = widened(g, operands[0]);
  const Term powers = (x - x.reduce(Op::ReduceMax, axis)).unary(Op::Exp);
  return (powers / powers.reduce(Op::ReduceSum, axis)).as(operands[0].dtype());
}

Value layer_norm(graph::Graph& g, const graph::Node& node, std::span<const Value> operands) {
  const Term x = widened(g, operands[0]);
  const Term centred = x - x.reduce(Op::ReduceMean, last_axis(x));
  const Term result =
      normalized(centred, node.attributes().number("epsilon")) * widened(g, operands[1]) +
      widened(g, operands[2]);
  return result.as(operands[0].dtype());
}

Value rms_norm(graph::Graph& g, const graph::Node& node, std::span<const Value> operands) {
  const Term x = widened(g, operands[0]);
  const Term result = normalized(x, node.attributes().number("epsilon")) * widened(g, operands[1]);
  return result.as(operands[0].dtype());
}

}  // namespace tenon::legalize::fused
