// A case of differential testing: a graph, extents for its symbols, and the seed of its inputs. As
// text it is a line with the numbers, then the text of the graph:
//
//   case seed=7 b=3 s=17
//   graph
//   ...
//
// With special=1 among the numbers, NaN, infinities, zeros of both signs, denormal numbers and the
// extremes of the integers are among the inputs' elements.
#pragma once

#include <map>
#include <string>
#include <string_view>

#include "graph/interpret.h"

namespace tenon::replay {

struct Case {
  graph::Graph graph;
  std::map<std::string, int64_t> extents;
  uint64_t seed = 0;
  bool special = false;
};

std::string to_text(const Case& given);
Case parse_case(std::string_view text);  // User error for what is no such text

using Tensors = std::map<std::string, graph::Tensor>;
// Inputs and parameters without data: floats in [-2, 2), small integers; the same on every machine.
Tensors inputs_of(const Case& given);
// Floats moved by a few units in the last place: what changes by it is not to be had more exactly.
Tensors perturbed(const Tensors& inputs, uint64_t seed);

}  // namespace tenon::replay
