// What --precision says: one of the modes that people ask for, or a policy of tenon/precision.h by
// its name.
#pragma once

#include <string>

#include "tenon/tenon.h"

namespace tenon::cli {

// "f32, f16, bf16, int8; ...": for --help.
inline constexpr const char* kPrecisionHelp =
    "What f32 values are multiplied as: f32 (default); f16 (and stored so); bf16 (products of "
    "bf16, "
    "all else f32); int8 (products with weights, of 8-bit integers); tf32 (GPUs); or a policy of "
    "docs/numerics.md: always_bf16, auto_mixed_conservative, ...";

// Sets it in the options, whose device is set. A UsageError where the name is not known.
void set_precision(const std::string& name, CompileOptions& options);

}  // namespace tenon::cli
