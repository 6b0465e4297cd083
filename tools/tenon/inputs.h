// Makes the inputs of a run from what the command line says; inputs it does not name are filled:
// floats uniform in
// [-1, 1), integers 0 or 1, the same on every machine.
#pragma once

#include <cstddef>
#include <map>
#include <string>
#include <vector>

#include "tenon/tenon.h"
#include "tools/tenon/arguments.h"

namespace tenon::cli {

struct Inputs {
  std::map<std::string, std::vector<std::byte>> memory;
  NamedInputs views;
  Extents dims;  // every symbol of the model, with the extent it has here
};

// `dims` are extents asked for; the shapes of given inputs fix more; what is left gets a default,
// said on stderr. User errors where a name does not exist (they list what does) or where two
// sources contradict.
Inputs make_inputs(const CompiledGraph& graph, const std::vector<InputSpec>& specs,
                   const Extents& dims);

// "batch=8 seq=128"
std::string to_string(const Extents& dims);

}  // namespace tenon::cli
