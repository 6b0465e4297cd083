// States: inputs whose memory stays between runs and is written by them (a KV cache, the moments of
// an optimizer). Each update gives the next value of a state; they are a chain, so that each may be
// written over the one before. The last of a graph is an output of the state's name.
#pragma once

#include <cstdint>
#include <optional>

#include "graph/graph.h"

namespace tenon::graph {

// Of an input that is a state; nullopt: of any other value.
std::optional<StateLayout> state_layout(Value value);
// The input that an update, or the input itself, is a value of; nullopt where it is no state.
std::optional<Value> state_of(Value value);
// Whether the output is what a state holds after a run, not something that a caller gets.
bool is_state_output(const Output& output);

}  // namespace tenon::graph
