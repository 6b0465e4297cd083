// What code needs of the CPU that runs it.
#pragma once

#include "base/cpu_info.h"
#include "base/result.h"

namespace tenon::program {

struct CpuNeeds {
  CpuIsa isa = CpuIsa::Generic;
  bool bf16 = false;
  bool vnni = false;
  bool operator==(const CpuNeeds&) const = default;
};

Status check_cpu(const CpuNeeds& needs, const CpuInfo& cpu);  // User error: what it lacks

}  // namespace tenon::program
