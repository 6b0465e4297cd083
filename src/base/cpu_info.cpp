// Detects the CPU: instruction sets through the compiler's cpuid support (which also asks whether
// the operating system saves the registers), cache sizes and name from sysfs and procfs.
#include "base/cpu_info.h"

#include <fstream>
#include <sstream>

#include "base/knobs.h"

namespace tenon {
namespace {

#if defined(__x86_64__)
void detect_features(CpuInfo& cpu) {
  __builtin_cpu_init();
  const bool avx2 = __builtin_cpu_supports("avx2") && __builtin_cpu_supports("fma") &&
                    __builtin_cpu_supports("bmi2");
  const bool avx512 = avx2 && __builtin_cpu_supports("avx512f") &&
                      __builtin_cpu_supports("avx512bw") && __builtin_cpu_supports("avx512dq") &&
                      __builtin_cpu_supports("avx512vl");
  cpu.isa = avx512 ? CpuIsa::Avx512 : avx2 ? CpuIsa::Avx2 : CpuIsa::Generic;
  cpu.bf16 = avx512 && __builtin_cpu_supports("avx512bf16");
  cpu.vnni = avx512 && __builtin_cpu_supports("avx512vnni");
}
#else
void detect_features(CpuInfo&) {}
#endif

std::string first_line(const std::string& path) {
  std::ifstream file(path);
  std::string line;
  std::getline(file, line);
  return line;
}

// "48K", "2M", "1024"
std::optional<int64_t> parse_size(const std::string& text) {
  std::istringstream in(text);
  int64_t value = 0;
  char unit = ' ';
  if (!(in >> value) || value <= 0) return std::nullopt;
  in >> unit;
  return unit == 'K' ? value << 10 : unit == 'M' ? value << 20 : value;
}

void detect_caches(CpuInfo& cpu) {
  for (int index = 0; index < 8; ++index) {
    const std::string dir =
        "/sys/devices/system/cpu/cpu0/cache/index" + std::to_string(index) + "/";
    const std::string level = first_line(dir + "level"), type = first_line(dir + "type");
    if (level.empty()) return;
    const auto size = parse_size(first_line(dir + "size"));
    if (!size || type == "Instruction") continue;
    if (level == "1") cpu.l1d = *size;
    if (level == "2") cpu.l2 = *size;
    if (level == "3") cpu.l3 = *size;
  }
}

std::string detect_name() {
  std::ifstream file("/proc/cpuinfo");
  for (std::string line; std::getline(file, line);) {
    if (line.rfind("model name", 0) != 0) continue;
    const size_t colon = line.find(": ");
    if (colon != std::string::npos) return line.substr(colon + 2);
  }
  return "unknown";
}

}  // namespace

std::string_view to_string(CpuIsa isa) {
  constexpr std::string_view kNames[] = {"generic", "avx2", "avx512"};
  return kNames[static_cast<size_t>(isa)];
}

CpuInfo detect_cpu(std::optional<CpuIsa> cap) {
  CpuInfo cpu;
  detect_features(cpu);
  detect_caches(cpu);
  cpu.name = detect_name();
  if (cap && cpu.isa > *cap) {
    cpu.isa = *cap;
    cpu.bf16 = cpu.vnni = false;  // both come in their AVX-512 form only
  }
  return cpu;
}

const CpuInfo& cpu_info() {
  static const CpuInfo kCpu = [] {
    const std::string& cap = knobs().cpu;
    if (cap == "avx2") return detect_cpu(CpuIsa::Avx2);
    if (cap == "avx512") return detect_cpu(CpuIsa::Avx512);
    return detect_cpu(std::nullopt);
  }();
  return kCpu;
}

}  // namespace tenon
