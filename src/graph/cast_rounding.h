// What a cast's attributes say of rounding to narrow floats.
#pragma once

#include "graph/attributes.h"
#include "types/narrow.h"

namespace tenon::graph {

NarrowRounding cast_rounding(const Attributes& attributes);

}  // namespace tenon::graph
