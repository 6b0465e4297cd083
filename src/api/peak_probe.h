// The machine's limit: the highest rate of f32 multiply-adds that threads sustain, measured by a
// loop of nothing else. Independent of the compiler, so that "share of peak" compares what we
// generate with what the hardware gives.
#pragma once

namespace tenon {

// GFLOP/s (a multiply-add is two) of `threads` threads together: the best of `slices` slices of
// `milliseconds` each. A gate uses one-second slices before and after; a glance is content with a
// few of 20 ms.
double measure_peak_gflops(int threads, int slices, double milliseconds);

// What the probe uses: "avx512", "avx2" or "baseline".
const char* peak_probe_isa();

}  // namespace tenon
