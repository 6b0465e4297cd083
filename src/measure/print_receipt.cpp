// Receipts as text for people and as JSON for programs, and whether they are what was required.
#include <fmt/format.h>
#include <fmt/ranges.h>

#include "base/json_text.h"
#include "tenon/receipt.h"

namespace tenon {
namespace {

constexpr size_t kWidestOrigin = 32;

// "/layer.0/MatMul +5": the first of its launches, and how many others.
std::string origin_of(const KernelReceipt& kernel) {
  std::string text = kernel.origins[0];
  if (text.size() > kWidestOrigin) text = text.substr(0, kWidestOrigin - 3) + "...";
  if (kernel.origins.size() > 1) text += fmt::format(" +{}", kernel.origins.size() - 1);
  return text;
}

std::string line(const std::string& name, const std::string& origin, int launches,
                 double milliseconds, double share_of_run, double flops, double bytes,
                 const std::string& limit, double share) {
  const double rate = milliseconds * 1e6;
  return fmt::format("{:<26} {:<36} {:>8} {:>9.3f} {:>6.1f}% {:>9.1f} {:>7.1f}  {:<7} {:>7.1f}%\n",
                     name, origin, launches, milliseconds, 100 * share_of_run, flops / rate,
                     bytes / rate, limit, 100 * share);
}

std::string json_of(const KernelReceipt& kernel) {
  std::vector<std::string> origins;
  for (const std::string& origin : kernel.origins) origins.push_back(json_text(origin));
  constexpr const char* kBounds[] = {"compute", "cache", "memory"};
  return fmt::format(
      "{{\"name\": {}, \"origins\": [{}], \"arithmetic\": \"{}\", \"launches\": {}, \"ms\": "
      "{:.6f}, "
      "\"share_of_run\": {:.4f}, \"flops\": {:.0f}, \"bytes\": {:.0f}, \"gflops\": {:.2f}, "
      "\"gbs\": {:.2f}, \"floor_ms\": {:.6f}, \"bound\": \"{}\", \"limit\": \"{}\", "
      "\"share_of_limit\": {:.4f}}}",
      json_text(kernel.name), fmt::join(origins, ", "), kernel.arithmetic, kernel.launches,
      kernel.milliseconds, kernel.share_of_run, kernel.flops, kernel.bytes, kernel.gflops(),
      kernel.gbs(), kernel.floor_ms, kBounds[static_cast<size_t>(kernel.bound)], kernel.limit,
      kernel.share_of_limit());
}

std::string json_of(const MachineLimits& limits) {
  std::vector<std::string> levels;
  for (const MemoryLimit& level : limits.memory)
    levels.push_back(fmt::format(
        "{{\"name\": \"{}\", \"bytes\": {}, \"read_gbs\": {:.2f}, \"copy_gbs\": {:.2f}}}",
        level.name, level.bytes, level.read_gbs, level.copy_gbs));
  return fmt::format(
      "{{\"threads\": {}, \"f32_gflops\": {:.1f}, \"bf16_gflops\": {:.1f}, \"int8_gflops\": "
      "{:.1f}, \"memory\": [{}]}}",
      limits.threads, limits.f32_gflops, limits.bf16_gflops, limits.int8_gflops,
      fmt::join(levels, ", "));
}

std::string text_of(const MachineLimits& limits) {
  std::string text = fmt::format("limits at {} thread{}: f32 {:.1f} GFLOP/s", limits.threads,
                                 limits.threads == 1 ? "" : "s", limits.f32_gflops);
  if (limits.bf16_gflops > 0) text += fmt::format(", bf16 {:.1f}", limits.bf16_gflops);
  if (limits.int8_gflops > 0) text += fmt::format(", int8 {:.1f}", limits.int8_gflops);
  text += "; read / copy in GB/s:";
  for (const MemoryLimit& level : limits.memory)
    text += fmt::format(" {} {:.1f} / {:.1f}", level.name, level.read_gbs, level.copy_gbs);
  return text + "\n";
}

}  // namespace

std::string RunReceipt::to_string() const {
  std::string text =
      fmt::format("{:<26} {:<36} {:>8} {:>9} {:>7} {:>9} {:>7}  {:<7} {:>8}\n", "kernel", "from",
                  "launches", "ms", "of run", "GFLOP/s", "GB/s", "limit", "of limit");
  int launches = 0;
  double flops = 0, bytes = 0;
  for (const KernelReceipt& kernel : kernels) {
    text += line(kernel.name, origin_of(kernel), kernel.launches, kernel.milliseconds,
                 kernel.share_of_run, kernel.flops, kernel.bytes, kernel.limit,
                 kernel.share_of_limit());
    launches += kernel.launches, flops += kernel.flops, bytes += kernel.bytes;
  }
  text += line("the whole run", "", launches, milliseconds, 1, flops, bytes, "", share_of_limit());
  text += fmt::format("kernels one by one: {:.3f} ms; at the limits: {:.3f} ms\n", kernels_ms,
                      floor_ms);
  text += text_of(limits);
  for (const std::string& difference : unsteady)
    text += fmt::format("unsteady, measure again: before and after, {}\n", difference);
  return text;
}

std::string RunReceipt::to_json() const {
  std::vector<std::string> rows, differences;
  for (const KernelReceipt& kernel : kernels) rows.push_back(json_of(kernel));
  for (const std::string& difference : unsteady) differences.push_back(json_text(difference));
  return fmt::format(
      "{{\"ms\": {:.6f}, \"kernels_ms\": {:.6f}, \"floor_ms\": {:.6f}, \"share_of_limit\": {:.4f}, "
      "\"unsteady\": [{}], \"limits\": {}, \"kernels\": [{}]}}",
      milliseconds, kernels_ms, floor_ms, share_of_limit(), fmt::join(differences, ", "),
      json_of(limits), fmt::join(rows, ", "));
}

std::vector<std::string> RunReceipt::below(double of_run, double of_kernel) const {
  std::vector<std::string> lines;
  const auto require = [&](const std::string& what, double share, double required) {
    if (share < required)
      lines.push_back(fmt::format("{} is at {:.1f}% of its limit, {:.1f}% is required", what,
                                  100 * share, 100 * required));
  };
  require("the run", share_of_limit(), of_run);
  for (const KernelReceipt& kernel : kernels) {
    if (kernel.share_of_run < kNoticeableShare) continue;
    require(fmt::format("{} ({})", kernel.name, origin_of(kernel)), kernel.share_of_limit(),
            of_kernel);
  }
  return lines;
}

}  // namespace tenon
