// Tables of functions indexed by Op, for what only some ops have.
//
//   constexpr auto kTable = partial_op_table<Function>({{Op::Add, add}, ...});
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

// Ops without a row have null.
template <typename Function, size_t N>
consteval std::array<Function, kOpCount> partial_op_table(const OpRow<Function> (&rows)[N]) {
  std::array<Function, kOpCount> table{};
  for (const OpRow<Function>& row : rows) table[static_cast<size_t>(row.op)] = row.function;
  return table;
}

}  // namespace tenon::graph
