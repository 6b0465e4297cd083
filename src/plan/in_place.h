// Results that take the memory of an operand which is read for the last time.
#pragma once

#include "program/program.h"

namespace tenon::plan {

// Makes such results views of their operands (Step::in_place says which may be). Memory of inputs,
// parameters and outputs is never overwritten.
void overwrite_operands(program::Program& program);

}  // namespace tenon::plan
