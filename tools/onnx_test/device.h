// What runs the cases: a device makes a graph ready once and then runs it on each data set.
#pragma once

#include <functional>
#include <map>
#include <string>
#include <vector>

#include "graph/interpret.h"

namespace tenon::onnx_test {

using Inputs = std::map<std::string, graph::Tensor>;

struct Prepared {
  std::function<std::vector<graph::Tensor>(const Inputs&)> run;  // outputs in the graph's order
  bool compiled = false;
  std::string why;  // not compiled, where the device tried to
};

// The graph outlives what is prepared of it.
using Device = std::function<Prepared(const graph::Graph&)>;

inline Prepared interpreted(const graph::Graph& g, std::string why = {}) {
  return {[&g](const Inputs& inputs) { return graph::interpret(g, inputs); }, false,
          std::move(why)};
}

}  // namespace tenon::onnx_test
