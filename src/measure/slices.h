// How probes run: on several threads that begin at the same time, for a slice of time, again and
// again; the best slice counts.
#pragma once

#include "base/function_ref.h"

namespace tenon::measure {

// `rate(thread)` measures one thread's; those of all threads are added. The calling thread is
// thread 0.
double best_of_slices(int threads, int slices, FunctionRef<double(int thread)> rate);

}  // namespace tenon::measure
