// Losses: the log probability of each target class is gathered, weighted and negated. A target that
// is ignored reads class 0 and counts as 0.
#include "legalize/term.h"

namespace tenon::legalize::decompositions {

using graph::Op;

std::vector<Value> nll_loss(Graph& g, const Node& node, std::span<const Value> operands) {
  const Term x(g, operands[0]), weight(g, operands[2]);
  Term target = Term(g, operands[1]).as(DType::I64);
  const Dim classes = x.shape()[1];
  const graph::AttributeValue* ignore = node.attributes().find("ignore");
  const Term ignored = equal(target, ignore ? std::get<int64_t>(*ignore) : -1);
  // A negative class would count from the end; as `classes` it is none, and the gather says so.
  const Term none = ignore ? choose(ignored, 0, target) : target;
  target = choose(less(none, 0), classes, none);
  std::vector<Dim> dims = target.shape().dims();
  dims.insert(dims.begin() + 1, 1);
  const Value picked =
      g.apply(Op::GatherElements, {x, target.reshape(std::move(dims))}, {{"axis", int64_t{1}}});
  const Term chosen = Term(g, picked).reshape(target.shape().dims());
  const Term factor(g, g.gather(weight, target, 0));
  const Term loss = -(factor * chosen);
  if (!ignore) return {loss, factor};
  return {choose(ignored, 0, loss), choose(ignored, 0, factor)};
}

}  // namespace tenon::legalize::decompositions
