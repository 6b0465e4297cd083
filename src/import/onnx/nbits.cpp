// Codes become real numbers in f32: (code - zero) * scale, block by block.
#include "import/onnx/nbits.h"

#include "import/onnx/compute.h"

namespace tenon::onnx {
namespace {

constexpr int64_t kMostExtent = int64_t{1} << 28;  // so that no product of two overflows

int64_t blocks_of(const BlockedWeights& w) { return (w.columns + w.block - 1) / w.block; }

void check(const BlockedWeights& w) {
  check_bits(w.bits);
  const auto fits = [](int64_t extent) { return extent > 0 && extent <= kMostExtent; };
  if (!fits(w.rows) || !fits(w.columns) || !fits(w.block) || w.block % 8 != 0) {
    throw user_error("K={}, N={}, block_size={} are no shape", w.columns, w.rows, w.block);
  }
  if (w.codes.dtype() != DType::U8) {
    throw user_error("packed weights must be u8, not {}", w.codes.type().to_string());
  }
  if (!is_float(w.scales.dtype())) {
    throw user_error("scales must be floats, not {}", w.scales.type().to_string());
  }
}

// f32[rows, blocks], or a scalar.
Value zero_points(Call& call, const BlockedWeights& w) {
  graph::Graph& g = call.g;
  const int64_t blocks = blocks_of(w);
  Value given = w.zeros;
  if (!given) return g.scalar(DType::F32, static_cast<double>(int64_t{1} << (w.bits - 1)));
  if (given.dtype() == DType::U8) {
    const int64_t bytes = (blocks * w.bits + 7) / 8;
    given =
        first_columns(call, unpacked_bits(call, g.reshape(given, {w.rows, bytes}), w.bits), blocks);
  }
  return as(call, g.reshape(given, {w.rows, blocks}), DType::F32);
}

}  // namespace

void check_bits(int64_t bits) {
  if (bits != 2 && bits != 4 && bits != 8) throw unsupported_error("{} bits per weight", bits);
}

Value unpacked_bits(Call& call, Value packed, int64_t bits) {
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

Value first_columns(Call& call, Value matrix, const Dim& columns) {
  return call.g.slice(matrix, {0, 0}, {matrix.shape()[0], columns}, {1, 1});
}

Value real_weights(Call& call, const BlockedWeights& w) {
  graph::Graph& g = call.g;
  check(w);
  const int64_t blocks = blocks_of(w), bytes = blocks * w.block / 8 * w.bits;
  Value codes = unpacked_bits(call, g.reshape(w.codes, {w.rows, bytes}), w.bits);
  Value scales = as(call, g.reshape(w.scales, {w.rows, blocks}), DType::F32);
  Value zeros = zero_points(call, w);
  if (w.groups) {
    if (w.groups.shape().rank() != 1 || !is_integer(w.groups.dtype())) {
      throw user_error("g_idx must be an integer vector, not {}", w.groups.type().to_string());
    }
    Value groups = g.slice(w.groups, {0}, {w.columns}, {1});
    Value real = g.cast(first_columns(call, codes, w.columns), DType::F32);
    if (w.zeros) zeros = g.gather(zeros, groups, 1);
    return g.mul(g.sub(real, zeros), g.gather(scales, groups, 1));
  }
  if (w.zeros) zeros = g.reshape(zeros, {w.rows, blocks, 1});
  Value real = g.cast(g.reshape(codes, {w.rows, blocks, w.block}), DType::F32);
  real = g.mul(g.sub(real, zeros), g.reshape(scales, {w.rows, blocks, 1}));
  return first_columns(call, g.reshape(real, {w.rows, blocks * w.block}), w.columns);
}

}  // namespace tenon::onnx
