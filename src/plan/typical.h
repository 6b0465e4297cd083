// The value of a Dim at a middling shape, to compare what no proof can.
#pragma once

#include "tenon/dim.h"

namespace tenon::plan {

double typical(const Dim& dim);

}  // namespace tenon::plan
