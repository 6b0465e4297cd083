// What the code generator and the cost model need to know about this CPU, and how many threads the
// process may really use. Nothing here names an x86 type; other CPUs report Generic.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>

namespace tenon {

enum class CpuIsa : uint8_t { Generic, Avx2, Avx512 };

std::string_view to_string(CpuIsa isa);

struct CpuInfo {
  CpuIsa isa = CpuIsa::Generic;
  bool bf16 = false;                                   // bf16 dot products
  bool vnni = false;                                   // 8-bit dot products
  int64_t l1d = 32 << 10, l2 = 1 << 20, l3 = 8 << 20;  // bytes; l1d and l2 per core
  std::string name;
};

CpuInfo detect_cpu(std::optional<CpuIsa> cap);  // at most `cap`, with the features that go with it
const CpuInfo& cpu_info();  // detected once, capped by TENON_CPU; throws User if that is bad

// CPUs' worth of time per second that the cgroups (v1 and v2) allow, if they limit it. `root` is
// for tests.
std::optional<double> cgroup_cpu_quota(const std::string& root = "");
int affinity_threads();  // logical CPUs this process may be scheduled on
int usable_threads();    // the smaller of affinity and quota, at least 1

}  // namespace tenon
