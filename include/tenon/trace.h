// A trace of what Tenon does, for Perfetto (ui.perfetto.dev) or chrome://tracing: every pass of
// every compile, and every kernel of every run, with its kind, where it came from, and when.
//
//   tenon::start_trace("trace.json");  // or TENON_TRACE=trace.json
//   ...
//   tenon::flush_trace();              // also done when the process ends normally
//
// The file is a JSON array after each flush. While a trace is written, steps of a run on the CPU
// that would run at the same time run one after the other, so that each has a time of its own. On
// other devices a run is an event, its kernels are none.
#pragma once

#include <string>

namespace tenon {

// From now on events go to this file, which is written anew; a trace that was begun before ends
// there. A file that cannot be written is an Error.
void start_trace(const std::string& path);
// Everything that has happened so far is in the file. Does nothing where no trace was begun.
void flush_trace();

}  // namespace tenon
