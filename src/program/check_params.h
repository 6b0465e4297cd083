// Data of parameters that came from a file is compared with its digests before it is read.
#pragma once

#include <span>

#include "base/result.h"
#include "program/program.h"

namespace tenon::program {

// A User error names the file and the parameter. On at most `threads` threads; 0: all.
Status check_params(std::span<const ParamSlot* const> slots, int threads);
Status check_params(const Program& program, int threads);  // all of them

}  // namespace tenon::program
