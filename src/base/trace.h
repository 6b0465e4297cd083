// How the parts of Tenon put events into the trace of tenon/trace.h. Where none is written an event
// costs one relaxed load.
#pragma once

#include <chrono>
#include <string_view>

#include "tenon/trace.h"

namespace tenon {

bool tracing();

using TraceClock = std::chrono::steady_clock;

// What was begun is complete, and from now on nothing is traced.
void end_trace();

// Something of this thread that began and ended. `kind` says what sort of thing: "pass", "codegen",
// "kernel", "run"; `detail` may be empty.
void trace_event(std::string_view kind, std::string_view name, std::string_view detail,
                 TraceClock::time_point begin, TraceClock::time_point end);

}  // namespace tenon
