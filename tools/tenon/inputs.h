// Makes the inputs of a run from what the command line says; inputs it does not name are filled:
// floats uniform in [-1, 1), integers 0 or 1, the same on every machine. Shapes come first and are
// checked; memory is taken and filled after that.
#pragma once

#include <cstddef>
#include <map>
#include <string>
#include <vector>

#include "api/npy.h"
#include "tenon/tenon.h"
#include "tools/tenon/arguments.h"

namespace tenon::cli {

// An --input, its file read.
struct GivenInput {
  InputSpec spec;
  npy::Array array;  // of Fill::File
};
std::vector<GivenInput> read_inputs(const std::vector<std::string>& texts);

struct Inputs {
  std::map<std::string, std::vector<std::byte>> memory;
  NamedInputs views;  // into `memory`, or into the array of a GivenInput
  Extents dims;       // every symbol of the model, with the extent it has here
  Extents defaults;   // those of them that nobody gave
};

// Shapes without data. `dims` are extents asked for; the shapes of given inputs fix more; what is
// left gets a default. User errors where a name does not exist (they list what does), where two
// sources contradict, where the model does not take such shapes or the run would not fit in memory.
Inputs plan_inputs(CompiledGraph& graph, const std::vector<GivenInput>& given, const Extents& dims);

// Takes the memory and fills it.
void fill_inputs(const CompiledGraph& graph, const std::vector<GivenInput>& given, Inputs& inputs);

// Names the extents that nobody gave, on stderr.
void say_defaults(const Inputs& inputs);

// "batch=8 seq=128"
std::string to_string(const Extents& dims);

}  // namespace tenon::cli
