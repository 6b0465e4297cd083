// Arithmetic on values of a graph, so that decompositions read as formulas. A number beside a term
// is a scalar of the term's dtype.
#pragma once

#include <variant>

#include "legalize/decompose.h"

namespace tenon::legalize::decompositions {

class Term {
 public:
  Term(Graph& g, Value value) : g_(&g), value_(value) {}
  operator Value() const { return value_; }  // NOLINT(google-explicit-constructor)

  Graph& g() const { return *g_; }
  DType dtype() const { return value_.dtype(); }
  const Shape& shape() const { return value_.shape(); }

  Term as(DType dtype) const;
  Term at(int64_t i) const;  // of a vector, as a scalar
  Term along(int axis, int rank) const;
  Term reshape(std::vector<Dim> dims) const { return {*g_, g_->reshape(value_, std::move(dims))}; }
  Term unary(graph::Op op) const { return {*g_, g_->unary(op, value_)}; }
  Term reduce(graph::Op op, int64_t axis) const { return {*g_, g_->reduce(op, value_, {axis})}; }

 private:
  Graph* g_;
  Value value_;
};

// What may stand beside a term.
class Operand {
 public:
  Operand(const Term& term) : given_(static_cast<Value>(term)) {}  // NOLINT
  Operand(Value value) : given_(value) {}                          // NOLINT
  Operand(Dim dim) : given_(std::move(dim)) {}                     // NOLINT
  Operand(int number) : given_(Dim(number)) {}                     // NOLINT
  Operand(int64_t number) : given_(Dim(number)) {}                 // NOLINT
  Operand(double number) : given_(number) {}                       // NOLINT

  bool is_number() const { return !std::holds_alternative<Value>(given_); }
  Value value(Graph& g, DType dtype) const;

 private:
  std::variant<Value, Dim, double> given_;
};

Term binary(graph::Op op, const Term& a, const Operand& b);
inline Term operator+(const Term& a, const Operand& b) { return binary(graph::Op::Add, a, b); }
inline Term operator-(const Term& a, const Operand& b) { return binary(graph::Op::Sub, a, b); }
inline Term operator*(const Term& a, const Operand& b) { return binary(graph::Op::Mul, a, b); }
inline Term operator/(const Term& a, const Operand& b) { return binary(graph::Op::Div, a, b); }
inline Term operator-(const Term& a) { return a.unary(graph::Op::Neg); }
inline Term operator!(const Term& a) { return a.unary(graph::Op::Not); }
inline Term smaller(const Term& a, const Operand& b) { return binary(graph::Op::Min, a, b); }
inline Term larger(const Term& a, const Operand& b) { return binary(graph::Op::Max, a, b); }
inline Term clamped(const Term& a, const Operand& low, const Operand& high) {
  return smaller(larger(a, low), high);
}
inline Term equal(const Term& a, const Operand& b) { return binary(graph::Op::Equal, a, b); }
inline Term less(const Term& a, const Operand& b) { return binary(graph::Op::Less, a, b); }
inline Term at_most(const Term& a, const Operand& b) { return binary(graph::Op::LessEqual, a, b); }
inline Term more(const Term& a, const Operand& b) { return !at_most(a, b); }  // NaN is more
inline Term both(const Term& a, const Term& b) { return binary(graph::Op::And, a, b); }
inline Term either(const Term& a, const Term& b) { return binary(graph::Op::Or, a, b); }
// One of the two is a term.
Term choose(const Term& condition, const Operand& then, const Operand& otherwise);

// All elements of a vector joined, as a scalar.
Term sum_of(const Term& vector);
Term product_of(const Term& vector);  // of a few
Term any_of(const Term& flags);
// How many flags of a short vector are set before each.
Term count_before(const Term& flags);
// The elements whose flags are set, `count` of them, in order.
Term compressed(const Term& vector, const Term& flags, int64_t count);
// One vector of several scalars.
Term joined(std::vector<Term> scalars);

Term number(Graph& g, const Dim& value);   // an i64 scalar
Term extents_of(Graph& g, Value x);        // its shape as an i64 vector
Term integers_of(Graph& g, Value vector);  // as an i64 vector, whatever dtype and rank 0 or 1
Term integer_of(Graph& g, Value one);      // as an i64 scalar; a User error for several elements

// `x`, by a step that ends the run with a User error where `wrong` (bool[]) is true. The stem names
// what is wrong in the message.
Value checked(Graph& g, Value x, const Term& wrong, const char* stem);

}  // namespace tenon::legalize::decompositions
