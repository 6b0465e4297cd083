// Reductions over axes that are data. Each axis becomes two, one of which has the extent 1: what is
// kept, and what is reduced. The second ones are reduced, whatever the data says.
#include "legalize/named_axes.h"

namespace tenon::legalize::decompositions {

using graph::Op;

std::vector<Value> reduce_over(Graph& g, const Node& node, std::span<const Value> operands) {
  const Value x = operands[0];
  const int rank = x.shape().rank();
  const std::vector<Dim>& shape = node.attributes().dims("shape");
  const bool keep = node.attributes().integer("keep") != 0;
  const NamedAxes axes(g, operands[1], rank);
  if (rank == 0) return {checked(g, x, axes.wrong(), "wrong_axes")};
  const Term reduced = either(axes.named(), axes.none());
  const Term extents = extents_of(g, x), kept = choose(reduced, 1, extents);
  Term wrong = axes.wrong();
  if (!keep) {
    const auto count = static_cast<int64_t>(shape.size());
    wrong = either(wrong, !equal(sum_of((!reduced).as(DType::I64)), count));
    if (count > 0) define_own(g, choose(wrong, -1, compressed(extents, !reduced, count)), shape);
  } else {
    define_own(g, choose(wrong, -1, kept), shape);
  }
  const std::vector<Dim> outer = keep ? shape : define(g, kept, "kept");
  const std::vector<Dim> inner = define(g, choose(wrong, -1, choose(reduced, extents, 1)), "gone");
  std::vector<Dim> apart;
  std::vector<int64_t> second;
  for (size_t i = 0; i < outer.size(); ++i) {
    apart.insert(apart.end(), {outer[i], inner[i]});
    second.push_back(static_cast<int64_t>(2 * i + 1));
  }
  const Op op = *graph::parse_op(node.attributes().text("op"));
  return {g.reshape(g.reduce(op, g.reshape(x, std::move(apart)), std::move(second)), shape)};
}

}  // namespace tenon::legalize::decompositions
