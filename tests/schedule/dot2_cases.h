// Contractions of bf16 as lowering writes them, for the tests of products of pairs.
#pragma once

#include "tests/schedule/run_kernel.h"

namespace tenon::kernel_test {

// y[m, n] = max(x[m, depth] * w[depth, n] + v, 0) of bf16.
inline Case bf16_linear_case(int64_t depth, int64_t n, std::vector<int64_t> rows) {
  return {fmt::format("Linear{}x{}", depth, n),
          fmt::format(R"(kernel linear lowered dims m: 1..65536
  buffer x: bf16[m*{0}] global argument 0
  buffer w: bf16[{2}] global argument 1 constant
  buffer v: bf16[{1}] global argument 2 constant
  buffer y: bf16[m*{1}] global argument 3 written
  flops m*{2}
  parallel i in m
    parallel j in {1}
      y[i*{1} + j] = cast(bf16, max(add(reduce_fma(k in {0}, cast(f32, x[i*{0} + k]), cast(f32, w[j + k*{1}]), f32(0)), cast(f32, v[j])), f32(0)))
)",
                      depth, n, depth * n),
          each("m", rows)};
}

// Both operands of a batch are data, the right one transposed, and the depth is known at run time.
inline Case bf16_batched_case() {
  Case result{"Batched",
              R"(kernel scores lowered dims b: 1..64, d: 1..4096, m: 1..512
  buffer x: bf16[b*d*m] global argument 0
  buffer z: bf16[b*d*m] global argument 1
  buffer y: f32[b*m*m] global argument 2 written
  flops b*d*m*m
  parallel h in b
    parallel i in m
      parallel j in m
        y[h*m*m + i*m + j] = reduce_fma(k in d, cast(f32, x[h*m*d + i*d + k]), cast(f32, z[h*m*d + j*d + k]), f32(0))
)",
              {}};
  for (const int64_t d : {1, 2, 7, 64, 301}) {
    result.runs.push_back({{"b", 2}, {"d", d}, {"m", 1}});
    result.runs.push_back({{"b", 2}, {"d", d}, {"m", 19}});
  }
  return result;
}

// Weights that are rounded while they are packed.
inline Case bf16_of_f32_weights_case(int64_t depth) {
  return {fmt::format("Rounded{}", depth),
          fmt::format(R"(kernel linear lowered dims m: 1..65536
  buffer x: bf16[m*{0}] global argument 0
  buffer w: f32[{1}] global argument 1 constant
  buffer y: f32[m*24] global argument 2 written
  flops m*{1}
  parallel i in m
    parallel j in 24
      y[i*24 + j] = reduce_fma(k in {0}, cast(f32, x[i*{0} + k]), cast(f32, cast(bf16, w[j + k*24])), f32(0))
)",
                      depth, depth * 24),
          each("m", {1, 14})};
}

// y[m, 40] = max(x * gate, 0) * (x * up): two contractions in one value.
inline Case bf16_gated_case() {
  return {"Gated", R"(kernel gated lowered dims m: 1..65536
  buffer x: bf16[m*66] global argument 0
  buffer gate: bf16[2640] global argument 1 constant
  buffer up: bf16[2640] global argument 2 constant
  buffer y: bf16[m*40] global argument 3 written
  flops m*2640
  parallel i in m
    parallel j in 40
      %0 = reduce_fma(k in 66, cast(f32, x[i*66 + k]), cast(f32, gate[j + k*40]), f32(0))
      %1 = reduce_fma(k in 66, cast(f32, x[i*66 + k]), cast(f32, up[j*66 + k]), f32(0))
      y[i*40 + j] = cast(bf16, mul(max(%0, f32(0)), %1))
)",
          each("m", {1, 5, 13})};
}

inline std::vector<Case> dot2_cases() {
  return {bf16_linear_case(64, 96, {1, 12, 40}),
          bf16_linear_case(33, 40, {1, 2, 3, 5, 12, 13, 31}),
          bf16_linear_case(600, 40, {1, 5, 13}),
          bf16_linear_case(1, 1, {1, 13}),
          bf16_batched_case(),
          bf16_gated_case(),
          bf16_of_f32_weights_case(34),
          bf16_of_f32_weights_case(35)};
}

}  // namespace tenon::kernel_test
