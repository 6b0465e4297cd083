// Kernels in text that several tests use, each for one construct of the loop IR.
#pragma once

#include <string>

namespace tenon::kernel::texts {

// y = max(x, 0) for the first m elements of 16-element blocks: guards on both sides.
inline const std::string kGuarded = R"(kernel guarded scheduled dims m: 1..65536
  buffer x: f32[m] global argument 0
  buffer y: f32[m] global argument 1 written
  flops m
  bytes m*8
  thread t in floordiv(m + 15, 16)
    vector l in 16
      y[l + t*16] = max(x[l + t*16] if 0 <= l + t*16 < m, f32(0)) when 0 <= l + t*16 < m
)";

// Softmax over rows, as lowered: reductions as values, one shared node.
inline const std::string kSoftmax = R"(kernel softmax lowered dims m: 1..65536, n: 1..4096
  buffer x: f32[m*n] global argument 0
  buffer y: f32[m*n] global argument 1 written
  flops m*n*4
  bytes m*n*8
  parallel i in m
    parallel j in n
      %0 = reduce_max(k in n, x[i*n + k])
      y[i*n + j] = div(exp(sub(x[i*n + j], %0)), reduce_add(r in n, exp(sub(x[i*n + r], %0))))
)";

// y[m, 32] = relu(x[m, 8] * w[8, 32] + b[32]), as lowered.
inline const std::string kLinear = R"(kernel linear lowered dims m: 1..65536
  buffer x: f32[m*8] global argument 0
  buffer w: f32[256] global argument 1 constant
  buffer b: f32[32] global argument 2 constant
  buffer y: f32[m*32] global argument 3 written
  flops m*512
  bytes m*160 + 1152
  parallel i in m
    parallel j in 32
      y[i*32 + j] = max(reduce_fma(k in 8, x[i*8 + k], w[j + k*32], b[j]), f32(0))
)";

// The same, scheduled: a ladder of row counts, a specialized register tile, mma, an epilogue.
inline const std::string kLinearTiled = R"(kernel linear scheduled dims m: 1..65536
  buffer x: f32[m*8] global argument 0
  buffer w: f32[256] global argument 1 constant
  buffer b: f32[32] global argument 2 constant
  buffer y: f32[m*32] global argument 3 written
  buffer acc: f32[128] register
  buffer tile: f32[128] stack
  flops m*512
  bytes m*160 + 1152
  thread t in floordiv(m + 5, 6)
    ladder i in min(m - t*6, 6) rows r steps 4 2 1
      specialize r in 4 2 1
        unroll a in r
          unroll u in 2
            vector l in 16
              acc[a*32 + l + u*16] = b[l + u*16]
        loop k in 8
          mma row in r, col in 32: acc += outer(x[i*8 + k + row*8 + t*48], w[col + k*32])
        unroll c in r
          unroll v in 2
            vector q in 16
              tile[c*32 + q + v*16] = acc[c*32 + q + v*16]
      loop e in r
        unroll z in 2
          vector s in 16
            y[e*32 + i*32 + s + t*192 + z*16] = max(tile[e*32 + s + z*16], f32(0))
)";

// Rows of an 8-row table by index.
inline const std::string kGather = R"(kernel gather lowered dims n: 1..1024
  buffer table: f32[32] global argument 0 constant
  buffer ids: i64[n] global argument 1
  buffer y: f32[n*4] global argument 2 written
  flops 0
  bytes n*24
  parallel i in n
    let g in 8 of table = ids[i]
    parallel j in 4
      y[i*4 + j] = table[g*4 + j]
)";

// The sum of a row of n elements, scheduled: lane accumulators, then the tree.
inline const std::string kRowSum = R"(kernel row_sum scheduled dims n: 1..4096
  buffer x: f32[n] global argument 0
  buffer y: f32[1] global argument 1 written
  buffer lanes: f32[16] register
  flops n
  bytes n*4 + 4
  thread t in 1
    vector i in 16
      lanes[i] = f32(0)
    loop c in floordiv(n + 15, 16)
      vector l in 16
        lanes[l] = add(lanes[l], x[c*16 + l] if 0 <= c*16 + l < n)
    y[t] = lanes_add(lanes)
)";

}  // namespace tenon::kernel::texts
