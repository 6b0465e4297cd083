// Tables of functions indexed by Op, checked complete at compile time: a new row of ops.def does
// not build until each table (inference, interpretation, lowering, ...) has a row for it.
//
//   constexpr auto kTable = op_table<Function>({{Op::Add, add}, ...});
#pragma once

#include <array>
#include <cstddef>

#include "graph/op.h"

namespace tenon::graph {

template <typename Function>
struct OpRow {
  Op op;
  Function function;
};

// Every op has exactly one row; anything else stops the build at the throw.
template <typename Function, size_t N>
consteval std::array<Function, kOpCount> op_table(const OpRow<Function> (&rows)[N]) {
  std::array<Function, kOpCount> table{};
  std::array<bool, kOpCount> seen{};  // not `table[op] != nullptr`: no constant with sanitizers
  for (const OpRow<Function>& row : rows) {
    if (seen[static_cast<size_t>(row.op)]) throw "an op has two rows in this table";
    seen[static_cast<size_t>(row.op)] = true;
    table[static_cast<size_t>(row.op)] = row.function;
  }
  for (const bool has_row : seen) {
    if (!has_row) throw "an op has no row in this table";
  }
  return table;
}

// Ops without a row have null.
template <typename Function, size_t N>
consteval std::array<Function, kOpCount> partial_op_table(const OpRow<Function> (&rows)[N]) {
  std::array<Function, kOpCount> table{};
  for (const OpRow<Function>& row : rows) table[static_cast<size_t>(row.op)] = row.function;
  return table;
}

}  // namespace tenon::graph
