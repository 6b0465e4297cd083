// Unpooling: elements go to their places in a tensor of zeros, which then may be made larger.
#include "legalize/term.h"

namespace tenon::legalize::decompositions {

using graph::Op;

std::vector<Value> max_unpool(Graph& g, const Node& node, std::span<const Value> operands) {
  const Value x = operands[0];
  const std::vector<Dim>&inner = node.attributes().dims("inner"),
        &outer = node.attributes().dims("shape");
  if (operands.size() > 2) define_own(g, integers_of(g, operands[2]), outer);
  const Dim room = Shape(inner).elements(), count = x.shape().elements();
  const Term given = Term(g, operands[1]).as(DType::I64).reshape({count});
  const Term at = choose(less(given, 0), room, given);  // no place counts from the end
  const Value zeros = g.expand(g.reshape(g.scalar(x.dtype(), 0), {1}), {room});
  const Value flat = g.apply(Op::ScatterElements, {zeros, at, g.reshape(x, {count})},
                             {{"axis", int64_t{0}}, {"reduction", std::string("none")}});
  const Value whole = g.reshape(flat, inner);
  if (inner == outer) return {whole};
  std::vector<Dim> pads(inner.size(), 0);
  std::vector<int64_t> axes;
  for (size_t i = 0; i < inner.size(); ++i) {
    pads.push_back(outer[i] - inner[i]);
    axes.push_back(static_cast<int64_t>(i));
    g.add_constraint({Constraint::Kind::AtMost, inner[i], outer[i], "[max_unpool] the shape"});
  }
  return {g.apply(Op::Pad, {whole, g.dims(std::move(pads)), g.integers(axes)},
                  {{"mode", std::string("constant")}, {"shape", outer}})};
}

}  // namespace tenon::legalize::decompositions
