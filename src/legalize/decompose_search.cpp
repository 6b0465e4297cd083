// Positions that are not zero, and slices that differ: compaction and scatters say the rest once
// flags or group numbers are known.
#include "legalize/compaction.h"

namespace tenon::legalize::decompositions {

using graph::Op;

std::vector<Value> non_zero(Graph& g, const Node& node, std::span<const Value> operands) {
  const Value x = operands[0];
  const std::vector<Dim>& count = node.attributes().dims("count");
  const Term flat(g, g.reshape(x, {x.shape().elements()}));
  const Term flags = flat.dtype() == DType::Bool ? flat : !equal(flat, 0);
  const Term found = positions_of(flags, count);
  if (x.shape().rank() > 0) return {stacked(g, delinearized(found, x.shape()), 0)};
  return {g.slice(found.reshape({1, count[0]}), {0, 0}, {0, count[0]}, {1, 1})};
}

namespace {

constexpr const char* kGroups = "groups";  // the count of a unique that lowering takes

bool is_lowered(const Dim& count) {
  const auto symbol = count.as_symbol();
  return symbol && symbol->name().starts_with(kGroups);
}

}  // namespace

// The kernel numbers the groups of equal slices; which slices come first in theirs, and how many
// there are, is scattered.
std::vector<Value> unique(Graph& g, const Node& node, std::span<const Value> operands) {
  const std::vector<Dim>& count = node.attributes().dims("count");
  if (is_lowered(count[0])) return {};
  const Value x = operands[0];
  const int64_t axis = node.attributes().integer("axis");
  const Dim n = x.shape()[static_cast<int>(axis)];
  graph::Attributes attributes = node.attributes();
  attributes.set("count", std::vector<Dim>{g.fresh_symbol(kGroups, {0, n.bounds().hi})});
  const Term group(g, g.apply_all(Op::Unique, {x}, std::move(attributes))[2]);
  // One more than the last number; a number before the first keeps an empty axis at 0 groups.
  const Value none = g.reshape(number(g, -1), {1});
  const Term last(g, g.reduce(Op::ReduceMax, g.concat({none, group}, 0), {0}));
  define_own(g, last + 1, count);
  const auto scattered = [&](const Operand& start, Value by, const char* reduction) {
    const Value room = g.expand(g.reshape(start.value(g, DType::I64), {1}), {count[0]});
    return g.apply(Op::ScatterElements, {room, group, by},
                   {{"axis", int64_t{0}}, {"reduction", std::string(reduction)}});
  };
  const Value first = scattered(n, iota(g, n), "min");
  const Value counts = scattered(0, g.expand(g.reshape(number(g, 1), {1}), {n}), "add");
  return {g.gather(x, first, axis), first, group, counts};
}

}  // namespace tenon::legalize::decompositions
