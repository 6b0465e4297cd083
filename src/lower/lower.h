// Lowering: one region of the tensor IR becomes one kernel of the loop IR. Movement ops become
// index maps, elementwise producers are written into their consumer, reductions and contractions
// become reductions over ranges of their own.
#pragma once

#include <functional>
#include <set>
#include <string>
#include <vector>

#include "fuse/fuse.h"
#include "graph/graph.h"
#include "kernel/kernel.h"

namespace tenon::lower {

// The strides, in elements, with which a stored value lies in memory.
using Layout = std::function<std::vector<Dim>(graph::Value)>;

struct Lowered {
  kernel::Kernel kernel;
  std::vector<graph::Value>
      arguments;  // what source_index of a kernel's argument buffers means; the result is last
};

// Names of the model's symbols: a loop never has one of them.
using TakenNames = std::set<std::string>;

// The kernel that computes and stores `result`. One that is a leaf is copied (an output that is an
// input).
Lowered lower(graph::Value result, const fuse::Regions& regions, const Layout& layout,
              const TakenNames& taken = {});

}  // namespace tenon::lower
