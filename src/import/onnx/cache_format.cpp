// Numbers of 4 bits lie two in a byte, the first in the low half, each with 8 added.
#include "import/onnx/cache_format.h"

#include "import/onnx/compute.h"
#include "import/onnx/quantized.h"

namespace tenon::onnx {
namespace {

constexpr double kHalf = 8;  // what is added to a number of 4 bits

Value half_byte(Call& call, double value) { return call.g.scalar(DType::U8, value); }

Value packed(Call& call, Value codes) {
  graph::Graph& g = call.g;
  const auto part = [&](int first) {
    std::vector<Dim> starts(4, 0), extents = codes.shape().dims();
    starts[3] = first;
    extents[3] = quotient({extents[3]}, {2});
    return g.slice(codes, starts, extents, {1, 1, 1, 2});
  };
  return g.binary(Op::BitOr, part(0), g.binary(Op::ShiftLeft, part(1), half_byte(call, 4)));
}

Value unpacked(Call& call, Value bytes) {
  graph::Graph& g = call.g;
  std::vector<Dim> apart = bytes.shape().dims(), together = apart;
  apart.emplace_back(1);
  together[3] = together[3] * 2;
  Value low = g.binary(Op::BitAnd, bytes, half_byte(call, 15));
  Value high = g.binary(Op::ShiftRight, bytes, half_byte(call, 4));
  return g.reshape(g.concat({g.reshape(low, apart), g.reshape(high, apart)}, 4), together);
}

}  // namespace

CacheFormat cache_format(Call& call, std::string_view kind, Value past, Value scale) {
  const std::string_view mode = call.text(kind, "NONE");
  const int64_t bits = call.integer("kv_cache_bit_width", 0);
  if (mode == "NONE") {
    if (scale) throw user_error("a scale of the cache with {} NONE", kind);
    return {};
  }
  if (mode != "PER_TENSOR" && mode != "PER_CHANNEL") {
    throw user_error("{} must not be '{}'", kind, mode.substr(0, 64));
  }
  if (!scale || !past) throw unsupported_error("{} without a scale or a cache", kind);
  if (scale.shape().rank() != 4 && !scale.shape().elements().is_const(1)) {
    throw user_error("a scale {} of the cache", scale.type().to_string());
  }
  CacheFormat format{.stored = past.dtype(), .bits = bits == 0 ? 8 : bits};
  const bool known = format.bits == 4 ? format.stored == DType::U8
                                      : format.bits == 8 && (format.stored == DType::I8 ||
                                                             format.stored == DType::F8E4M3FN);
  if (!known) {
    throw unsupported_error("a cache of {} with kv_cache_bit_width {}", to_string(format.stored),
                            format.bits);
  }
  format.scale =
      as(call, scale.shape().rank() == 4 ? scale : call.g.reshape(scale, {}), DType::F32);
  return format;
}

Value CacheFormat::store(Call& call, Value real) const {
  if (!scale) return real;
  Value quotient = call.g.div(as(call, real, DType::F32), scale);
  if (bits == 8) return quantized(call, quotient, {.dtype = stored, .zero = {}});
  Value code = clamped(call, call.g.unary(Op::Round, quotient), -kHalf, kHalf - 1);
  code = call.g.add(code, number_like(call, code, kHalf));
  return packed(call, call.g.cast(code, DType::U8));
}

Value CacheFormat::restore(Call& call, Value cache, DType dtype) const {
  if (!scale) return cache;
  Value code = as(call, bits == 8 ? cache : unpacked(call, cache), DType::F32);
  if (bits == 4) code = call.g.sub(code, number_like(call, code, kHalf));
  return as(call, call.g.mul(code, scale), dtype);
}

}  // namespace tenon::onnx
