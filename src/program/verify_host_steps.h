// What verify.cpp asks about host steps, and what both ask about buffers.
#pragma once

#include <string>

#include "base/result.h"
#include "program/program.h"

namespace tenon::program {

Status verify_host_steps(const Program& program);

// There is such a buffer, and it has memory.
Status verify_buffer(const Program& program, const std::string& origin, const BufferRef& ref);

}  // namespace tenon::program
