// What a compile makes as bytes, for entries on disk, and back. The model's weights are not among
// them: they are in the model, which whoever asks for the entry has.
#pragma once

#include <cstddef>
#include <span>
#include <vector>

#include "base/result.h"
#include "driver/pipeline.h"
#include "graph/graph.h"

namespace tenon::driver {

// `source`: the graph that was compiled, or its optimized form.
std::vector<std::byte> store_compiled(const Compiled& compiled, const graph::Graph& source);

// The program's parameters have the data of `source`, a graph of the same digest. An error says
// what is wrong with the bytes.
Result<Compiled> restore_compiled(std::span<const std::byte> bytes, const graph::Graph& source);

}  // namespace tenon::driver
