// See compile_log.h.
#include "api/compile_log.h"

#include "base/log.h"
#include "base/trace.h"
#include "plan/plan_arena.h"
#include "plan/typical.h"

namespace tenon {

void log_compiled(const std::string& name, const program::Program& program,
                  const CompileStats& stats) {
  if (tracing()) {
    const std::chrono::duration<double, std::milli> took(stats.milliseconds);
    const auto end = TraceClock::now();
    trace_event("compile", name, program::name_of(program.device),
                end - std::chrono::duration_cast<TraceClock::duration>(took), end);
  }
  if (!log_enabled(LogLevel::Info)) return;
  if (stats.from_disk) {
    log(LogLevel::Info, "loaded {} for {} from the disk cache in {:.1f} ms: {} kernels, {} steps",
        name, program::name_of(program.device), stats.milliseconds, stats.kernels, stats.steps);
    return;
  }
  const plan::Figures memory = plan::figures(program);
  log(LogLevel::Info,
      "compiled {} for {} in {:.1f} ms: {} kernels ({} compiled, {} from the kernel cache), {} "
      "steps; arena {}{}, {} saved, {} buffers reused",
      name, program::name_of(program.device), stats.milliseconds, stats.kernels,
      stats.kernels - stats.kernels_from_cache, stats.kernels_from_cache, stats.steps,
      plan::typical_bytes(memory.arena_size), plan::typical_extents(program),
      plan::typical_bytes(memory.bytes_saved), memory.buffers_reused);
}

}  // namespace tenon
