// Values of Dims at a middling shape: to compare what no proof can, and to tell people what a
// formula comes to.
#pragma once

#include <string>

#include "program/program.h"
#include "tenon/dim.h"

namespace tenon::plan {

double typical(const Dim& dim);

// "12.6 MB"
std::string typical_bytes(const Dim& bytes);

// The shape itself, of a program: " at batch = 64, seq = 64"; empty where it has no symbols.
std::string typical_extents(const program::Program& program);

}  // namespace tenon::plan
