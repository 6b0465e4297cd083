// A tensor seen as [outer, extent, inner] around an axis that may be data.
#pragma once

#include "legalize/term.h"

namespace tenon::legalize::decompositions {

struct AroundAxis {
  Dim outer, extent, inner;
};

// The axis of the first `rank` axes of x that the operand names; counted from the end where
// negative, then from that of x. None of them is a User error, of the run where it is data.
AroundAxis around_axis(Graph& g, Value x, Value axis, int rank);

}  // namespace tenon::legalize::decompositions
