// The pass that carries out tenon/dispatch.h.
#pragma once

#include <optional>
#include <string_view>

#include "graph/claims.h"
#include "graph/graph.h"
#include "tenon/dispatch.h"

namespace tenon::legalize {

// As the environment and command lines call the policies.
inline constexpr std::string_view kDispatchPolicies[] = {"prefer-native", "force-common",
                                                         "force-native"};
std::optional<DispatchPolicy> parse_dispatch_policy(std::string_view text);

// Adds to `report`. What can neither stay nor become primitives is an Unsupported error which names
// the backend and all such nodes at once.
graph::Graph dispatch(const graph::Graph& graph, const graph::Claims& claims,
                      const DispatchOptions& options, DispatchReport& report);

// Counts what decompose() replaces.
void report_rewritten(const graph::Graph& graph, DispatchReport& report);

}  // namespace tenon::legalize
