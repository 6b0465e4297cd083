// Frames of a signal by an index for each element; windows and mel filters as formulas of the
// position.
#include <cmath>
#include <numbers>

#include "legalize/term.h"

namespace tenon::legalize::decompositions {

using graph::Op;

std::vector<Value> frames(Graph& g, const Node& node, std::span<const Value> operands) {
  const Value x = operands[0];
  const std::vector<Dim>& shape = node.attributes().dims("shape");
  const Term step = integer_of(g, operands[1]), length = integer_of(g, operands[2]);
  const Term time = number(g, x.shape()[1]);
  const Term wrong = either(less(step, 1), either(less(length, 0), less(time, length)));
  const Term count = (time - length) / larger(step, 1) + 1;
  const bool defined =
      define_own(g, choose(wrong, -1, joined({count, length})), {shape[1], shape[2]});
  const Term first = (Term(g, iota(g, shape[1])) * step).reshape({shape[1], 1});
  const Value result = g.gather(x, first + Value(iota(g, shape[2])), 1);
  return {defined ? result : checked(g, result, wrong, "wrong_frames")};
}

// sum of (-1)^k * coefficients[k] * cos(2 pi k n / period); all ones where the period is 0.
std::vector<Value> cosine_window(Graph& g, const Node& node, std::span<const Value> operands) {
  const std::vector<Dim>& shape = node.attributes().dims("shape");
  const DType dtype = node.attributes().dtype("dtype");
  const DType wide = dtype == DType::F64 ? DType::F64 : DType::F32;
  define_own(g, integer_of(g, operands[0]).reshape({1}), shape);
  const Dim size = shape[0];
  const Term period = number(g, node.attributes().integer("periodic") != 0 ? size : size - 1);
  const Term share = Term(g, iota(g, size)).as(wide) / larger(period, 1).as(wide);
  Term window(g, g.expand(g.scalar(wide, 0), {size}));
  double harmonic = 0;
  for (const double coefficient : node.attributes().numbers("coefficients")) {
    const Term wave = (share * (2 * std::numbers::pi * harmonic)).unary(Op::Cos);
    const double signed_coefficient = std::fmod(harmonic, 2) == 0 ? coefficient : -coefficient;
    window = window + wave * signed_coefficient;
    harmonic += 1;
  }
  return {choose(equal(period, 0), 1.0, window).as(dtype)};
}

namespace {

Term mel(const Term& hertz) {
  return (hertz / 700.0 + 1.0).unary(Op::Log) * (2595 / std::numbers::ln10);
}

// The bins of the spectrum where filters begin, i64[bins + 2].
Term mel_edges(Graph& g, const Dim& bins, std::span<const Value> operands) {
  const auto wide = [&](size_t i) { return Term(g, g.reshape(operands[i], {})).as(DType::F64); };
  const Term low = mel(wide(3)), high = mel(wide(4));
  const Term step = (high - low) / number(g, bins + 2).as(DType::F64);
  const Term at = Term(g, iota(g, bins + 2)).as(DType::F64) * step + low;
  const Term hertz = ((at * (std::numbers::ln10 / 2595)).unary(Op::Exp) - 1.0) * 700.0;
  return ((wide(1) + 1.0) * hertz / wide(2)).unary(Op::Floor).as(DType::I64);
}

}  // namespace

// Triangles that overlap: each filter rises from one edge to the next and falls to the one after.
std::vector<Value> mel_weights(Graph& g, const Node& node, std::span<const Value> operands) {
  const std::vector<Dim>& shape = node.attributes().dims("shape");
  const DType dtype = node.attributes().dtype("dtype");
  const DType wide = dtype == DType::F64 ? DType::F64 : DType::F32;
  const Term bins = integer_of(g, operands[0]), length = integer_of(g, operands[1]);
  const Term impossible =
      either(less(bins, 0), either(less(length, 0), less(integer_of(g, operands[2]), 1)));
  define_own(g, choose(impossible, -1, joined({length / 2 + 1, bins})), shape);
  const Dim rows = shape[0], columns = shape[1];
  const Term edges = mel_edges(g, columns, operands);
  const auto edge = [&](int64_t i) { return Term(g, g.slice(edges, {i}, {columns}, {1})); };
  const Term rise = edge(0), top = edge(1), fall = edge(2);
  const Term row = Term(g, iota(g, rows)).reshape({rows, 1});
  const auto share = [&](const Term& part, const Term& whole) {
    return part.as(wide) / larger(whole, 1).as(wide);
  };
  const Term falls = both(at_most(top, row), less(row, fall));
  const Term rises = both(at_most(rise, row), at_most(row, top));
  const Term up = choose(equal(rise, top), 1.0, share(row - rise, top - rise));
  const Term weights =
      choose(falls, share(fall - row, fall - top), choose(rises, up, 0.0)).as(dtype);
  const Term outside = any_of(either(less(edges, 0), more(edges, length / 2)));
  return {checked(g, weights, either(impossible, outside), "outside_spectrum")};
}

}  // namespace tenon::legalize::decompositions
