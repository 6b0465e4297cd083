// Times runs of a compiled model and watches the process's memory.
#pragma once

#include <vector>

#include "tenon/tenon.h"
#include "tools/tenon/inputs.h"

namespace tenon::cli {

struct Timing {
  double first_ms = 0;            // the first run at this shape: it may grow the arena
  std::vector<double> sorted_ms;  // of the runs after it
  double median() const { return quantile(0.5); }
  double minimum() const { return sorted_ms.front(); }
  double quantile(double q) const;  // nearest rank
};

// One run first, then `runs` timed ones; 0: as many as fit in `seconds`, at least 3.
Timing time_runs(CompiledGraph& graph, const Inputs& inputs, int runs, double seconds);

// Peak of resident memory since the last reset, in MiB. Where the kernel does not let us reset:
// since the start.
void reset_peak_rss();
double peak_rss_mb();

}  // namespace tenon::cli
