// The devices of this machine: whether they can be used, and streams of them.
#pragma once

#include <memory>
#include <string>
#include <vector>

#include "base/thread_pool.h"
#include "program/device_kind.h"
#include "runtime/device.h"

namespace tenon::runtime {

struct DeviceId {
  program::DeviceKind kind = program::DeviceKind::Cpu;
  int index = 0;  // among those of its kind
};

std::string why_unavailable(const DeviceId& device);  // empty: it can be used
std::string describe(const DeviceId& device);         // an available one, for people
std::vector<DeviceId>
known_devices();                   // the CPU, then every GPU, the first even where there is none
Result<int> cuda_arch(int index);  // of a GPU: 90 for compute capability 9.0

// `pool` is the CPU's.
Result<std::shared_ptr<DeviceStream>> open_stream(const DeviceId& device, ThreadPool& pool);

}  // namespace tenon::runtime
