// Whether a program's steps may run as it says: what shares memory does so on purpose.
#pragma once

#include "base/result.h"
#include "program/program.h"

namespace tenon::program {

// Internal where two steps of a wave touch the same bytes and one of them writes, or where a step
// writes over what it reads and Step::in_place does not allow it. By byte range in the memory that
// the plan gave: ranges that are not provably disjoint count as overlapping.
Status verify_hazards(const Program& program);

}  // namespace tenon::program
