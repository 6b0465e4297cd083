// A graph that the compiler fails on through no fault of its user is saved as text, so that the
// failure can be shown to others and run again: `tenon replay FILE`.
#pragma once

#include "driver/pipeline.h"

namespace tenon::driver {

// compile(), but an Internal error saves the graph first and names the file, which lies in the
// folder of TENON_DUMP, or that of temporary files. Graphs that are equal have one file. Data of
// parameters is not in it.
Compiled compile_or_save(const graph::Graph& source, const Options& options);

}  // namespace tenon::driver
