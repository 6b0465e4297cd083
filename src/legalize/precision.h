// The pass that carries out a precision policy (tenon/precision.h). A policy is a row of a table
// (precision.cpp): for each category of ops, how it treats numbers. What depends on parameters only
// is done before the first run.
#pragma once

#include <optional>
#include <string_view>

#include "graph/graph.h"
#include "tenon/precision.h"

namespace tenon::legalize {

inline constexpr std::string_view kPrecisionPolicies[] = {
    "always_f32",   "always_f16", "always_bf16", "auto_mixed", "auto_mixed_conservative",
    "dynamic_int8", "custom"};
std::optional<PrecisionPolicy> parse_precision_policy(std::string_view text);

// Whether some category stores its results in 16 bits. The same errors.
bool stores_narrow(const PrecisionOptions& options);

// After the passes that find fused ops. Options that contradict themselves are User errors: ways to
// multiply (ByF16, ...) for a category that does not, numbers by category without the policy
// Custom, and this policy without them.
graph::Graph apply_precision(const graph::Graph& graph, const PrecisionOptions& options);

}  // namespace tenon::legalize
