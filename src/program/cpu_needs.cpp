#include "program/cpu_needs.h"

#include <fmt/ranges.h>

#include <vector>

namespace tenon::program {

Status check_cpu(const CpuNeeds& needs, const CpuInfo& cpu) {
  std::vector<std::string_view> lacking;
  if (needs.isa > cpu.isa) lacking.push_back(to_string(needs.isa));
  if (needs.bf16 && !cpu.bf16) lacking.emplace_back("avx512_bf16");
  if (needs.vnni && !cpu.vnni) lacking.emplace_back("avx512_vnni");
  if (lacking.empty()) return {};
  return user_error("it was compiled for CPUs with {}; this one ({}, {}) cannot run it",
                    fmt::join(lacking, ", "), cpu.name, to_string(cpu.isa));
}

}  // namespace tenon::program
