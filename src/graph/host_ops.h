// Ops that no kernel computes: the executor does them itself, between kernels. Their operands and
// results lie in memory.
#pragma once

#include "graph/op.h"

namespace tenon::graph {

constexpr bool is_host_op(Op op) { return op == Op::Define || op == Op::If || op == Op::Loop; }

}  // namespace tenon::graph
