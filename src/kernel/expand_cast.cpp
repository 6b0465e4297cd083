// Casts that no generator has, written with those that they have and with operations on bits, so
// that every machine gives the same bits. 16-bit floats are rounded from f32; what is wider is
// rounded to an odd f32 first, which keeps the second rounding from erring.
#include <limits>

#include "kernel/expand.h"

namespace tenon::kernel {

namespace {

constexpr double kInf = std::numeric_limits<double>::infinity();

bool is_narrow_integer(DType dtype) { return is_storage_only(dtype) && is_integer(dtype); }
// The dtype of a byte that holds an integer of 4 or 2 bits.
DType byte_of(DType dtype) { return info(dtype).kind == DTypeKind::Signed ? DType::I8 : DType::U8; }

ExprRef f32_of_bf16(const ExprRef& x) {
  return bit_cast(shift_left(cast(bit_cast(x, DType::U16), DType::U32), 16), DType::F32);
}

// To nearest even, by adding just less than half of the last place that stays. A NaN is made quiet
// and keeps the top of its payload.
ExprRef bf16_of_f32(const ExprRef& x) {
  const ExprRef bits = bit_cast(x, DType::U32), top = shift_right(bits, 16);
  const ExprRef rounded = shift_right(bits + number(bits, 0x7fff) + bit_and(top, 1), 16);
  const ExprRef result = select(equal(x, x), rounded, bit_or(top, number(top, 0x40)));
  return bit_cast(cast(result, DType::U16), DType::BF16);
}

ExprRef odd_f32_of_f64(const ExprRef& x) {
  const ExprRef nearest = cast(x, DType::F32), back = cast(nearest, DType::F64);
  const ExprRef bits = bit_cast(nearest, DType::U32);
  const ExprRef away = less(magnitude(x), magnitude(back));
  const ExprRef odd = bit_or(select(away, bits - number(bits, 1), bits), number(bits, 1));
  const ExprRef exact = pointwise(Op::Or, {equal(back, x), equal(magnitude(nearest), f32(kInf))});
  const ExprRef keep = pointwise(Op::Or, {exact, pointwise(Op::Not, {equal(x, x)})});
  return bit_cast(select(keep, bits, odd), DType::F32);
}

// An f64 of an i64: the bits that it has no room for become one, which it has.
ExprRef odd_f64_of_integer(const ExprRef& x) {
  constexpr int kDropped = 11;
  const ExprRef rest = bit_and(x, (1 << kDropped) - 1), zero = number(x, 0);
  const ExprRef sticky = select(equal(rest, zero), zero, number(x, 1 << kDropped));
  const ExprRef odd = bit_or(x - rest, sticky);
  const ExprRef limit = number(x, 0x1p53);
  const ExprRef small = pointwise(Op::LessEqual, {magnitude(x), limit});
  return cast(select(small, x, odd), DType::F64);
}

ExprRef narrow_integer(const ExprRef& x, DType to) {
  const DType byte = byte_of(to);
  const ExprRef low = cast(is_float(x->dtype) ? cast(x, DType::I64) : x, byte);
  const int unused = 8 - info(to).bits;
  return bit_cast(shift_right(shift_left(low, unused), unused), to);
}

}  // namespace

bool is_plain_cast(DType from, DType to) {
  const auto is_half = [](DType a, DType b) { return a == DType::F16 && b == DType::F32; };
  return (is_computed(from) && is_computed(to)) || is_half(from, to) || is_half(to, from);
}

bool is_plain_cast_on_gpu(DType from, DType to) {
  const auto is_bf16 = [](DType a, DType b) { return a == DType::BF16 && b == DType::F32; };
  return is_plain_cast(from, to) || is_bf16(from, to) || is_bf16(to, from);
}

ExprRef odd_f32(const ExprRef& x) {
  if (x->dtype == DType::F32) return x;
  if (x->dtype == DType::F64) return odd_f32_of_f64(x);
  if (info(x->dtype).bits <= 16) return cast(x, DType::F32);
  const bool wide = x->dtype == DType::I64;  // u64 goes through f64 as it is, as types does it
  return odd_f32_of_f64(wide ? odd_f64_of_integer(x) : cast(x, DType::F64));
}

ExprRef expand_cast(const ExprRef& x, DType to) {
  const DType from = x->dtype;
  if (from == to || is_plain_cast(from, to)) return cast(x, to);
  if (from == DType::F16) return expand_cast(cast(x, DType::F32), to);
  if (from == DType::BF16) return expand_cast(f32_of_bf16(x), to);
  if (is_narrow_integer(from)) return expand_cast(bit_cast(x, byte_of(from)), to);
  if (is_storage_only(from)) return expand_cast(decode_narrow(x), to);
  if (to == DType::F16) return cast(odd_f32(x), to);
  if (to == DType::BF16) return bf16_of_f32(odd_f32(x));
  return is_integer(to) ? narrow_integer(x, to) : encode_narrow(x, to, {});
}

}  // namespace tenon::kernel
