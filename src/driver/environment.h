// What options leave open, as the environment says.
#pragma once

#include "driver/options.h"
#include "plan/plan_options.h"
#include "tenon/dispatch.h"

namespace tenon::driver {

// TENON_MEMORY_PLANNER
plan::Options plan_options(const Options& options);

// TENON_KERNEL_DISPATCH and TENON_FORCE_COMMON
DispatchOptions dispatch_options(const Options& options);

}  // namespace tenon::driver
