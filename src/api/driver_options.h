// From the options of the public API to those of the driver, checked.
#pragma once

#include "base/log.h"
#include "driver/options.h"
#include "tenon/compile_options.h"

namespace tenon {

// With what the profile says for all that is left out.
CompileOptions with_profile(const CompileOptions& options);

// A User or Unsupported error where options are not known, contradict each other, or are of no use
// to the device.
driver::Options driver_options(const CompileOptions& options);

// dim_bounds are for models from files: an Error where there are any.
void check_dim_bounds(const CompileOptions& options);

// The level of logging that the options ask for, while it lives.
std::optional<ScopedLogLevel> verbosity_of(const CompileOptions& options);

// What logs and dumps call it.
inline std::string name_of(const CompileOptions& options) {
  return options.name.empty() ? "graph" : options.name;
}

inline Device device_of(const CompileOptions& options) {
  return options.device.value_or(Device::Cpu());
}

}  // namespace tenon
