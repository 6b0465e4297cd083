// Whether programs are one model, compiled for several devices.
#pragma once

#include "program/program.h"

namespace tenon::compiled {

// A User error says what differs: inputs, outputs and their extents, parameters and their data.
// Where one has a parameter in another dtype, it has data of its own.
void check_same_model(const program::Program& first, const program::Program& other);

}  // namespace tenon::compiled
