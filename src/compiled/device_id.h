// A device of the public API as the runtime names it.
#pragma once

#include "runtime/devices.h"
#include "tenon/device.h"

namespace tenon {

inline runtime::DeviceId device_id(const Device& device) {
  using program::DeviceKind;
  constexpr DeviceKind kKinds[] = {DeviceKind::Cpu, DeviceKind::Cuda, DeviceKind::Null};
  return {kKinds[static_cast<int>(device.kind())], device.index()};
}

}  // namespace tenon
