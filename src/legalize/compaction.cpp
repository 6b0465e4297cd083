// See compaction.h. A running sum says where each chosen element goes; the others go to one place
// behind the last, which is cut off.
#include "legalize/compaction.h"

namespace tenon::legalize::decompositions {

using graph::Op;

Term positions_of(const Term& flags, const std::vector<Dim>& count) {
  Graph& g = flags.g();
  const Term ones = flags.as(DType::I64);
  define_own(g, ones.reduce(Op::ReduceSum, 0), count);
  const Term so_far(g, g.apply(Op::CumSum, {ones}, {{"axis", int64_t{0}}}));
  const Term place = choose(flags, so_far - 1, count[0]);
  const Value room = g.expand(g.reshape(number(g, 0), {1}), {count[0] + 1});
  const Value all = g.apply(Op::ScatterElements, {room, place, iota(g, flags.shape()[0])},
                            {{"axis", int64_t{0}}, {"reduction", std::string("none")}});
  return {g, g.slice(all, {0}, {count[0]}, {1})};
}

std::vector<Term> delinearized(const Term& positions, const Shape& shape) {
  std::vector<Term> index;
  Term rest = positions;
  for (int axis = shape.rank(); axis-- > 0;) {
    const Term outer = axis == 0 ? rest : rest / shape[axis];
    index.insert(index.begin(), axis == 0 ? rest : rest - outer * shape[axis]);
    rest = outer;
  }
  return index;
}

Value stacked(Graph& g, const std::vector<Term>& vectors, int64_t axis) {
  std::vector<Value> parts;
  for (const Term& vector : vectors) {
    const Dim& count = vector.shape()[0];
    parts.push_back(
        vector.reshape(axis == 0 ? std::vector<Dim>{1, count} : std::vector<Dim>{count, 1}));
  }
  return parts.size() == 1 ? parts[0] : g.concat(std::move(parts), axis);
}

}  // namespace tenon::legalize::decompositions
