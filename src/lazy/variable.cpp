#include "tenon/variable.h"

#include "base/error.h"
#include "lazy/apply.h"

namespace tenon {
namespace {

Symbol checked(const std::string& name, int64_t min, int64_t max) {
  if (name.empty()) throw user_error("[Variable] needs a name");
  if (min > max)
    throw user_error("[Variable] \"{}\" has bounds {}..{}: the least is above the most", name, min,
                     max);
  return Symbol(name, {min, max});
}

VariableValues both(const Extent& a, const Extent& b) {
  VariableValues values = a.values();
  lazy::merge(values, b.values(), "extent");
  return values;
}

}  // namespace

Variable::Variable(const std::string& name, int64_t min, int64_t max)
    : symbol_(checked(name, min, max)) {}

Extent Variable::bind(int64_t value) const {
  if (value < min() || value > max())
    throw user_error("[bind] \"{}\" = {} is outside of its bounds {}..{}", name(), value, min(),
                     max());
  return {Dim(symbol_), {{name(), value}}};
}

Extent operator+(const Extent& a, const Extent& b) { return {a.dim_ + b.dim_, both(a, b)}; }
Extent operator-(const Extent& a, const Extent& b) { return {a.dim_ - b.dim_, both(a, b)}; }
Extent operator*(const Extent& a, const Extent& b) { return {a.dim_ * b.dim_, both(a, b)}; }
Extent operator/(const Extent& a, const Extent& b) {
  return {floordiv(a.dim_, b.dim_), both(a, b)};
}

}  // namespace tenon
