// The machine's limit for what computes: the highest rate of multiply-adds that threads sustain,
// measured by a loop of nothing else. Independent of the compiler, so that "share of peak" compares
// what we generate with what the hardware gives.
#pragma once

#include "program/program.h"

namespace tenon::measure {

// GFLOP/s (a multiply-add is two) of `threads` threads together: the best of `slices` slices of
// `milliseconds` each. A gate uses one-second slices before and after; a glance is content with a
// few of 20 ms. 0 where the CPU has no instruction for it.
double measure_peak_gflops(int threads, int slices, double milliseconds,
                           program::Arithmetic arithmetic = program::Arithmetic::F32);

// What the probe of f32 uses: "avx512", "avx2" or "baseline".
const char* peak_probe_isa();

}  // namespace tenon::measure
