// Importers of products with, and lookups in, weights of a few bits (domain com.microsoft).
#include <algorithm>

#include "import/onnx/compute.h"
#include "import/onnx/importers.h"
#include "import/onnx/nbits.h"
#include "import/onnx/ops/microsoft.h"
#include "import/onnx/ops/quantize.h"
#include "import/onnx/quantized.h"

namespace tenon::onnx::importers {

Results matmul_nbits(Call& call) {
  BlockedWeights w{.rows = call.integer("N"),
                   .columns = call.integer("K"),
                   .bits = call.integer("bits", 4),
                   .block = call.integer("block_size"),
                   .codes = call.in(1),
                   .scales = call.in(2),
                   .zeros = call.maybe(3),
                   .groups = call.maybe(4)};
  call.integer("accuracy_level", 0);  // a hint about speed
  if (call.integer("weight_prepacked", 0) != 0) {
    throw unsupported_error("weights prepacked for a GPU (weight_prepacked)");
  }
  Value a = call.in(0), weights = real_weights(call, w);
  Value result = matmul_of(call, as(call, a, DType::F32), call.g.transpose(weights, {1, 0}));
  if (Value bias = call.maybe(5)) result = call.g.add(result, as(call, bias, DType::F32));
  return {as(call, result, a.dtype())};
}

namespace {

// What a code of 4 bits stands for, in parts of a block's greatest magnitude. The eight that follow
// in fp4 are these with the sign turned.
constexpr float kFp4[] = {0, 0.00520833333f, 0.66666667f, 1, 0.33333333f, 0.5f, 0.16666667f, 0.25f};
constexpr float kNf4[] = {-1.0f,
                          -0.6961928009986877f,
                          -0.5250730514526367f,
                          -0.39491748809814453f,
                          -0.28444138169288635f,
                          -0.18477343022823334f,
                          -0.09105003625154495f,
                          0.0f,
                          0.07958029955625534f,
                          0.16093020141124725f,
                          0.24611230194568634f,
                          0.33791524171829224f,
                          0.44070982933044434f,
                          0.5626170039176941f,
                          0.7229568362236023f,
                          1.0f};

Value code_table(Call& call, int64_t kind) {
  if (kind != 0 && kind != 1) throw user_error("quant_type {} is unknown", kind);
  std::vector<float> values(std::begin(kNf4), std::end(kNf4));
  for (size_t i = 0; kind == 0 && i < 16; ++i) values[i] = i < 8 ? kFp4[i] : -kFp4[i - 8];
  return call.g.constant({{16}, DType::F32}, {std::as_bytes(std::span(values)), nullptr});
}

// [bytes] as [2 * bytes], the high half of a byte first.
Value halves(Call& call, Value bytes) {
  graph::Graph& g = call.g;
  const Dim count = bytes.shape()[0];
  Value high = g.binary(Op::ShiftRight, bytes, g.scalar(DType::U8, 4));
  Value low = g.binary(Op::BitAnd, bytes, g.scalar(DType::U8, 15));
  Value pairs = g.concat({g.reshape(high, {count, 1}), g.reshape(low, {count, 1})}, 1);
  return g.reshape(pairs, {count * 2});
}

}  // namespace

Results matmul_bnb4(Call& call) {
  graph::Graph& g = call.g;
  constexpr int64_t kMost = int64_t{1} << 28;
  const int64_t n = call.integer("N"), k = call.integer("K");
  int64_t block = call.integer("block_size");
  const bool transposed = call.flag("transB", true);
  call.flag("training_mode", false);  // what is kept for a gradient
  Value a = call.in(0), bytes = call.in(1), largest = call.in(2);
  if (n < 1 || k < 1 || block < 1 || n > kMost || k > kMost || block > kMost) {
    throw user_error("K={}, N={}, block_size={} are no shape", k, n, block);
  }
  if (bytes.dtype() != DType::U8) throw user_error("weights must be u8");
  const int64_t count = n * k;
  block = std::min(block, count);  // one for all, and no more memory than that
  const int64_t blocks = (count + block - 1) / block;
  Value codes = halves(call, g.reshape(bytes, {(count + 1) / 2}));
  Value real = g.gather(code_table(call, call.integer("quant_type")),
                        g.cast(g.slice(codes, {0}, {count}, {1}), DType::I32), 0);
  Value scale = as(call, g.reshape(largest, {blocks, 1}), DType::F32);
  scale = g.reshape(g.expand(scale, {blocks, block}), {blocks * block});
  Value weights = g.reshape(g.mul(real, g.slice(scale, {0}, {count}, {1})), {n, k});
  if (transposed) weights = g.transpose(weights, {1, 0});
  return {as(call, matmul_of(call, as(call, a, DType::F32), weights), a.dtype())};
}

// Rows are gathered as they are stored, and only those become real.
Results gather_block_quantized(Call& call) {
  graph::Graph& g = call.g;
  Value data = call.in(0), indices = call.in(1), scales = call.in(2), zeros = call.maybe(3);
  const int rank = data.shape().rank();
  const int64_t bits = call.integer("bits", 4), block = call.integer("block_size", 128);
  const int64_t gathered = Call::axis_of(call.integer("gather_axis", 0), rank);
  int64_t blocked = Call::axis_of(call.integer("quantize_axis", 1), rank);
  if (block < 1 || block > (int64_t{1} << 28)) throw unsupported_error("a block_size of {}", block);
  if (gathered == blocked) throw unsupported_error("a gather along the axis of the blocks");
  if (scales.shape().rank() != rank || (zeros && zeros.shape().rank() != rank)) {
    throw user_error("{} with scales {}", data.type().to_string(), scales.type().to_string());
  }
  const auto rows = [&](Value x) { return x ? g.gather(x, indices, gathered) : x; };
  Value codes = rows(data), scale = rows(scales), zero = rows(zeros);
  if (blocked > gathered) blocked += indices.shape().rank() - 1;
  if (data.dtype() == DType::U8) {
    check_bits(bits);
    codes = unpacked_bits(call, codes, bits);
    if (zero) {
      zero = unpacked_bits(call, zero, bits);
      std::vector<Dim> extents = scale.shape().dims(), starts(extents.size(), 0);
      zero = g.slice(zero, starts, extents, std::vector<int64_t>(extents.size(), 1));
    }
  }
  const Granularity granularity{blocked, block};
  scale = spread_parameter(call, scale, codes, granularity);
  if (zero) zero = spread_parameter(call, zero, codes, granularity);
  if (!zero && data.dtype() == DType::U8) {
    zero = g.scalar(DType::U8, static_cast<double>(int64_t{1} << (bits - 1)));
  }
  return {as(call, dequantized(call, codes, scale, zero), scales.dtype())};
}

}  // namespace tenon::onnx::importers
