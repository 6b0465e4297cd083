// Image ops in terms of simpler ones.
#include "legalize/decompose.h"

namespace tenon::legalize::decompositions {

using graph::Op;

// Sums and sums of squares have kernels; any other norm is a sum of powers.
std::vector<Value> lp_pool(Graph& g, const Node& node, std::span<const Value> operands) {
  const double p = node.attributes().number("p");
  if (p == 1 || p == 2) return {};
  const Value x = operands[0];
  graph::Attributes attributes = node.attributes();
  attributes.set("p", 1.0);
  const Value powers = g.binary(Op::Pow, g.unary(Op::Abs, x), g.scalar(x.dtype(), p));
  const Value sums = g.apply(Op::LpPool, {powers}, std::move(attributes));
  return {g.binary(Op::Pow, sums, g.scalar(x.dtype(), 1 / p))};
}

}  // namespace tenon::legalize::decompositions
