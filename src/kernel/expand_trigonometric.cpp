// sin, cos, tan and their inverses. f64. An angle is brought to |r| <= pi/4 by subtracting a
// multiple of pi/2 in three parts; an f32 too large for that is multiplied by those digits of 2/pi
// that its product with decides the angle (Payne and Hanek).
#include <limits>
#include <vector>

#include "kernel/expand_math.h"

namespace tenon::kernel {

namespace {

constexpr double kHalfPi[] = {0x1.921fb54442d18p+0, 0x1.1a62633145c07p-54, -0x1.f1976b7ed8fbcp-110};
constexpr double kMagic = 0x1.8p52;  // an integer added to it stands in the low bits

// x = k * pi/2 + r
struct Angle {
  ExprRef k, r;
};

Angle by_parts(const ExprRef& x) {
  const ExprRef k = pointwise(Op::Round, {x * f64(1 / kHalfPi[0])});
  ExprRef r = x;
  for (const double part : kHalfPi) r = fma(k, f64(-part), r);
  return {k, r};
}

// 2/pi in digits of 24 bits.
constexpr double kDigits[] = {0xa2f983, 0x6e4e44, 0x1529fc, 0x2757d1, 0xf534dd,
                              0xc0db62, 0x95993c, 0x439041, 0xfe5163};
constexpr double kBySubtraction = 0x1p28;  // up to here, by parts

// x = X * 2^(24 b) with X < 2^28. X times the digits before b - 1 are multiples of 4, which is a
// full turn; five digits are left to look at. All products are exact.
Angle by_digits(const ExprRef& x) {
  constexpr int kBlocks = 5, kUsed = 5;
  const ExprRef a = magnitude(x);
  ExprRef scale = f64(0x1p-24);
  std::vector<ExprRef> digits;
  for (int i = 0; i < kUsed; ++i) digits.push_back(f64(kDigits[i]));
  double first = 0x1p52, factor = 0x1p-48;
  for (int block = 1; block < kBlocks; ++block, first *= 0x1p24, factor *= 0x1p-24) {
    const ExprRef here = at_least(a, f64(first));
    scale = select(here, f64(factor), scale);
    for (int i = 0; i < kUsed; ++i) {
      ExprRef& digit = digits[static_cast<size_t>(i)];
      digit = select(here, f64(kDigits[block + i]), digit);
    }
  }
  const ExprRef scaled = a * scale;
  auto turns = [](const ExprRef& p) {  // p mod 4
    return fma(pointwise(Op::Floor, {p * f64(0.25)}), f64(-4), p);
  };
  const ExprRef sum = turns(scaled * digits[0]) + turns(scaled * digits[1] * f64(0x1p-24));
  const ExprRef third = scaled * digits[2] * f64(0x1p-48);
  const ExprRef rest = fma(scaled * digits[3], f64(0x1p-72), scaled * digits[4] * f64(0x1p-96));
  const ExprRef k = pointwise(Op::Round, {sum + third});
  const ExprRef r = (((sum - k) + third) + rest) * f64(kHalfPi[0]);
  const ExprRef negative = less(x, f64(0));
  return {select(negative, negate(k), k), select(negative, negate(r), r)};
}

Angle reduced(const ExprRef& x, bool single) {
  const Angle near = by_parts(x);
  if (!single) return near;
  const Angle far = by_digits(x);
  const ExprRef is_far = less(f64(kBySubtraction), magnitude(x));
  return {select(is_far, far.k, near.k), select(is_far, far.r, near.r)};
}

// (-1)^i / (2i + first)!, from i = 1.
std::vector<double> alternating(int first, int terms) {
  std::vector<double> c;
  double factorial = 1;
  for (int i = 1; i <= terms; ++i) {
    factorial *= (2 * i + first - 1) * (2 * i + first);
    c.push_back((i % 2 == 0 ? 1 : -1) / factorial);
  }
  return c;
}

// For |r| <= pi/4.
ExprRef short_sin(const ExprRef& r) {
  const ExprRef z = r * r;
  return fma(r * z, polynomial(z, alternating(1, 8)), r);
}
ExprRef short_cos(const ExprRef& r) {
  const ExprRef z = r * r;
  return fma(z, polynomial(z, alternating(0, 9)), f64(1));
}

ExprRef has_bit(const ExprRef& k, int bit) {
  const ExprRef bits = bit_cast(k + f64(kMagic), DType::U64);
  return pointwise(Op::Not, {equal(bit_and(bits, bit), number(bits, 0))});
}

// sin(r + k * pi/2)
ExprRef sin_of(const Angle& angle, const ExprRef& k) {
  const ExprRef y = select(has_bit(k, 1), short_cos(angle.r), short_sin(angle.r));
  return select(has_bit(k, 2), negate(y), y);
}

// (atan(t) / t - 1) / t^2 in t^2, for t <= tan(pi/8).
constexpr double kAtan[] = {-0x1.5555555555555p-2, 0x1.99999999996f7p-3,  -0x1.24924924799c7p-3,
                            0x1.c71c71b8fa647p-4,  -0x1.745d14edab33cp-4, 0x1.3b13722cf2d29p-4,
                            -0x1.110ca70ca9544p-4, 0x1.e17595164e954p-5,  -0x1.ab9261037deb5p-5,
                            0x1.713ac87c237d0p-5,  -0x1.12dda116712dbp-5, 0x1.f457fa2a77138p-7};
// (asin(t) / t - 1) / t^2 in t^2, for t <= 1/2.
constexpr double kAsin[] = {0x1.5555555555570p-3, 0x1.333333332eb67p-4, 0x1.6db6db71b6ed9p-5,
                            0x1.f1c71aaf96ccep-6, 0x1.6e8bdc8f398e0p-6, 0x1.1c4a117284e1dp-6,
                            0x1.ca1d17f223b5ep-7, 0x1.759558753ddaep-7, 0x1.60f84d7d9f5e6p-7,
                            0x1.e8f4d2ef43b09p-9, 0x1.62f8fbbeade1fp-6, -0x1.576d78d29d12fp-6,
                            0x1.0b3215c72c74bp-5};

// What asin and acos share. Above 1/2: asin(a) = pi/2 - 2 asin(sqrt((1 - a) / 2)).
struct Arc {
  ExprRef above, angle;  // whether |x| > 1/2; asin of |x|, or of that square root
};
Arc arc_of(const ExprRef& x) {
  const ExprRef a = magnitude(x), above = less(f64(0.5), a);
  const ExprRef z = select(above, (f64(1) - a) * f64(0.5), a * a);
  const ExprRef t = select(above, pointwise(Op::Sqrt, {z}), a);
  return {above, fma(t * z, polynomial(z, kAsin), t)};
}

}  // namespace

ExprRef sin_f64(const ExprRef& x, bool single) {
  const Angle angle = reduced(x, single);
  return select(equal(x, f64(0)), x, sin_of(angle, angle.k));
}

ExprRef cos_f64(const ExprRef& x, bool single) {
  const Angle angle = reduced(x, single);
  return sin_of(angle, angle.k + f64(1));
}

ExprRef tan_f64(const ExprRef& x, bool single) {
  const Angle angle = reduced(x, single);
  const ExprRef odd = has_bit(angle.k, 1);
  const ExprRef sine = short_sin(angle.r), cosine = short_cos(angle.r);
  const ExprRef y = select(odd, negate(cosine), sine) / select(odd, sine, cosine);
  return select(equal(x, f64(0)), x, y);
}

ExprRef asin_f64(const ExprRef& x) {
  const Arc arc = arc_of(x);
  const ExprRef large = fma(arc.angle, f64(-2), f64(kHalfPi[1])) + f64(kHalfPi[0]);
  return with_sign_of(x, select(arc.above, large, arc.angle));
}

ExprRef acos_f64(const ExprRef& x) {
  const Arc arc = arc_of(x);
  const ExprRef negative = less(x, f64(0));
  const ExprRef small =
      f64(kHalfPi[0]) - (select(negative, negate(arc.angle), arc.angle) - f64(kHalfPi[1]));
  const ExprRef twice = arc.angle + arc.angle;
  const ExprRef large =
      select(negative, f64(2 * kHalfPi[0]) - (twice - f64(2 * kHalfPi[1])), twice);
  return select(arc.above, large, small);
}

// Above 1 by 1/x; then, above tan(pi/8), relative to pi/4.
ExprRef atan_f64(const ExprRef& x) {
  constexpr double kTanOfEighth = 0x1.a827999fcef32p-2;
  const ExprRef a = magnitude(x), above = less(f64(1), a);
  const ExprRef u = select(above, f64(1) / a, a);
  const ExprRef middle = less(f64(kTanOfEighth), u);
  const ExprRef t = select(middle, (u - f64(1)) / (u + f64(1)), u), z = t * t;
  const ExprRef low = select(middle, f64(kHalfPi[1] / 2), f64(0));
  const ExprRef base = select(middle, f64(kHalfPi[0] / 2), f64(0));
  const ExprRef y = base + (fma(t * z, polynomial(z, kAtan), t) + low);
  const ExprRef turned = f64(kHalfPi[0]) - (y - f64(kHalfPi[1]));
  return with_sign_of(x, select(above, turned, y));
}

}  // namespace tenon::kernel
