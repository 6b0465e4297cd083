// Random numbers: Philox 4x32-10 of an element's position, with the token and the seed that the op
// carries (graph/evaluate_random.cpp is their meaning). 32-bit words are computed in u64, whose
// products hold both halves.
#include <cmath>
#include <numbers>

#include "lower/region.h"

namespace tenon::lower {

using namespace kernel;

namespace {

uint64_t low(uint64_t word) { return word & 0xffffffff; }

// FNV-1a.
uint64_t hash_of(std::string_view text) {
  uint64_t hash = 0xcbf29ce484222325;
  for (const char c : text) hash = (hash ^ static_cast<unsigned char>(c)) * 0x100000001b3;
  return hash;
}

ExprRef word(uint64_t value) { return constant(DType::U64, static_cast<double>(value)); }
ExprRef low(const ExprRef& x) { return pointwise(Op::BitAnd, {x, word(0xffffffff)}); }
ExprRef high(const ExprRef& x) { return pointwise(Op::ShiftRight, {x, word(32)}); }
ExprRef mix(const ExprRef& a, const ExprRef& b, uint64_t key) {
  return pointwise(Op::BitXor, {pointwise(Op::BitXor, {a, b}), word(key)});
}

struct Words {
  ExprRef w[4];
};

Words philox(Words counter, uint64_t seed) {
  uint64_t key[] = {low(seed), seed >> 32};
  for (int round = 0; round < 10; ++round) {
    const ExprRef a = word(0xD2511F53) * counter.w[0], b = word(0xCD9E8D57) * counter.w[2];
    counter = {
        {mix(high(b), counter.w[1], key[0]), low(b), mix(high(a), counter.w[3], key[1]), low(a)}};
    key[0] = low(key[0] + 0x9E3779B9);
    key[1] = low(key[1] + 0xBB67AE85);
  }
  return counter;
}

// The upper 53 of 64 bits as a fraction.
ExprRef fraction(const ExprRef& upper, const ExprRef& lower) {
  const ExprRef bits = pointwise(Op::BitOr, {pointwise(Op::ShiftLeft, {upper, word(32)}), lower});
  return cast(pointwise(Op::ShiftRight, {bits, word(11)}), DType::F64) *
         constant(DType::F64, 0x1p-53);
}

ExprRef f64(double value) { return constant(DType::F64, value); }

// The fraction has no more bits than the dtype.
ExprRef uniform(const graph::Attributes& attributes, DType dtype, const Words& words) {
  const double first = attributes.number("low"), last = attributes.number("high");
  const double step = dtype == DType::F64   ? 0x1p-53
                      : dtype == DType::F32 ? 0x1p-24
                      : dtype == DType::F16 ? 0x1p-11
                                            : 0x1p-8;
  const ExprRef u = fraction(words.w[0], words.w[1]);
  const ExprRef steps = pointwise(Op::Floor, {u / f64(step)});
  return f64(first) + f64(last - first) * steps * f64(step);
}

// Box and Muller.
ExprRef normal(const graph::Attributes& attributes, const Words& words) {
  const ExprRef u = fraction(words.w[0], words.w[1]), v = fraction(words.w[2], words.w[3]);
  const ExprRef radius = pointwise(Op::Sqrt, {f64(-2) * pointwise(Op::Log, {f64(1) - u})});
  const ExprRef angle = pointwise(Op::Cos, {f64(2 * std::numbers::pi) * v});
  return f64(attributes.number("mean")) + f64(attributes.number("scale")) * radius * angle;
}

}  // namespace

ExprRef random_op(const graph::Node& node, const Dim& position) {
  const graph::Attributes& attributes = node.attributes();
  const uint64_t token = hash_of(attributes.text("token"));
  const ExprRef at = index_value(DType::U64, position);
  const Words words = philox({{low(at), high(at), word(low(token)), word(token >> 32)}},
                             static_cast<uint64_t>(attributes.integer("seed")));
  const DType dtype = node.types()[0].dtype;
  const ExprRef value = node.op() == graph::Op::RandomUniform ? uniform(attributes, dtype, words)
                                                              : normal(attributes, words);
  return cast(cast(value, dtype), computed_in(dtype));
}

}  // namespace tenon::lower
