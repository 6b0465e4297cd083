// Which of an artifact's programs a machine runs.
#pragma once

#include <optional>
#include <span>
#include <string>

#include "base/cpu_info.h"
#include "base/result.h"
#include "program/artifact.h"

namespace tenon::compiled {

struct Machine {
  CpuInfo cpu;
  int cuda_arch = 0;  // of the GPU that is asked for
};

// Devices are preferred in the order of devices.def.
program::DeviceKind default_device(std::span<const program::Variant> variants);

// The best one for this kind of device, by its index: of those for CPUs the one that needs most, of
// cubins the newest that the GPU runs. A User error lists what there is, and what the machine has.
Result<size_t> choose_variant(std::span<const program::Variant> variants, program::DeviceKind kind,
                              const Machine& machine);

}  // namespace tenon::compiled
