// Lowered contractions and attention, and the list of all cases.
#pragma once

#include "tests/schedule/kernel_cases.h"

namespace tenon::kernel_test {

// y[m, n] = gelu(x[m, depth] * w[depth, n] + bias) + residual.
inline Case linear_case(int64_t depth, int64_t n, std::vector<int64_t> rows) {
  return {fmt::format("Linear{}x{}", depth, n),
          fmt::format(R"(kernel linear lowered dims m: 1..65536
  buffer x: f32[m*{0}] global argument 0
  buffer w: f32[{2}] global argument 1 constant
  buffer v: f32[{1}] global argument 2 constant
  buffer r: f32[m*{1}] global argument 3
  buffer y: f32[m*{1}] global argument 4 written
  flops m*{3}
  parallel i in m
    parallel j in {1}
      %0 = add(reduce_fma(k in {0}, x[i*{0} + k], w[j + k*{1}], f32(0)), v[j])
      y[i*{1} + j] = add(mul(mul(%0, f32(0.5)), add(f32(1), erf(mul(%0, f32(0.7071067811865476))))), r[i*{1} + j])
)",
                      depth, n, depth * n, depth * n * 2),
          each("m", rows)};
}

// Of 8-bit integers, added as i32.
inline Case integer_linear_case(int64_t depth, int64_t n, std::vector<int64_t> rows) {
  return {fmt::format("Integer{}x{}", depth, n),
          fmt::format(R"(kernel linear lowered dims m: 1..65536
  buffer x: i8[m*{0}] global argument 0
  buffer w: i8[{2}] global argument 1 constant
  buffer y: i32[m*{1}] global argument 2 written
  flops m*{3}
  parallel i in m
    parallel j in {1}
      y[i*{1} + j] = reduce_fma(k in {0}, cast(i32, x[i*{0} + k]), cast(i32, w[j + k*{1}]), i32(0))
)",
                      depth, n, depth * n, depth * n * 2),
          each("m", rows)};
}

// y[m, n] = silu(scale * (x * gate) + b) * (scale * (x * up)): two contractions in one value.
inline Case gated_case(int64_t depth, int64_t n, std::vector<int64_t> rows) {
  return {fmt::format("Gated{}x{}", depth, n),
          fmt::format(R"(kernel gated lowered dims m: 1..65536
  buffer x: f32[m*{0}] global argument 0
  buffer gate: f32[{2}] global argument 1 constant
  buffer up: f32[{2}] global argument 2 constant
  buffer b: f32[{1}] global argument 3 constant
  buffer scale: f32[m] global argument 4
  buffer y: f32[m*{1}] global argument 5 written
  flops m*{3}
  parallel i in m
    parallel j in {1}
      %0 = fma(reduce_fma(k in {0}, x[i*{0} + k], gate[j + k*{1}], f32(0)), scale[i], b[j])
      %1 = mul(reduce_fma(k in {0}, x[i*{0} + k], up[j*{0} + k], f32(0)), scale[i])
      y[i*{1} + j] = mul(div(%0, add(f32(1), exp(neg(%0)))), %1)
)",
                      depth, n, depth * n, depth * n * 4),
          each("m", rows)};
}

// The right operand is found at run time, transposed, with as many columns as the run says.
inline Case batched_case() {
  return {"BatchedTransposed",
          R"(kernel batched lowered dims b: 1..64, m: 1..512, n: 1..512
  buffer x: f32[b*m*13] global argument 0
  buffer z: f32[b*n*13] global argument 1
  buffer y: f32[b*m*n] global argument 2 written
  parallel h in b
    parallel i in m
      parallel j in n
        y[h*m*n + i*n + j] = mul(reduce_fma(k in 13, x[h*m*13 + i*13 + k], z[h*n*13 + j*13 + k], f32(0)), f32(0.5))
)",
          {{{"b", 1}, {"m", 1}, {"n", 1}},
           {{"b", 2}, {"m", 5}, {"n", 17}},
           {{"b", 3}, {"m", 13}, {"n", 33}},
           {{"b", 2}, {"m", 30}, {"n", 70}}}};
}

// Online softmax over blocks of 64 keys: q[b, q, heads*width], k and v[b, kv, kv_heads*width], an
// additive mask [b, kv].
inline Case attention_case(int64_t heads, int64_t kv_heads, int64_t width) {
  Case result{
      fmt::format("Attention{}Heads{}Width{}", heads, kv_heads, width),
      fmt::format(
          R"(kernel attention lowered dims b: 1..64, kv: 1..512, q: 1..512
  buffer max: f32[1] register
  buffer sum: f32[1] register
  buffer next: f32[1] register
  buffer base: f32[1] register
  buffer decay: f32[1] register
  buffer s: f32[64] stack
  buffer o: f32[{width}] stack
  buffer query: f32[{width}] stack
  buffer qs: f32[b*q*{row}] global argument 0
  buffer ks: f32[b*kv*{kv_row}] global argument 1
  buffer vs: f32[b*kv*{kv_row}] global argument 2
  buffer mask: f32[b*kv] global argument 3
  buffer y: f32[b*q*{row}] global argument 4 written
  flops b*kv*q*{flops}
  parallel i0 in b
    parallel i1 in {heads}
      parallel i2 in q
        parallel d4 in {width}
          query[d4] = mul(qs[d4 + i0*q*{row} + i1*{width} + i2*{row}], f32(0.25))
        max[0] = f32(-inf)
        sum[0] = f32(0)
        parallel d2 in {width}
          o[d2] = f32(0)
        loop kb in floordiv(kv + 63, 64)
          parallel c0 in 64
            s[c0] = reduce_fma(d0 in {width}, query[d0], ks[c0*{kv_row} + d0 + i0*kv*{kv_row} + kb*{block} + {kv_head}*{width}] if 0 <= c0 + kb*64 < kv, f32(0))
          parallel c1 in 64
            s[c1] = select(in_range(c1 + kb*64, kv), add(s[c1], mask[c1 + i0*kv + kb*64] if 0 <= c1 + kb*64 < kv), f32(-inf))
          next[0] = max(max[0], reduce_max(c2 in 64, s[c2]))
          base[0] = select(eq(next[0], f32(-inf)), f32(0), next[0])
          parallel c3 in 64
            s[c3] = exp(sub(s[c3], base[0]))
          decay[0] = exp(sub(max[0], base[0]))
          sum[0] = fma(sum[0], decay[0], reduce_add(c4 in 64, s[c4]))
          max[0] = next[0]
          parallel d1 in {width}
            o[d1] = reduce_fma(c5 in min(kv - kb*64, 64), s[c5], vs[c5*{kv_row} + d1 + i0*kv*{kv_row} + kb*{block} + {kv_head}*{width}] if 0 <= c5 + kb*64 < kv, mul(o[d1], decay[0]))
        parallel d3 in {width}
          y[d3 + i0*q*{row} + i1*{width} + i2*{row}] = select(eq(sum[0], f32(0)), f32(0), div(o[d3], sum[0]))
)",
          fmt::arg("heads", heads), fmt::arg("width", width), fmt::arg("row", heads * width),
          fmt::arg("kv_row", kv_heads * width), fmt::arg("block", kv_heads * width * 64),
          fmt::arg("flops", heads * width * 4),
          fmt::arg("kv_head",
                   kv_heads == heads ? "i1" : fmt::format("floordiv(i1, {})", heads / kv_heads))),
      {}};
  for (const int64_t kv : {1, 3, 63, 64, 65, 130}) {
    result.runs.push_back({{"b", 2}, {"kv", kv}, {"q", kv % 7 + 1}});
  }
  result.runs.push_back({{"b", 1}, {"kv", 5}, {"q", 110}});  // more queries than a block of rows
  return result;
}

inline std::vector<Case> contraction_cases() {
  const std::vector<int64_t> rows = {1, 2, 3, 5, 7, 11, 12, 13, 31, 100};
  return {linear_case(33, 40, rows),
          linear_case(7, 17, rows),
          linear_case(64, 96, {1, 12, 40}),
          linear_case(300, 40, {1, 5, 13}),
          linear_case(1, 1, {1, 13}),
          gated_case(33, 40, rows),
          gated_case(300, 64, {1, 5, 13}),
          batched_case(),
          integer_linear_case(130, 40, {1, 13}),
          attention_case(2, 2, 16),
          attention_case(4, 2, 32),
          attention_case(2, 1, 80)};
}

inline std::vector<Case> all_cases() {
  std::vector<Case> all;
  for (auto& part : {elementwise_cases(), reduction_cases(), contraction_cases(), general_cases(),
                     gather_cases()}) {
    all.insert(all.end(), part.begin(), part.end());
  }
  return all;
}

}  // namespace tenon::kernel_test
