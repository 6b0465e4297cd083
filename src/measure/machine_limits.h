// The limits of tenon/receipt.h as receipts use them: rates by kind of arithmetic and by level, and
// what differs between two measurements.
#pragma once

#include <string>
#include <vector>

#include "program/program.h"
#include "tenon/receipt.h"

namespace tenon::measure {

inline constexpr const char* kArithmetics[] = {"f32", "bf16", "int8"};

// What the kind of arithmetic is held against: where the CPU has no instruction for it, f32's.
double gflops_of(const MachineLimits& limits, program::Arithmetic arithmetic);

// Nanoseconds for each byte. A byte that is written costs what copying one takes beyond reading it.
double read_cost(const MemoryLimit& level);
double write_cost(const MemoryLimit& level);

// The better of each.
MachineLimits best_of(const MachineLimits& a, const MachineLimits& b);

// A line for each limit named in `used` ("f32", "L2", ...) that differs by over 3%.
std::vector<std::string> differences(const MachineLimits& before, const MachineLimits& after,
                                     const std::vector<std::string>& used);

}  // namespace tenon::measure
