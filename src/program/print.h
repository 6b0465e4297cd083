// A Program as text: manifest, memory map and steps, for dumps and for tests to compare.
#pragma once

#include <string>

#include "program/program.h"

namespace tenon::program {

std::string print(const Program& program);

// How messages name a buffer: `input "input_ids"`, `param "encoder.weight"`, `arena 3`.
std::string describe(const Program& program, const BufferRef& ref);

}  // namespace tenon::program
