// Runs a graph that came out of hostile bytes on the interpreter, with small extents and zeros, and
// limits on what it may compute.
#pragma once

#include <algorithm>
#include <map>
#include <string>

#include "graph/interpret.h"
#include "graph/limits.h"
#include "tests/fuzz/no_internal_error.h"

namespace tenon::fuzz {

inline graph::Tensor zeros(const TensorType& type) {
  graph::Tensor tensor{type.dtype, {}, {}};
  const SymbolValues small = [](const Symbol& symbol) {
    return std::optional(std::clamp(int64_t{2}, symbol.bounds().lo, symbol.bounds().hi));
  };
  for (const Dim& extent : type.shape) {
    tensor.shape.push_back(extent.evaluate(small).value_or(1));
  }
  tensor.bytes.resize(static_cast<size_t>(tensor.elements() * size_of(type.dtype)));
  return tensor;
}

inline void run_graph(const graph::Graph& g) {
  const graph::LimitRuns limits({.elements = 1 << 12, .steps = 1 << 12});
  std::map<std::string, graph::Tensor> inputs;
  for (const graph::Value& input : g.inputs()) inputs[input.node->name()] = zeros(input.type());
  for (const graph::Value& param : g.params()) {
    if (!g.param_data(param.node->name())) inputs[param.node->name()] = zeros(param.type());
  }
  graph::interpret(g, inputs);
}

}  // namespace tenon::fuzz
