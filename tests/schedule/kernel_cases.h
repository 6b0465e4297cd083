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
inline std::ostream& operator<<(std::ostream& stream, const Case& test) {
  return stream << test.name;
}

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
       product("m", {1, 5, 33}, "n", {1, 15, 33, 1100})},
      {"TransposeAndAdd", R"(kernel transpose lowered dims b: 1..64, m: 1..4096
  buffer x: f32[b*m*48] global argument 0
  buffer v: f32[48] global argument 1
  buffer y: f32[b*m*48] global argument 2 written
  parallel i in b
    parallel r in m
      parallel j in 48
        y[i*m*48 + r*48 + j] = add(max(x[i*m*48 + j*m + r], f32(0)), v[j])
)",
       product("b", {1, 2}, "m", {1, 16, 33})},
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
       product("m", {1, 18, 40, 64, 200}, "n", {1, 5, 33, 1024, 1100})},
      {"ColumnMaxOfBatches", R"(kernel column_max lowered dims b: 1..64, m: 1..4096
  buffer x: f32[b*m*40] global argument 0
  buffer w: f32[m] global argument 1
  buffer y: f32[b*40] global argument 2 written
  parallel i in b
    parallel j in 40
      y[i*40 + j] = sub(reduce_max(k in m, mul(x[i*m*40 + k*40 + j], w[k])), reduce_add(k in m, x[i*m*40 + k*40 + j]))
)",
       product("b", {1, 3}, "m", {1, 16, 37, 130})},
      // Functions and casts for which a C compiler would call a library.
      {"OneElement", R"(kernel one_element lowered dims n: 1..8
  buffer x: f64[1] global argument 0
  buffer h: f16[1] global argument 1
  buffer y: f64[1] global argument 2 written
  y[0] = add(mul(exp(x[0]), cast(f64, cast(f32, h[0]))), index(f64, n))
)",
       each("n", {1, 3})},
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

// What no schedule of its own has: it runs in order, with vectors where a loop allows them.
inline std::vector<Case> general_cases() {
  return {
      {"RowProduct", R"(kernel product lowered dims m: 1..4096, n: 1..4096
  buffer x: f32[m*n] global argument 0
  buffer y: f32[m] global argument 1 written
  parallel i in m
    y[i] = reduce_mul(k in n, x[i*n + k])
)",
       product("m", {1, 3}, "n", {1, 15, 16, 37})},
      {"ReductionOfReductions", R"(kernel nested lowered dims m: 1..4096, n: 1..4096
  buffer x: f32[m*n] global argument 0
  buffer y: f32[5] global argument 1 written
  parallel i in 5
    y[i] = reduce_max(r in m, mul(reduce_add(k in n, x[r*n + k]), index(f32, i + r)))
)",
       product("m", {1, 16, 21}, "n", {1, 17})},
      {"ContractionOfDoubles", R"(kernel matmul lowered dims m: 1..4096, n: 1..4096
  buffer x: f64[m*n] global argument 0
  buffer w: f64[n*7] global argument 1
  buffer y: f64[m*7] global argument 2 written
  parallel i in m
    parallel j in 7
      y[i*7 + j] = reduce_fma(k in n, x[i*n + k], w[j + k*7], f64(1))
)",
       product("m", {1, 5}, "n", {1, 128, 300})},
      {"RunningSum", R"(kernel scan lowered dims m: 1..4096, n: 1..4096
  buffer sum: f32[1] register
  buffer x: f32[m*n] global argument 0
  buffer y: f32[m*n] global argument 1 written
  parallel i in m
    sum[0] = f32(0)
    loop k in n
      sum[0] = add(sum[0], x[i*n + k])
      y[i*n + k] = sum[0]
)",
       product("m", {1, 300}, "n", {1, 20})},
      {"LoopOfAnExtentThatIsData", R"(kernel prefix lowered dims n: 1..1024
  buffer counts: i64[n] global argument 0
  buffer x: f32[160] global argument 1
  buffer y: f32[n*20] global argument 2 written
  parallel i in n
    let c in 20 = select(lt(counts[i], i64(0)), i64(3), counts[i])
    parallel j in 20
      y[i*20 + j] = f32(-1)
    loop k in c
      y[i*20 + k] = x[k*8 + c]
)",
       each("n", {1, 5, 40})},
      {"ScatterInVectors",
       R"(kernel scatter lowered dims n: 1..1024
  buffer order: i64[n] global argument 0
  buffer x: f32[n*9] global argument 1
  buffer y: f32[n*9] global argument 2 written
  parallel i in n
    let g in 9 of x = order[i]
    parallel j in 9
      y[i*9 + j] = f32(0)
    y[i*9 + g] = x[g*n + i] when 0 <= g - 2 < 6
)",
       each("n", {1, 5, 40}),
       {-9, 8}},
      {"LetsOfLanes",
       R"(kernel lanes lowered dims n: 1..1024
  buffer ids: i32[n] global argument 0
  buffer table: f32[72] global argument 1
  buffer flags: bool[9] global argument 2
  buffer y: f32[n*9] global argument 3 written
  buffer z: i64[n] global argument 4 written
  parallel i in n
    let g in 9 of table = ids[i] when 0 <= i - 1 < n
    let h in 9 = select(flags[g], index(i64, g), i64(4))
    y[i*9 + h] = table[g*8 + floordiv(h, 2)] if 0 <= h - 1 < 7
    z[i] = add(index(i64, g*h), cast(i64, in_range(g - h, 3)))
)",
       each("n", {1, 16, 40}),
       {-8, 7}},
  };
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

}  // namespace tenon::kernel_test
