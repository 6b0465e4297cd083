// Ops of which data says how many or along what: split, range, top_k, running sums. The numbers
// become symbols; then the op is the one with known extents.
#include "legalize/around_axis.h"

namespace tenon::legalize::decompositions {

using graph::Op;

std::vector<Value> split(Graph& g, const Node& node, std::span<const Value> operands) {
  if (operands.size() < 2) return {};
  const Value x = operands[0];
  const auto axis = static_cast<size_t>(node.attributes().integer("axis"));
  const std::vector<Dim>& parts = node.attributes().dims("extents");
  define_own(g, integers_of(g, operands[1]), parts);
  std::vector<Dim> starts(x.shape().dims().size(), 0);
  std::vector<Value> results;
  for (const Dim& part : parts) {
    std::vector<Dim> extents = x.shape().dims();
    extents[axis] = part;
    results.push_back(g.slice(x, starts, extents, std::vector<int64_t>(extents.size(), 1)));
    starts[axis] = starts[axis] + part;
  }
  return results;
}

namespace {

// The count of start, start + delta, ... before limit; -1 where there is none.
Term range_count(const Term& start, const Term& limit, const Term& delta) {
  Graph& g = start.g();
  if (is_float(start.dtype())) {
    const auto wide = [](const Term& t) { return t.as(DType::F64); };
    const auto is_above = [&](double bound, const Term& t) {  // a NaN is not
      return less(Term(g, g.scalar(DType::F64, bound)), t);
    };
    const Term steps = ((wide(limit) - wide(start)) / wide(delta)).unary(Op::Ceil);
    const Term count = choose(is_above(0, steps), steps.as(DType::I64), 0);
    return choose(either(equal(delta, 0), is_above(0x1p62, steps)), -1, count);
  }
  const Term from = start.as(DType::I64), to = limit.as(DType::I64), by = delta.as(DType::I64);
  const Term up = more(by, 0);
  const Term some = choose(up, less(from, to).as(DType::I64), less(to, from).as(DType::I64));
  // Unsigned: the way from one end of i64 to the other does not fit i64.
  const auto bits = [](const Term& t) { return t.as(DType::U64); };
  const Term span = choose(up, bits(to) - bits(from), bits(from) - bits(to));
  const Term step = choose(up, bits(by), bits(-by));
  const Term count = (span - 1) / larger(step, 1) + 1;
  const Term fits = choose(less(count, int64_t{1} << 62), count.as(DType::I64), -1);
  return choose(equal(by, 0), -1, choose(equal(some, 1), fits, 0));
}

bool is_iota(const Node& node) {
  const auto is = [&](int operand, const Dim& number) {
    const auto& known = node.operand(operand).shape_value();
    return known && (*known)[0] == number;
  };
  return is(0, 0) && is(1, node.attributes().dims("shape")[0]) && is(2, 1);
}

}  // namespace

std::vector<Value> range(Graph& g, const Node& node, std::span<const Value> operands) {
  const std::vector<Dim>& shape = node.attributes().dims("shape");
  if (!shape[0].as_symbol() || is_iota(node)) return {};
  const Term start(g, operands[0]), limit(g, operands[1]), delta(g, operands[2]);
  define_own(g, range_count(start, limit, delta).reshape({1}), shape);
  return {Term(g, iota(g, shape[0])).as(start.dtype()) * delta + start};
}

std::vector<Value> top_k(Graph& g, const Node& node, std::span<const Value> operands) {
  if (operands[1].shape_value()) return {};
  const std::vector<Dim>& count = node.attributes().dims("count");
  define_own(g, integer_of(g, operands[1]).reshape({1}), count);
  return g.apply_all(Op::TopK, {operands[0], integer(g, count[0])}, node.attributes());
}

// Along an axis that is data.
std::vector<Value> cumulate(Graph& g, const Node& node, std::span<const Value> operands) {
  if (operands.size() < 2) return {};
  const Value x = operands[0];
  const AroundAxis around = around_axis(g, x, operands[1], x.shape().rank());
  const Value lines = g.reshape(x, {around.outer, around.extent, around.inner});
  graph::Attributes attributes = node.attributes();
  attributes.set("axis", int64_t{1});
  return {g.reshape(g.apply(node.op(), {lines}, std::move(attributes)), x.shape().dims())};
}

}  // namespace tenon::legalize::decompositions
