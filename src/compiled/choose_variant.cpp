// See choose_variant.h.
#include "compiled/choose_variant.h"

#include <fmt/ranges.h>

#include <algorithm>
#include <tuple>
#include <vector>

#include "program/cuda_arch.h"

namespace tenon::compiled {
namespace {

using program::DeviceKind;
using program::Variant;

bool can_run(const Variant& variant, const Machine& machine) {
  switch (variant.device) {
    case DeviceKind::Cpu:
      return program::check_cpu(variant.cpu, machine.cpu).ok();
    case DeviceKind::Cuda:
      return program::cubin_runs_on(variant.cuda_arch, machine.cuda_arch);
    case DeviceKind::EmulatedGpu:
    case DeviceKind::Null:
      break;
  }
  return true;
}

bool needs_less(const Variant& a, const Variant& b) {
  const auto needs = [](const Variant& v) {
    return std::tuple(v.cpu.isa, v.cpu.bf16 + v.cpu.vnni, v.cuda_arch);
  };
  return needs(a) < needs(b);
}

std::string what_there_is(DeviceKind kind, const Machine& machine) {
  if (kind == DeviceKind::Cuda)
    return fmt::format("the GPU has compute capability {}.{}", machine.cuda_arch / 10,
                       machine.cuda_arch % 10);
  return fmt::format("this CPU ({}) has {}{}{}", machine.cpu.name, to_string(machine.cpu.isa),
                     machine.cpu.bf16 ? "+bf16" : "", machine.cpu.vnni ? "+vnni" : "");
}

}  // namespace

DeviceKind default_device(std::span<const Variant> variants) {
  return std::ranges::min(variants, {}, &Variant::device).device;
}

Result<size_t> choose_variant(std::span<const Variant> variants, DeviceKind kind,
                              const Machine& machine) {
  std::vector<std::string> all;
  std::optional<size_t> best;
  bool of_kind = false;
  for (size_t i = 0; i < variants.size(); ++i) {
    all.push_back(to_string(variants[i]));
    if (variants[i].device != kind) continue;
    of_kind = true;
    if (!can_run(variants[i], machine)) continue;
    if (!best || needs_less(variants[*best], variants[i])) best = i;
  }
  if (best) return *best;
  if (!of_kind)
    return user_error("it was compiled for {}, not for {}", fmt::join(all, ", "), name_of(kind));
  return user_error("it was compiled for {}; {}", fmt::join(all, ", "),
                    what_there_is(kind, machine));
}

}  // namespace tenon::compiled
