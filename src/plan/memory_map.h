// The plan of a program's memory as text for people: what lies where, from when to when.
#pragma once

#include <string>

#include "program/program.h"

namespace tenon::plan {

// The arena's size as a formula and at a middling shape; what sharing saved; each slot with its
// offset, its size and the buffers that live in it, one line each in the order of their lives;
// views; and the moments (timeline.h) that the lives count. Bodies have maps of their own.
std::string memory_map(const program::Program& program);

}  // namespace tenon::plan
