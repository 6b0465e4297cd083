// The C compiler as a function: source to the bytes of an object file. A process per call, in a
// temporary folder of its own, so that calls from several threads and processes do not meet.
#pragma once

#include <cstddef>
#include <string>
#include <vector>

#include "codegen/isa.h"

namespace tenon::codegen::c {

// `compiler` is what TENON_CC says: a program, and options after it. One that is absent or fails is
// a User error with its message.
std::vector<std::byte> compile_source(const std::string& compiler, const std::string& source,
                                      Isa isa, const std::string& kernel);

}  // namespace tenon::codegen::c
