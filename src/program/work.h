// How long a step takes, roughly: from what it computes and moves. Decides how many threads it is
// worth, and what is worth running beside it.
#pragma once

namespace tenon::program {

inline constexpr double kFlopsPerMicrosecond =
    50e3;  // of one core; low on purpose: small kernels are not at peak
inline constexpr double kBytesPerMicrosecond = 20e3;  // of one core, from beyond its L2

constexpr double microseconds(double flops, double bytes) {
  const double compute = flops / kFlopsPerMicrosecond, memory = bytes / kBytesPerMicrosecond;
  return compute > memory ? compute : memory;
}

}  // namespace tenon::program
