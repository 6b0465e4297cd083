// Rows of elementwise ops and casts.
#include "tests/differential/rows/operands.h"

namespace tenon::differential {

using graph::Graph;
using graph::Op;
using graph::Value;

namespace {

Value smooth(GraphWriter& w) {
  const Value x = w.any(real);
  if (!x) return x;
  if (!w.special() && w.chance(20)) {  // of -inf: -inf * 0, or the limit
    return w.g().unary(w.one_of(Ops{Op::Gelu, Op::GeluTanh, Op::Silu}), x);
  }
  const Op op = w.one_of(Ops{Op::Tanh, Op::Sigmoid, Op::Erf, Op::Exp, Op::Sin, Op::Cos, Op::Atan,
                             Op::Sinh, Op::Cosh, Op::Asinh, Op::Expm1, Op::Softplus});
  // Of a large number that was rounded on its way, a sine is anything.
  const bool turns = op == Op::Sin || op == Op::Cos;
  return w.g().unary(op, turns && !w.is_exact(x) ? bounded(w, x) : x);
}

// Functions that want a part of the numbers.
Value positive(GraphWriter& w) {
  const Value x = w.any(real);
  if (!x) return x;
  const Value more = plus(w, magnitude(w, x), 1.5);  // acosh is steep at 1
  const Op op = w.one_of(
      Ops{Op::Sqrt, Op::Log, Op::Reciprocal, Op::Acosh, Op::Asin, Op::Acos, Op::Atanh, Op::Tan});
  const bool inside = op == Op::Asin || op == Op::Acos || op == Op::Atanh || op == Op::Tan;
  const Value half = w.g().mul(w.g().unary(Op::Tanh, x), w.g().scalar(x.dtype(), 0.5));
  return w.g().unary(op, inside ? half : more);
}

Value plain_unary(GraphWriter& w) {
  const Value x = w.any(is_signed);
  return x ? w.g().unary(w.one_of(Ops{Op::Neg, Op::Abs, Op::Relu}), x) : x;
}

Value rounded(GraphWriter& w) {
  const Value x = w.any(real, true);
  return x ? w.g().unary(w.one_of(Ops{Op::Ceil, Op::Floor, Op::Round, Op::Sign}), x) : x;
}

Value arithmetic(GraphWriter& w) {
  const Value x = w.any(no_bool);
  if (!x) return x;
  const Op op = w.one_of(Ops{Op::Add, Op::Sub, Op::Mul, Op::Min, Op::Max, Op::Add, Op::Mul});
  return w.chance(50) ? w.g().binary(op, x, w.beside(x)) : w.g().binary(op, w.beside(x), x);
}

Value division(GraphWriter& w) {
  const Value x = w.any(no_bool);
  if (!x) return x;
  const Value by = w.beside(x);
  if (is_float(x.dtype())) {
    if (w.special()) return {};  // the sign of a zero would decide
    const Value some = plus(w, magnitude(w, by), 0.5);
    if (w.chance(60)) return w.g().div(x, some);
    if (w.chance(30) && w.is_exact(x) && w.is_exact(some)) {  // they jump
      return w.g().binary(w.chance(50) ? Op::Mod : Op::Remainder, x, some);
    }
    return w.g().binary(Op::Pow, plus(w, magnitude(w, x), 0.5), w.g().unary(Op::Tanh, by));
  }
  return w.g().binary(w.one_of(Ops{Op::Div, Op::Mod, Op::Remainder}), x, by);
}

Value bits(GraphWriter& w) {
  const Value x = w.any(whole);
  if (!x) return x;
  return w.g().binary(
      w.one_of(Ops{Op::BitAnd, Op::BitOr, Op::BitXor, Op::ShiftLeft, Op::ShiftRight}), x,
      w.beside(x));
}

Value comparison(GraphWriter& w) {
  const Value x = w.any(no_bool, true);
  if (!x) return x;
  return w.g().binary(w.one_of(Ops{Op::Equal, Op::Less, Op::LessEqual}), x, w.beside(x, true));
}

Value logic(GraphWriter& w) {
  const Value x = w.any(truth, true);
  if (!x) return x;
  if (w.chance(30)) return w.g().unary(Op::Not, x);
  return w.g().binary(w.one_of(Ops{Op::And, Op::Or, Op::Equal}), x, w.beside(x, true));
}

Value where_of(GraphWriter& w) {
  const Value x = w.any(any_kind);
  if (!x) return x;
  std::vector<Dim> dims = x.shape().dims();
  for (Dim& dim : dims) {
    if (w.chance(30)) dim = 1;
  }
  return w.g().apply(Op::Where, {w.input(DType::Bool, std::move(dims)), x, w.beside(x)});
}

// From and to every dtype. Only exact values become integers or narrow floats: rounding would tip
// others over.
Value cast_of(GraphWriter& w) {
  const DType to = w.any_dtype();
  const bool steps = !is_float(to) || is_storage_only(to);
  const Value x = w.any(any_kind, steps || w.special());
  if (!x || x.dtype() == to) return {};
  if (to == DType::F8E8M0 && w.chance(50)) {
    const auto how = w.one_of(Words{"up", "down", "nearest"});
    return w.g().apply(Op::Cast, {x}, {{"dtype", to}, {"rounding", how}});
  }
  if (is_float(to) && is_storage_only(to) && w.chance(40)) {
    return w.g().apply(Op::Cast, {x}, {{"dtype", to}, {"saturate", int64_t{0}}});
  }
  return w.g().cast(x, to);
}

// There and back, as quantized models do: round(x / scale) + zero, and its inverse.
Value quantized(GraphWriter& w) {
  const Value x = w.any(single, true);
  if (!x) return x;
  Graph& g = w.g();
  const DType to = w.one_of(std::vector<DType>{DType::U8, DType::I8, DType::I4, DType::U4});
  const bool is_unsigned = info(to).kind == DTypeKind::Unsigned;
  const double most = is_unsigned ? (1 << info(to).bits) - 1 : (1 << (info(to).bits - 1)) - 1;
  const double least = is_unsigned ? 0 : -most - 1;
  const Value scaled =
      g.div(x, g.scalar(DType::F32, w.one_of(std::vector<double>{0.125, 0.1, 0.5})));
  const Value moved = plus(w, g.unary(Op::Round, scaled), is_unsigned ? 3 : 0);
  const Value inside = g.binary(Op::Min, g.binary(Op::Max, moved, g.scalar(DType::F32, least)),
                                g.scalar(DType::F32, most));
  const Value stored = g.cast(inside, to);
  return w.chance(50) ? stored : g.mul(g.cast(stored, DType::F32), g.scalar(DType::F32, 0.125));
}

// Of new inputs: what bits a computed NaN has is nobody's business.
Value same_bits(GraphWriter& w) {
  DType from = w.any_dtype(), to = w.any_dtype();
  for (int i = 0; i < 50 && (from == to || info(from).bits != info(to).bits); ++i) {
    from = w.any_dtype(), to = w.any_dtype();
  }
  if (from == DType::Bool || to == DType::Bool) return {};
  return w.g().apply(Op::BitCast, {w.input(from, w.any_extents(w.number(0, 3)))}, {{"dtype", to}});
}

constexpr OpRow kRows[] = {
    {"smooth", 10, smooth, true},
    {"positive", 5, positive, true},
    {"plain_unary", 6, plain_unary, true},
    {"rounded", 3, rounded, true},
    {"arithmetic", 16, arithmetic, true},
    {"division", 5, division, true},
    {"bits", 4, bits, true},
    {"comparison", 5, comparison, true},
    {"logic", 4, logic, true},
    {"where", 5, where_of, true},
    {"cast", 8, cast_of, true},
    {"quantize", 2, quantized, true},
    {"bit_cast", 2, same_bits, true},
};

}  // namespace

std::span<const OpRow> elementwise_rows() { return kRows; }

}  // namespace tenon::differential
