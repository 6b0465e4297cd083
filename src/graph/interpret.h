// The interpreter of the tensor IR: small, obviously right, accumulates in f64. It is the oracle
// that everything compiled is compared with, and what folds constants. It never stands in for a
// compiled kernel.
#pragma once

#include <map>
#include <string>
#include <vector>

#include "graph/graph.h"

namespace tenon::graph {

struct Tensor {
  DType dtype = DType::F32;
  std::vector<int64_t> shape;
  std::vector<std::byte> bytes;
  int64_t elements() const;
};

// Symbols get their values from the shapes of the inputs; bounds and constraints are checked.
// Parameters without initial data are looked up in `inputs` too. Outputs are in the graph's order.
std::vector<Tensor> interpret(const Graph& graph, const std::map<std::string, Tensor>& inputs);

// A graph inside of a node. Inputs by position; `outside` gives the symbols of the graph around it.
std::vector<Tensor> interpret_body(const Graph& body, std::span<const Tensor* const> inputs,
                                   const SymbolValues& outside);

// One node on concrete operands (results in order). `values` gives the value of each symbol that
// occurs in attributes.
std::vector<Tensor> evaluate(const Node& node, std::span<const Tensor* const> operands,
                             const SymbolValues& values);

}  // namespace tenon::graph
