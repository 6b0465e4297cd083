// Runs a case on a device and on the interpreter, and says whether they agree.
#pragma once

#include <functional>

#include "kernel/kernel.h"
#include "tools/replay/case.h"

namespace tenon::replay {

enum class Verdict : uint8_t {
  Same,
  Refused,  // the device does not compile the graph
  Differs,  // other numbers, an error on one side only, or an error of our own
};

struct Outcome {
  Verdict verdict;
  std::string message;  // what differs, or why it was refused
};

// A graph made ready to run.
using Run = std::function<std::vector<graph::Tensor>(const Tensors& inputs)>;
using Device = std::function<Run(const graph::Graph& graph)>;

// The compiler of this machine; `see_kernel` is shown what it compiles.
Device cpu(std::function<void(const kernel::Kernel&)> see_kernel = {});

// Integers must be equal, and so must floats that are moved, chosen or rounded once (exact.h).
// Other floats may differ by what rounding explains: a small share of the result, and a multiple of
// what the interpreter itself gives for inputs moved by a few units in the last place. User errors
// must be on both sides.
Outcome compare(const Case& given, const Device& device);
// The same graph at several extents, compiled once.
Outcome compare(const graph::Graph& graph, const std::vector<Case>& cases, const Device& device);

}  // namespace tenon::replay
