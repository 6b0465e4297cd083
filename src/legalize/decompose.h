// Decomposition: ops without kernels of their own are written with those that have them. One
// function per op, one table (decompositions.def); functions stand in files by family.
#pragma once

#include <span>
#include <vector>

#include "graph/graph.h"

namespace tenon::legalize {

// Every op of the table, replaced; what a replacement is made of is replaced too.
graph::Graph decompose(const graph::Graph& graph);
bool is_decomposed(graph::Op op);  // there

namespace decompositions {

using graph::Graph;
using graph::Node;
using graph::Value;

// The replacement of each result of `node`, built on `g` from its new operands; empty: the node
// stays as it is.
using Decomposition = std::vector<Value>(Graph& g, const Node& node,
                                         std::span<const Value> operands);
#define DECOMPOSE(Name, function) Decomposition function;
#include "legalize/decompositions.def"
#undef DECOMPOSE

// Short forms that decompositions share. All integers are i64.
Value integer(Graph& g, const Dim& value);                // a scalar
Value iota(Graph& g, const Dim& count);                   // 0, 1, ... as i64[count]
Value along(Graph& g, Value vector, int axis, int rank);  // on one axis, 1 on the others
Value where(Graph& g, Value condition, Value then, Value otherwise);
// Fresh symbols whose values are the elements of an i64 vector, each at least 0 and at most `most`.
std::vector<Dim> define(Graph& g, Value vector, const char* stem, int64_t most = kDimInf);
// The symbols among `dims` (which an op's attribute names as its own) get their values from the
// elements at their places. Before any node that names them. False: there are none.
bool define_own(Graph& g, Value vector, const std::vector<Dim>& dims);

}  // namespace decompositions
}  // namespace tenon::legalize
