// MatMulNBits of com.microsoft: a @ transposed(B), where B [N, K] is stored in `bits` each, packed
// low bits first, with a scale per `block_size` of a row and a zero point that is packed too, or
// given as floats, or half the range where it is absent.
#include "import/onnx/compute.h"
#include "import/onnx/importers.h"
#include "import/onnx/ops/quantize.h"
#include "import/onnx/quantized.h"

namespace tenon::onnx::importers {
namespace {

// The last axis, `8 / bits` times as long.
Value unpacked(Call& call, Value packed, int64_t bits) {
  graph::Graph& g = call.g;
  const auto code = [&](int64_t value) { return g.scalar(DType::U8, static_cast<double>(value)); };
  std::vector<Dim> column = packed.shape().dims(), merged = column;
  column.emplace_back(1);
  std::vector<Value> parts;
  for (int64_t at = 0; at < 8; at += bits) {
    const Value shifted = g.binary(Op::ShiftRight, packed, code(at));
    const Value part = g.binary(Op::BitAnd, shifted, code((int64_t{1} << bits) - 1));
    parts.push_back(g.reshape(part, column));
  }
  merged.back() = merged.back() * (8 / bits);
  if (parts.size() == 1) return g.reshape(parts[0], merged);
  return g.reshape(g.concat(std::move(parts), static_cast<int64_t>(merged.size())), merged);
}

// The first `columns` of each row.
Value first_columns(Call& call, Value matrix, const Dim& columns) {
  return call.g.slice(matrix, {0, 0}, {matrix.shape()[0], columns}, {1, 1});
}

Value zero_points(Call& call, int64_t rows, int64_t blocks, int64_t bits) {
  graph::Graph& g = call.g;
  Value given = call.maybe(3);
  if (!given) return g.scalar(DType::F32, static_cast<double>(int64_t{1} << (bits - 1)));
  if (given.dtype() == DType::U8) {
    const int64_t bytes = (blocks * bits + 7) / 8;
    given = first_columns(call, unpacked(call, g.reshape(given, {rows, bytes}), bits), blocks);
  }
  return as(call, g.reshape(given, {rows, blocks, 1}), DType::F32);
}

}  // namespace

Results matmul_nbits(Call& call) {
  graph::Graph& g = call.g;
  const int64_t k = call.integer("K"), n = call.integer("N");
  const int64_t bits = call.integer("bits", 4), block = call.integer("block_size");
  call.integer("accuracy_level", 0);  // a hint about speed
  call.integer("weight_prepacked", 0);
  call.reject_input(4, "g_idx");
  if (bits != 2 && bits != 4 && bits != 8) throw unsupported_error("{} bits per weight", bits);
  if (k <= 0 || n <= 0 || block <= 0 || block % 8 != 0) {
    throw user_error("K={}, N={}, block_size={} are no shape", k, n, block);
  }
  const int64_t blocks = (k + block - 1) / block;
  Value a = call.in(0);
  Value codes =
      g.reshape(unpacked(call, g.reshape(call.in(1), {n, blocks * block / 8 * bits}), bits),
                {n, blocks, block});
  Value scales = as(call, g.reshape(call.in(2), {n, blocks, 1}), DType::F32);
  Value weights =
      g.mul(g.sub(g.cast(codes, DType::F32), zero_points(call, n, blocks, bits)), scales);
  weights = first_columns(call, g.reshape(weights, {n, blocks * block}), k);
  Value result = matmul_of(call, as(call, a, DType::F32), g.transpose(weights, {1, 0}));
  if (Value bias = call.maybe(5)) result = g.add(result, as(call, bias, DType::F32));
  return {as(call, result, a.dtype())};
}

}  // namespace tenon::onnx::importers
