// Fourier transforms as a matrix product: rows of cosines and sines times the signal, seen as
// [outer, 2 * time, inner] with real parts before imaginary ones. Angles are reduced as integers,
// so that long signals lose nothing.
#include <numbers>

#include "legalize/around_axis.h"

namespace tenon::legalize::decompositions {

using graph::Op;

namespace {

struct Transform {
  Dim length;          // of the transform
  Dim in, out;         // elements that count, and results, along the axis
  int64_t parts;       // 1 or 2 numbers per element
  bool inverse, real;  // real: of a one-sided spectrum, so its result has one part
};

// The number that an operand says: known, or a symbol.
Dim known_or_defined(Graph& g, const Term& number, const char* stem) {
  const auto& known = Value(number).shape_value();
  return known ? (*known)[0] : define(g, number.reshape({1}), stem)[0];
}

Dim length_of(Graph& g, Value given, const Dim& extent, bool real) {
  constexpr int64_t kMost = int64_t{1} << 32;
  const Dim whole = real ? (extent - 1) * 2 : extent;
  const Term length = integer_of(g, given);
  const auto& known = Value(length).shape_value();
  Dim result = known && (*known)[0].is_const(0)
                   ? whole
                   : known_or_defined(g, choose(equal(length, 0), whole, length), "length");
  g.add_constraint({Constraint::Kind::AtMost, 1, result, "[dft] the length"});
  g.add_constraint({Constraint::Kind::AtMost, result, kMost, "[dft] the length"});
  return result;
}

// [parts out * t.out, parts in * t.in]
Value table_of(Graph& g, const Transform& t, DType dtype) {
  const Term row = Term(g, iota(g, t.out)).reshape({t.out, 1});
  const Term column(g, iota(g, t.in));
  const Term product = row * column, turn = product - product / t.length * t.length;
  // In f64: half a turn must be 0 to well below what a sum of f32 can see.
  const Term share = turn.as(DType::F64) / number(g, t.length).as(DType::F64);
  const Term angle = share * (2 * std::numbers::pi);
  Term scale(g, g.scalar(dtype, 1));
  if (t.inverse) scale = scale / number(g, t.length).as(dtype);
  if (t.real) {  // an element stands for its mirror image too, where it has one
    const Term alone = either(equal(column, 0), equal(column * 2, t.length));
    scale = scale * choose(alone, Value(g.scalar(dtype, 1)), Value(g.scalar(dtype, 2)));
  }
  const Term cosine = angle.unary(Op::Cos).as(dtype) * scale,
             up = angle.unary(Op::Sin).as(dtype) * scale;
  const Term sine = t.inverse ? up : -up;
  const auto beside = [&](const Term& a, const Term& b) {
    return t.parts == 1 ? Value(a) : g.concat({a, b}, 1);
  };
  const Value first = beside(cosine, -sine);
  return t.real ? first : g.concat({first, beside(sine, cosine)}, 0);
}

// The table times [outer, time, inner]; rows of signals are the left operand where they are rows.
Value times(Graph& g, Value table, Value x) {
  const Dim outer = x.shape()[0];
  if (!x.shape()[2].is_const(1)) return g.matmul(table, x);
  const Value rows = g.matmul(g.reshape(x, {outer, x.shape()[1]}), g.transpose(table, {1, 0}));
  return g.reshape(rows, {outer, table.shape()[0], 1});
}

// Extents of the result that are symbols of this op: the axis has a new one.
void define_transformed(Graph& g, const Shape& from, Value axis, const Dim& out,
                        const std::vector<Dim>& own) {
  const int rank = from.rank() - 1;
  const Term given = integer_of(g, axis);
  const Term at = choose(less(given, 0), given + from.rank(), given);
  const Term extents(g, g.dims({from.begin(), from.begin() + rank}));
  define_own(g, choose(equal(Term(g, iota(g, rank)), at), out, extents),
             {own.begin(), own.begin() + rank});
}

// One or two numbers per element; where only the run knows, zeros make them two.
Value with_known_parts(Graph& g, Value x) {
  std::vector<Dim> dims = x.shape().dims();
  const Dim parts = dims.back();
  if (parts.is_const(1) || parts.is_const(2)) return x;
  g.add_constraint({Constraint::Kind::AtMost, 1, parts, "[dft] numbers per element"});
  g.add_constraint({Constraint::Kind::AtMost, parts, 2, "[dft] numbers per element"});
  const auto last = static_cast<int64_t>(dims.size()) - 1;
  dims.back() = max(2 - parts, 0);
  const Value both = g.concat({x, g.expand(g.scalar(x.dtype(), 0), dims)}, last);
  dims.back() = 2;
  return g.reshape(both, dims);
}

}  // namespace

std::vector<Value> dft(Graph& g, const Node& node, std::span<const Value> operands) {
  Value x = operands[0];
  const std::vector<Dim>& shape = node.attributes().dims("shape");
  const int rank = x.shape().rank();
  x = with_known_parts(g, x);
  const Dim last = x.shape()[rank - 1];
  const bool inverse = node.attributes().integer("inverse") != 0;
  const bool onesided = node.attributes().integer("onesided") != 0, real = inverse && onesided;
  const AroundAxis around = around_axis(g, x, operands[2], rank - 1);
  const Dim length = length_of(g, operands[1], around.extent, real);
  const Dim half = floordiv(length, 2) + 1;
  const Transform t{length,
                    min(real ? half : length, around.extent),
                    onesided && !inverse ? half : length,
                    last.const_value(),
                    inverse,
                    real};
  x = g.reshape(x, {around.outer, around.extent, around.inner, t.parts});
  x = g.slice(x, {0, 0, 0, 0}, {around.outer, t.in, around.inner, t.parts}, {1, 1, 1, 1});
  x = g.reshape(g.transpose(x, {0, 3, 1, 2}), {around.outer, t.in * t.parts, around.inner});
  Value y = times(g, table_of(g, t, x.dtype()), x);
  const int64_t parts = real ? 1 : 2;
  y = g.transpose(g.reshape(y, {around.outer, parts, t.out, around.inner}), {0, 2, 3, 1});
  define_transformed(g, operands[0].shape(), operands[2], t.out, shape);
  return {g.reshape(y, shape)};
}

}  // namespace tenon::legalize::decompositions
