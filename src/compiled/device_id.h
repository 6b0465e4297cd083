// A device of the public API as the runtime names it.
#pragma once

#include "runtime/devices.h"
#include "tenon/device.h"

namespace tenon {

inline runtime::DeviceId device_id(const Device& device) {
  const bool cpu = device.kind() == Device::Kind::Cpu;
  return {cpu ? program::DeviceKind::Cpu : program::DeviceKind::Cuda, device.index()};
}

}  // namespace tenon
