// Tests on captured constants.
#include "rewrite/rule.h"

#include <cmath>

namespace tenon::rewrite {
namespace {

bool is_less(const Number& a, const Number& b) {
  return a.is_integer && b.is_integer ? a.integer < b.integer : a.real < b.real;
}

bool divides_evenly(const Number& a, const Number& b) {
  if (!a.is_integer || !b.is_integer || a.integer == 0) return false;
  return a.integer == -1 || b.integer % a.integer == 0;
}

}  // namespace

bool holds(const Test& test, std::span<const Number> constants) {
  const Number& a = constants[test.first];
  switch (test.kind) {
    case Test::Kind::Positive:
      return a.real > 0;
    case Test::Kind::Negative:
      return a.real < 0;
    case Test::Kind::NonZero:
      return a.real != 0;
    case Test::Kind::Integer:
      return a.is_integer;
    case Test::Kind::Near:
      return std::fabs(a.real - test.value) <= test.tolerance * std::fabs(test.value);
    case Test::Kind::Divides:
      return divides_evenly(a, constants[test.second]);
    case Test::Kind::Less:
      return is_less(a, constants[test.second]);
    case Test::Kind::Ask:
      break;
  }
  return false;
}

}  // namespace tenon::rewrite
