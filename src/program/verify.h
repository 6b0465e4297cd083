// Checks that a Program is whole before anything trusts it: every index inside its list, every list
// of the right length, every entry inside its code. The compiler's own mistakes and damaged
// artifacts stop here.
#pragma once

#include "base/result.h"
#include "program/program.h"

namespace tenon::program {

Status verify(const Program& program);

Digest code_digest(std::span<const std::byte> bytes);

}  // namespace tenon::program
