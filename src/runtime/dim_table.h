// Many Dims made ready for evaluation: a flat list of sums, divisions, minima and maxima over
// numbered variables, each distinct subexpression once. New extents are then one linear pass that
// allocates nothing.
#pragma once

#include <cstdint>
#include <map>
#include <span>
#include <string>
#include <unordered_map>
#include <vector>

#include "tenon/dim.h"

namespace tenon::runtime {

// Numbers the symbols of a program: name -> position among the values that evaluate() gets.
using Variables = std::map<std::string, int>;

class DimTable {
 public:
  DimTable() = default;
  explicit DimTable(const Variables& variables) : variables_(&variables) {}

  // The position of the Dim's value. Adding is for load time; `variables` must be complete and
  // outlive the adding.
  int add(const Dim& dim);
  // A symbol that occurred in an added Dim and is no variable; empty where there is none.
  const std::string& unknown_symbol() const { return unknown_symbol_; }

  // False where a value overflows or a division is by zero; the values are then unspecified.
  [[nodiscard]] bool evaluate(std::span<const int64_t> variables);
  int64_t operator[](int position) const { return values_[static_cast<size_t>(position)]; }

 private:
  enum class Kind : uint8_t { Variable, Sum, FloorDiv, Min, Max };
  struct Op {
    Kind kind;
    int begin, end;  // Variable: its number; Sum: terms; others: operands
  };
  struct Term {
    int64_t coefficient;
    int begin, end;  // operands, multiplied
  };

  int add_atom(const Dim::Atom& atom);
  int push(Kind kind, int begin, int end);
  bool evaluate_sum(const Op& op, int64_t& result) const;
  bool evaluate_op(const Op& op, std::span<const int64_t> variables, int64_t& result) const;

  const Variables* variables_ = nullptr;
  std::string unknown_symbol_;
  std::vector<Op> ops_;
  std::vector<Term> terms_;
  std::vector<int> operands_;
  std::vector<int64_t> values_;  // one per op
  std::unordered_map<Dim, int> known_;
};

}  // namespace tenon::runtime
