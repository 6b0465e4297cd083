// See term.h.
#include "legalize/term.h"

#include "base/error.h"

namespace tenon::legalize::decompositions {

using graph::Op;

Term Term::as(DType dtype) const {
  return this->dtype() == dtype ? *this : Term(*g_, g_->cast(value_, dtype));
}

Term Term::at(int64_t i) const { return {*g_, g_->reshape(g_->slice(value_, {i}, {1}, {1}), {})}; }

Term Term::along(int axis, int rank) const {
  return {*g_, decompositions::along(*g_, value_, axis, rank)};
}

Value Operand::value(Graph& g, DType dtype) const {
  if (const auto* value = std::get_if<Value>(&given_)) return *value;
  if (const auto* real = std::get_if<double>(&given_)) return g.scalar(dtype, *real);
  return Term(g, integer(g, std::get<Dim>(given_))).as(dtype);
}

Term binary(Op op, const Term& a, const Operand& b) {
  return {a.g(), a.g().binary(op, a, b.value(a.g(), a.dtype()))};
}

Term choose(const Term& condition, const Operand& then, const Operand& otherwise) {
  Graph& g = condition.g();
  const DType dtype = (then.is_number() ? otherwise : then).value(g, DType::I64).dtype();
  return {g, where(g, condition, then.value(g, dtype), otherwise.value(g, dtype))};
}

Term sum_of(const Term& vector) { return vector.reduce(Op::ReduceSum, 0).reshape({}); }
Term product_of(const Term& vector) {
  const int64_t count = vector.shape()[0].const_value();
  Term result = count == 0 ? number(vector.g(), 1) : vector.at(0);
  for (int64_t i = 1; i < count; ++i) result = result * vector.at(i);
  return result;
}
Term any_of(const Term& flags) {
  return more(flags.as(DType::I64).reduce(Op::ReduceMax, 0), 0).reshape({});
}

Term count_before(const Term& flags) {
  const int64_t count = flags.shape()[0].const_value();
  std::vector<int64_t> before;
  for (int64_t i = 0; i < count * count; ++i) before.push_back(i % count < i / count ? 1 : 0);
  const Term triangle = Term(flags.g(), flags.g().integers(before)).reshape({count, count});
  return (triangle * flags.as(DType::I64)).reduce(Op::ReduceSum, 1).reshape({count});
}

Term compressed(const Term& vector, const Term& flags, int64_t count) {
  Graph& g = vector.g();
  const Term places = Term(g, iota(g, count)).reshape({count, 1});
  const Term chosen = both(equal(places, count_before(flags)), flags);
  return choose(chosen, vector, 0).reduce(Op::ReduceSum, 1).reshape({count});
}

Term joined(std::vector<Term> scalars) {
  Graph& g = scalars[0].g();
  std::vector<Value> parts;
  for (const Term& scalar : scalars) parts.push_back(scalar.reshape({1}));
  return {g, g.concat(std::move(parts), 0)};
}

Term number(Graph& g, const Dim& value) { return {g, integer(g, value)}; }
Term extents_of(Graph& g, Value x) { return {g, g.shape_of(x)}; }

Term integers_of(Graph& g, Value vector) {
  const Term numbers = Term(g, vector).as(DType::I64);
  return numbers.shape().rank() == 1 ? numbers : numbers.reshape({numbers.shape().elements()});
}

Term integer_of(Graph& g, Value one) {
  const Term number = Term(g, one).as(DType::I64);
  return number.shape().rank() == 0 ? number : number.reshape({});
}

Value checked(Graph& g, Value x, const Term& wrong, const char* stem) {
  if (const auto& known = Value(wrong).shape_value(); known && (*known)[0].is_const(0)) return x;
  if (x.shape().rank() == 0) return g.reshape(checked(g, g.reshape(x, {1}), wrong, stem), {});
  // A start that is always 0: the slice waits for the step that says so.
  const Dim zero = define(g, wrong.as(DType::I64).reshape({1}), stem, 0)[0];
  std::vector<Dim> starts(x.shape().dims().size(), 0);
  starts[0] = zero;
  return g.slice(x, std::move(starts), x.shape().dims(),
                 std::vector<int64_t>(x.shape().dims().size(), 1));
}

}  // namespace tenon::legalize::decompositions
