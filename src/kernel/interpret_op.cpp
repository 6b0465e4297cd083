// The meaning of every scalar op, once per kind of number: f32, f64, integers that wrap at their
// width. Written apart from any generator, because generated code is compared with it.
#include <bit>
#include <cmath>
#include <cstring>

#include "base/error.h"
#include "kernel/dot2.h"
#include "kernel/dot4.h"
#include "kernel/interpret_code.h"

namespace tenon::kernel {
namespace {

Value of(float f) { return {.f = f}; }
Value of(double d) { return {.d = d}; }
Value of(int64_t i) { return {.i = i}; }
Value of(bool b) { return {.i = b ? 1 : 0}; }

[[noreturn]] void undefined(Op op, DType dtype) {
  throw internal_error("[interpret] {} is not defined on {}", info(op).text, to_string(dtype));
}

template <typename T>
T pow2(T x) {
  if (std::isnan(x)) return x;
  if (x == T{-127}) return T{0};
  return std::ldexp(T{1}, static_cast<int>(std::fmin(std::fmax(x, T{-2000}), T{2000})));
}

template <typename T>
Value apply_float(Op op, DType dtype, T a, T b, T c) {
  switch (op) {
    case Op::Neg:
      return of(-a);
    case Op::Abs:
      return of(std::fabs(a));
    case Op::Sqrt:
      return of(std::sqrt(a));
    case Op::Round:
      return of(std::nearbyint(a));
    case Op::Floor:
      return of(std::floor(a));
    case Op::Pow2:
      return of(pow2(a));
    case Op::Scale:
      return of(std::isnan(b) ? a : std::scalbn(a, static_cast<int>(b)));
    case Op::Exponent:
      return of(static_cast<T>(std::ilogb(a)));
    case Op::Mantissa:
      return of(std::scalbn(std::fabs(a), -std::ilogb(a)));
    case Op::Add:
      return of(a + b);
    case Op::Sub:
      return of(a - b);
    case Op::Mul:
      return of(a * b);
    case Op::Div:
      return of(a / b);
    case Op::Min:
      return of(a < b ? a : b);
    case Op::Max:
      return of(a > b ? a : b);
    case Op::Equal:
      return of(a == b);
    case Op::Less:
      return of(a < b);
    case Op::LessEqual:
      return of(a <= b);
    case Op::Fma:
      return of(std::fma(a, b, c));
    default:
      undefined(op, dtype);
  }
}

// Bits of an f32, also where x is not normal: what a generator computes with shifts.
Value apply_f32_bits(Op op, float x) {
  const auto bits = std::bit_cast<uint32_t>(x);
  if (op == Op::Exponent) return of(static_cast<float>(int((bits >> 23) & 255) - 127));
  return of(std::bit_cast<float>((bits & 0x7fffffu) | 0x3f800000u));
}

int64_t wrap(DType dtype, uint64_t bits) {
  const int unused = 64 - info(dtype).bits;
  if (info(dtype).kind == DTypeKind::Signed) {
    return static_cast<int64_t>(bits << unused) >> unused;
  }
  return static_cast<int64_t>(bits << unused >> unused);
}

int64_t divide(DType dtype, int64_t a, int64_t b) {
  if (b == 0) return 0;
  if (dtype == DType::U64) return static_cast<int64_t>(uint64_t(a) / uint64_t(b));
  return b == -1 ? wrap(dtype, 0 - uint64_t(a)) : a / b;
}

bool is_less(DType dtype, int64_t a, int64_t b) {
  return dtype == DType::U64 ? uint64_t(a) < uint64_t(b) : a < b;
}

Value apply_integer(Op op, DType dtype, int64_t a, int64_t b, int64_t c) {
  const auto wrapped = [&](uint64_t bits) { return of(wrap(dtype, bits)); };
  switch (op) {
    case Op::Neg:
      return wrapped(0 - uint64_t(a));
    case Op::Abs:
      return is_less(dtype, a, 0) ? wrapped(0 - uint64_t(a)) : of(a);
    case Op::Add:
      return wrapped(uint64_t(a) + uint64_t(b));
    case Op::Sub:
      return wrapped(uint64_t(a) - uint64_t(b));
    case Op::Mul:
      return wrapped(uint64_t(a) * uint64_t(b));
    case Op::Div:
      return of(divide(dtype, a, b));
    case Op::Min:
      return of(is_less(dtype, a, b) ? a : b);
    case Op::Max:
      return of(is_less(dtype, b, a) ? a : b);
    case Op::Equal:
      return of(a == b);
    case Op::Less:
      return of(is_less(dtype, a, b));
    case Op::LessEqual:
      return of(!is_less(dtype, b, a));
    case Op::Not:
      return of(a == 0);
    case Op::And:
      return of(a != 0 && b != 0);
    case Op::Or:
      return of(a != 0 || b != 0);
    case Op::BitAnd:
      return of(a & b);
    case Op::BitOr:
      return of(a | b);
    case Op::BitXor:
      return of(a ^ b);
    case Op::ShiftLeft:
      return wrapped(uint64_t(a) << (b & (info(dtype).bits - 1)));
    case Op::ShiftRight: {
      const int64_t by = b & (info(dtype).bits - 1);
      return of(dtype == DType::U64 ? static_cast<int64_t>(uint64_t(a) >> by) : a >> by);
    }
    case Op::Fma:
      return wrapped(uint64_t(a) * uint64_t(b) + uint64_t(c));
    default:
      undefined(op, dtype);
  }
}

}  // namespace

void put_element(DType dtype, void* element, Value value) {
  if (dtype == DType::F32) {  // the usual one: a copy of known size
    std::memcpy(element, &value, 4);
  } else {
    std::memcpy(element, &value, static_cast<size_t>(size_of(dtype)));  // little-endian
  }
}

Value take_element(DType dtype, const void* element) {
  Value value{.i = 0};
  if (dtype == DType::F32) {
    std::memcpy(&value, element, 4);
  } else if (is_float(dtype)) {
    std::memcpy(&value, element, static_cast<size_t>(size_of(dtype)));
  } else {
    value.i = load_as_i64(dtype, element);
    if (dtype == DType::Bool) value.i = value.i != 0 ? 1 : 0;
  }
  return value;
}

Value apply(Op op, DType dtype, Value a, Value b, Value c) {
  if (!is_computed(dtype)) undefined(op, dtype);
  if (op == Op::Dot2) return of(dot2(static_cast<uint32_t>(a.i), static_cast<uint32_t>(b.i), c.f));
  if (op == Op::Dot4) {
    return of(int64_t{
        dot4(static_cast<uint32_t>(a.i), static_cast<uint32_t>(b.i), static_cast<int32_t>(c.i))});
  }
  if (dtype == DType::F32 && (op == Op::Exponent || op == Op::Mantissa)) {
    return apply_f32_bits(op, a.f);
  }
  if (dtype == DType::F32) return apply_float(op, dtype, a.f, b.f, c.f);
  if (dtype == DType::F64) return apply_float(op, dtype, a.d, b.d, c.d);
  return apply_integer(op, dtype, a.i, b.i, c.i);
}

// By way of the element conversions that types defines, which round once.
Value convert(DType from, DType to, Value value) {
  alignas(8) std::byte element[8];
  if (is_float(from)) {
    put_element(from, element, value);
    store_from_f64(to, element, load_as_f64(from, element));
  } else if (from == DType::U64 && is_float(to)) {
    const auto number = static_cast<uint64_t>(value.i);
    if (to == DType::F32) return of(static_cast<float>(number));
    return value_of(to, static_cast<double>(number));
  } else {
    store_from_i64(to, element, value.i);
  }
  return take_element(to, element);
}

Value reinterpret(DType from, DType to, Value value) {
  alignas(8) std::byte element[8];
  put_element(from, element, value);
  return take_element(to, element);
}

Value value_of(DType dtype, double number) {
  if (dtype == DType::U64 && number >= 0x1p63) {
    return of(static_cast<int64_t>(static_cast<uint64_t>(number)));
  }
  alignas(8) std::byte element[8];
  store_from_f64(dtype, element, number);
  return take_element(dtype, element);
}

Value combine_lanes(Op op, DType dtype, Value* lanes) {
  for (int64_t half = kLaneCount / 2; half > 0; half /= 2) {
    for (int64_t i = 0; i < half; ++i) lanes[i] = apply(op, dtype, lanes[i], lanes[i + half], {});
  }
  return lanes[0];
}

}  // namespace tenon::kernel
