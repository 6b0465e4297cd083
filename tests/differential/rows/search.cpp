// Rows of search and sort. What rounding could tip over is asked of exact values only; how many
// elements are found is a symbol that the step defines.
#include "tests/differential/rows/operands.h"

namespace tenon::differential {

using graph::Graph;
using graph::Op;
using graph::Value;

namespace {

Value sorted(GraphWriter& w) {
  const Value x = w.any(no_bool, true);
  if (!x || x.shape().rank() == 0) return {};
  const int64_t axis = any_axis(w, x);
  const Dim extent = x.shape()[static_cast<int>(axis)];
  Dim count = ceildiv(extent, 2);
  Value k = w.g().dims({count}, true);
  if (w.chance(30)) {
    k = run_time_integer(w, 0, 2);
    k = w.g().binary(Op::Min, k, w.g().dims({extent}, true));
    count = w.fresh_symbol("topk");
  }
  return w.g().apply_all(Op::TopK, {x, k},
                         {{"axis", axis},
                          {"largest", w.number(0, 1)},
                          {"count", std::vector<Dim>{count}}})[w.chance(70) ? 0 : 1];
}

Value not_zero(GraphWriter& w) {
  const Value x = w.any(computed, true);
  if (!x) return x;
  const Value some = is_float(x.dtype()) ? w.g().unary(Op::Round, x) : x;
  return w.g().apply(Op::NonZero, {some}, {{"count", std::vector<Dim>{w.fresh_symbol("nonzero")}}});
}

// What a condition leaves of the first axis, as ONNX's Compress is written.
Value compressed(GraphWriter& w) {
  const Value x = w.any(computed);
  if (!x || x.shape().rank() == 0) return {};
  const Value keep = w.input(DType::Bool, {x.shape()[0]});
  const Value found =
      w.g().apply(Op::NonZero, {keep}, {{"count", std::vector<Dim>{w.fresh_symbol("compressed")}}});
  const Dim count = found.shape()[1];
  return w.g().gather(x, w.g().reshape(found, {count}), 0);
}

Value distinct(GraphWriter& w) {
  const Value x = w.any(no_bool, true);
  if (!x || x.shape().rank() == 0) return {};
  const int64_t axis = any_axis(w, x);
  const Value some = is_float(x.dtype()) ? w.g().unary(Op::Round, x) : x;
  return w.g().apply_all(
      Op::Unique, {some},
      {{"axis", axis},
       {"sorted", w.number(0, 1)},
       {"count", std::vector<Dim>{w.fresh_symbol("unique")}}})[static_cast<size_t>(w.number(0, 3))];
}

Value best_boxes(GraphWriter& w) {
  const Dim batch = w.any_extent(), boxes = w.any_extent();
  const Value corners = w.input(DType::F32, {batch, boxes, 4});
  const Value scores = w.input(DType::F32, {batch, w.number(1, 3), boxes});
  const Value most = w.g().reshape(run_time_integer(w, 0, 3), {1});
  const auto limit = [&](double value) { return w.g().scalar(DType::F32, value); };
  const int64_t center = w.number(0, 1);
  const Value given = center != 0 ? magnitude(w, corners) : corners;
  return w.g().apply(Op::NonMaxSuppression, {given, scores, most, limit(0.3), limit(-1)},
                     {{"center", center}, {"count", std::vector<Dim>{w.fresh_symbol("boxes")}}});
}

Value counted_grams(GraphWriter& w) {
  const Value x = w.input(w.chance(50) ? DType::I64 : DType::I32, w.any_extents(w.number(1, 2)));
  Axes pool, lengths, places;
  for (int64_t i = 0; i < 4; ++i) {
    lengths.push_back(w.number(1, 2));
    for (int64_t k = 0; k < lengths.back(); ++k) pool.push_back(w.number(-2, 2));
    places.push_back(w.number(0, 4));
  }
  return w.g().apply(Op::CountGrams, {x},
                     {{"pool", pool},
                      {"lengths", lengths},
                      {"places", places},
                      {"skips", w.number(0, 2)},
                      {"size", int64_t{5}}});
}

constexpr OpRow kRows[] = {
    {"top_k", 2, sorted, true},
    {"non_zero", 1, not_zero, true},
    {"compress", 1, compressed, true},
    {"unique", 1, distinct},
    {"non_max_suppression", 1, best_boxes},
    {"count_grams", 1, counted_grams, true},
};

}  // namespace

std::span<const OpRow> search_rows() { return kRows; }

}  // namespace tenon::differential
