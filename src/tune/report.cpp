// TuningReport as text (tenon/tuning.h).
#include <fmt/format.h>

#include <algorithm>

#include "base/atomic_file.h"
#include "tenon/tuning.h"

namespace tenon {

std::string TuningReport::to_string() const {
  size_t width = std::string_view("kernel").size();
  for (const TunedKernel& kernel : kernels) width = std::max(width, kernel.name.size());
  std::string text = fmt::format("{:<{}} {:>11} {:>11} {:>6} {:>6}  {}\n", "kernel", width,
                                 "default ms", "tuned ms", "ratio", "tried", "choice");
  for (const TunedKernel& kernel : kernels) {
    const double ratio = kernel.tuned_ms > 0 ? kernel.default_ms / kernel.tuned_ms : 1;
    text += fmt::format("{:<{}} {:>11.4f} {:>11.4f} {:>6.3f} {:>6}  {}\n", kernel.name, width,
                        kernel.default_ms, kernel.tuned_ms, ratio,
                        kernel.found ? "known" : fmt::to_string(kernel.candidates),
                        kernel.choice.empty() ? "the default" : kernel.choice);
  }
  return text;
}

void TuningReport::save(const std::string& path) const { write_atomically(path, schedules); }

}  // namespace tenon
