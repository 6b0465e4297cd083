// From the options of the public API to those of the driver, checked.
#pragma once

#include "driver/options.h"
#include "tenon/compile_options.h"

namespace tenon {

// With what the profile says for all that is left out.
CompileOptions with_profile(const CompileOptions& options);

// A User or Unsupported error where options are not known, contradict each other, or are of no use
// to the device.
driver::Options driver_options(const CompileOptions& options);

inline Device device_of(const CompileOptions& options) {
  return options.device.value_or(Device::Cpu());
}

}  // namespace tenon
