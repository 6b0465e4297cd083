// Which steps may run at the same time.
#pragma once

#include "program/program.h"

namespace tenon::plan {

// Sets Step::with_previous: a step joins the wave of the steps before it where it shares no byte
// with them that one of them writes. Comes before memory is planned: the buffers of a wave are then
// alive together. Gives the number of comparisons made.
int64_t find_waves(program::Program& program);

}  // namespace tenon::plan
