// Variable: a named extent with bounds that gets its value when tensors are realized or a plan is
// executed. Extent: what a shape is made of: a number, or an expression over variables that are
// bound to values.
//
//   const tenon::Variable n("n", 1, 1024);
//   tenon::Tensor head = x.shrink({{0, n.bind(100)}});   // its shape is [n], and n is 100
//   auto plan = head.sum().prepare();
//   plan.execute_with_vars({{"n", 7}});                  // the same kernels
#pragma once

#include <concepts>
#include <cstdint>
#include <map>
#include <string>
#include <vector>

#include "tenon/dim.h"

namespace tenon {

class Extent;

// Two variables are the same if their names are; then they must have the same bounds.
class Variable {
 public:
  Variable(const std::string& name, int64_t min, int64_t max);  // min > max is an Error

  const std::string& name() const { return symbol_.name(); }
  int64_t min() const { return symbol_.bounds().lo; }
  int64_t max() const { return symbol_.bounds().hi; }
  Extent bind(int64_t value) const;  // outside of the bounds is an Error

 private:
  friend class Extent;
  Symbol symbol_;
};

using VariableValues = std::map<std::string, int64_t>;

class Extent {
 public:
  template <std::integral T>
  Extent(T value) : dim_(static_cast<int64_t>(value)) {}  // NOLINT(google-explicit-constructor)
  Extent(const Variable& variable) : dim_(variable.symbol_) {}  // NOLINT: not bound here
  // An expression over variables that are bound elsewhere in what is realized.
  explicit Extent(Dim dim) : dim_(std::move(dim)) {}
  Extent(Dim dim, VariableValues values) : dim_(std::move(dim)), values_(std::move(values)) {}

  const Dim& dim() const { return dim_; }
  const VariableValues& values() const { return values_; }

  // One variable with two values is an Error.
  friend Extent operator+(const Extent& a, const Extent& b);
  friend Extent operator-(const Extent& a, const Extent& b);
  friend Extent operator*(const Extent& a, const Extent& b);
  friend Extent operator/(const Extent& a, const Extent& b);  // rounds down

 private:
  Dim dim_;
  VariableValues values_;
};

using Extents = std::vector<Extent>;

}  // namespace tenon
