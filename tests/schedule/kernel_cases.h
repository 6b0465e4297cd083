// Lowered kernels as text, with the extents to run them at: what the tests of the schedule and of
// the code generator share. Each is there for one structure a schedule has to find.
#pragma once

#include <fmt/format.h>

#include <map>
#include <ostream>
#include <string>
#include <utility>
#include <vector>

namespace tenon::kernel_test {

using Extents = std::map<std::string, int64_t>;

struct Case {
  std::string name;
  std::string text;
  std::vector<Extents> runs;
  std::pair<int64_t, int64_t> indices = {-4, 4};  // integer buffers hold these, ends included
};
inline void PrintTo(const Case& test, std::ostream* stream) { *stream << test.name; }

inline std::vector<Extents> product(const std::string& a, std::vector<int64_t> as,
                                    const std::string& b, const std::vector<int64_t>& bs) {
  std::vector<Extents> runs;
  for (const int64_t x : as) {
    for (const int64_t y : bs) runs.push_back({{a, x}, {b, y}});
  }
  return runs;
}

inline std::vector<Extents> each(const std::string& name, const std::vector<int64_t>& values) {
  std::vector<Extents> runs;
  for (const int64_t value : values) runs.push_back({{name, value}});
  return runs;
}

inline std::vector<Case> elementwise_cases() {
  return {
      {"BroadcastRow", R"(kernel add lowered dims m: 1..4096, n: 1..4096
  buffer x: f32[m*n] global argument 0
  buffer v: f32[n] global argument 1
  buffer y: f32[m*n] global argument 2 written
  parallel i in m
    parallel j in n
      y[i*n + j] = fma(x[i*n + j], f32(2), v[j])
)",
       product("m", {1, 3, 50}, "n", {1, 15, 16, 17, 40})},
      {"FlatGelu", R"(kernel gelu lowered dims n: 1..65536
  buffer x: f32[n] global argument 0
  buffer y: f32[n] global argument 1 written
  parallel i in n
    y[i] = mul(mul(x[i], f32(0.5)), add(f32(1), erf(mul(x[i], f32(0.7071067811865476)))))
)",
       each("n", {1, 7, 16, 33, 16384, 16385, 33000})},
      {"Functions", R"(kernel functions lowered dims n: 1..65536
  buffer x: f32[n] global argument 0
  buffer y: f32[n] global argument 1 written
  parallel i in n
    y[i] = add(add(exp(mul(x[i], f32(40))), tanh(mul(x[i], f32(5)))), add(log(abs(x[i])), sqrt(neg(x[i]))))
)",
       each("n", {1, 16, 1000})},
      {"Integers", R"(kernel integers lowered dims n: 1..65536
  buffer a: i64[n] global argument 0
  buffer b: i32[n] global argument 1
  buffer x: f32[n] global argument 2
  buffer y: i64[n] global argument 3 written
  parallel i in n
    y[i] = sub(max(mul(a[i], cast(i64, b[i])), index(i64, i)), cast(i64, mul(x[i], f32(9))))
)",
       each("n", {1, 17, 100})},
      {"Comparison", R"(kernel comparison lowered dims n: 1..65536
  buffer x: f32[n] global argument 0
  buffer z: f32[n] global argument 1
  buffer y: bool[n] global argument 2 written
  parallel i in n
    y[i] = or(lt(x[i], z[i]), and(le(f32(0.5), x[i]), not(in_range(i - 3, 5))))
)",
       each("n", {1, 17, 100})},
      {"Transpose", R"(kernel transpose lowered dims m: 1..4096, n: 1..4096
  buffer x: f32[m*n] global argument 0
  buffer y: f32[m*n] global argument 1 written
  parallel i in m
    parallel j in n
      y[i*n + j] = x[i + j*m]
)",
       product("m", {1, 5, 33}, "n", {1, 15, 33})},
      {"Concat", R"(kernel concat lowered dims m: 1..4096, n: 1..4096
  buffer a: f32[m*n] global argument 0
  buffer b: f32[m*5] global argument 1
  buffer y: f32[m*(n + 5)] global argument 2 written
  parallel i in m
    parallel j in n + 5
      y[i*n + i*5 + j] = select(in_range(j - n, 5), b[i*5 + j - n] if 0 <= j - n < 5, a[i*n + j] if 0 <= j < n)
)",
       product("m", {1, 6}, "n", {1, 11, 12, 40})},
  };
}

inline std::vector<Case> reduction_cases() {
  return {
      {"RowSum", R"(kernel sum lowered dims m: 1..4096, n: 1..4096
  buffer x: f32[m*n] global argument 0
  buffer y: f32[m] global argument 1 written
  parallel i in m
    y[i] = reduce_add(k in n, x[i*n + k])
)",
       product("m", {1, 3, 300}, "n", {1, 15, 16, 17, 100})},
      {"RowMax", R"(kernel max lowered dims m: 1..4096, n: 1..4096
  buffer x: f32[m*n] global argument 0
  buffer y: f32[m] global argument 1 written
  parallel i in m
    y[i] = neg(reduce_max(k in n, abs(x[i*n + k])))
)",
       product("m", {1, 3}, "n", {1, 15, 16, 17, 100})},
      {"IntegerSumAndMax", R"(kernel integer_sum lowered dims m: 1..4096, n: 1..4096
  buffer x: i64[m*n] global argument 0
  buffer y: i64[m] global argument 1 written
  parallel i in m
    y[i] = sub(reduce_add(k in n, x[i*n + k]), reduce_max(r in n, x[i*n + r]))
)",
       product("m", {1, 3}, "n", {1, 16, 37})},
      {"ColumnSum", R"(kernel column_sum lowered dims m: 1..4096, n: 1..4096
  buffer x: f32[m*n] global argument 0
  buffer y: f32[n] global argument 1 written
  parallel j in n
    y[j] = reduce_add(k in m, x[j + k*n])
)",
       product("m", {1, 18, 40}, "n", {1, 5, 33})},
      {"WholeSum", R"(kernel whole_sum lowered dims n: 1..65536
  buffer x: f32[n] global argument 0
  buffer y: f32[1] global argument 1 written
  y[0] = div(reduce_add(k in n, x[k]), index(f32, n))
)",
       each("n", {1, 17, 1000})},
      {"LayerNorm", R"(kernel layer_norm lowered dims m: 1..4096, n: 1..4096
  buffer mean: f32[1] register
  buffer rstd: f32[1] register
  buffer x: f32[m*n] global argument 0
  buffer scale: f32[n] global argument 1 constant
  buffer bias: f32[n] global argument 2 constant
  buffer y: f32[m*n] global argument 3 written
  parallel i in m
    mean[0] = div(reduce_add(a in n, x[i*n + a]), index(f32, n))
    %0(b in n) = sub(x[i*n + b], mean[0])
    rstd[0] = div(f32(1), sqrt(add(div(reduce_add(b in n, mul(%0, %0)), index(f32, n)), f32(1e-05))))
    parallel j in n
      y[i*n + j] = fma(mul(sub(x[i*n + j], mean[0]), rstd[0]), scale[j], bias[j])
)",
       product("m", {1, 3, 70}, "n", {1, 16, 40, 65})},
      {"Softmax", R"(kernel softmax lowered dims m: 1..4096, n: 1..65536
  buffer row: f32[n] scratch
  buffer max: f32[1] register
  buffer sum: f32[1] register
  buffer x: f32[m*n] global argument 0
  buffer y: f32[m*n] global argument 1 written
  parallel i in m
    parallel a in n
      row[a] = x[i + a*m]
    max[0] = reduce_max(b in n, row[b])
    parallel c in n
      row[c] = exp(sub(row[c], max[0]))
    sum[0] = reduce_add(d in n, row[d])
    parallel e in n
      y[i*n + e] = div(row[e], sum[0])
)",
       product("m", {1, 3, 40}, "n", {1, 15, 17, 100})},
  };
}

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
  buffer qs: f32[b*q*{row}] global argument 0
  buffer ks: f32[b*kv*{kv_row}] global argument 1
  buffer vs: f32[b*kv*{kv_row}] global argument 2
  buffer mask: f32[b*kv] global argument 3
  buffer y: f32[b*q*{row}] global argument 4 written
  flops b*kv*q*{flops}
  parallel i0 in b
    parallel i1 in {heads}
      parallel i2 in q
        max[0] = f32(-inf)
        sum[0] = f32(0)
        parallel d2 in {width}
          o[d2] = f32(0)
        loop kb in floordiv(kv + 63, 64)
          parallel c0 in 64
            s[c0] = reduce_fma(d0 in {width}, qs[d0 + i0*q*{row} + i1*{width} + i2*{row}], ks[c0*{kv_row} + d0 + i0*kv*{kv_row} + kb*{block} + {kv_head}*{width}] if 0 <= c0 + kb*64 < kv, f32(0))
          parallel c1 in 64
            s[c1] = select(in_range(c1 + kb*64, kv), add(mul(s[c1], f32(0.25)), mask[c1 + i0*kv + kb*64] if 0 <= c1 + kb*64 < kv), f32(-inf))
          next[0] = max(max[0], reduce_max(c2 in 64, s[c2]))
          base[0] = select(eq(next[0], f32(-inf)), f32(0), next[0])
          parallel c3 in 64
            s[c3] = exp(sub(s[c3], base[0]))
          decay[0] = exp(sub(max[0], base[0]))
          sum[0] = fma(sum[0], decay[0], reduce_add(c4 in 64, s[c4]))
          max[0] = next[0]
          parallel d1 in {width}
            o[d1] = reduce_fma(c5 in min(kv - kb*64, 64), s[c5], vs[c5*{kv_row} + d1 + i0*kv*{kv_row} + kb*{block} + {kv_head}*{width}], mul(o[d1], decay[0]))
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
  return {linear_case(33, 40, rows),  linear_case(7, 17, rows), linear_case(64, 96, {1, 12, 40}),
          linear_case(1, 1, {1, 13}), batched_case(),           attention_case(2, 2, 16),
          attention_case(4, 2, 32),   attention_case(2, 1, 80)};
}

inline std::vector<Case> gather_cases() {
  return {
      {"GatherRows",
       R"(kernel gather lowered dims n: 1..1024
  buffer table: f32[160] global argument 0 constant
  buffer ids: i64[n] global argument 1
  buffer y: f32[n*20] global argument 2 written
  parallel i in n
    let g in 8 of table = ids[i]
    parallel j in 20
      y[i*20 + j] = table[g*20 + j]
)",
       each("n", {1, 5, 40}),
       {-8, 7}},
      {"GatherElements",
       R"(kernel gather lowered dims n: 1..1024
  buffer table: f32[8] global argument 0 constant
  buffer ids: i64[n] global argument 1
  buffer y: f32[n] global argument 2 written
  parallel i in n
    let g in 8 of table = ids[i]
    y[i] = table[g]
)",
       each("n", {1, 5, 40}),
       {-8, 7}},
  };
}

inline std::vector<Case> all_cases() {
  std::vector<Case> all;
  for (auto& part : {elementwise_cases(), reduction_cases(), contraction_cases(), gather_cases()}) {
    all.insert(all.end(), part.begin(), part.end());
  }
  return all;
}

}  // namespace tenon::kernel_test
