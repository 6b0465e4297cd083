// Rows of movement whose targets are known only when the model runs: the extents of the results are
// symbols that the steps define.
#include "tests/differential/rows/operands.h"

namespace tenon::differential {

using graph::Graph;
using graph::Op;
using graph::Value;

namespace {

std::vector<Dim> fresh_extents(GraphWriter& w, const std::string& stem, int64_t count) {
  std::vector<Dim> dims;
  for (int64_t i = 0; i < count; ++i) dims.emplace_back(w.fresh_symbol(stem));
  return dims;
}

Value reshaped_to(GraphWriter& w) {
  const Value x = w.any(computed);
  const int rank = x ? x.shape().rank() : 0;
  if (rank == 0) return {};
  Graph& g = w.g();
  const int64_t kind = w.number(0, 3);
  const auto reshaped = [&](const char* mode, Value target, int64_t result) {
    return g.apply(Op::ReshapeTo, {x, target},
                   {{"mode", mode}, {"shape", fresh_extents(w, "reshaped", result)}});
  };
  if (kind == 0) {  // all as it is, but the first is what is left
    std::vector<Dim> target = x.shape().dims();
    target[0] = -1;
    return reshaped("shape", run_time_vector(w, target), rank);
  }
  if (kind == 1) return reshaped("exact", run_time_vector(w, {x.shape().elements()}), 1);
  if (kind == 2) return reshaped("unsqueeze", run_time_vector(w, {0}), rank + 1);
  const Value single_row = g.reduce(Op::ReduceMax, x, {0});
  return g.apply(Op::ReshapeTo, {single_row, run_time_vector(w, {0})},
                 {{"mode", "squeeze"}, {"shape", fresh_extents(w, "squeezed", rank - 1)}});
}

Value expanded_to(GraphWriter& w) {
  const Value x = w.any(computed);
  if (!x) return x;
  std::vector<Dim> dims = x.shape().dims();
  for (Dim& dim : dims) {
    if (dim.is_const(1)) dim = w.any_extent();
  }
  if (w.chance(40)) dims.insert(dims.begin(), w.any_extent());
  if (dims.empty()) return {};
  const auto rank = static_cast<int64_t>(dims.size());
  return w.g().apply(Op::ExpandTo, {x, run_time_vector(w, dims)},
                     {{"shape", fresh_extents(w, "expanded", rank)}});
}

Value sliced_to(GraphWriter& w) {
  const Value x = w.any(computed);
  const int rank = x ? x.shape().rank() : 0;
  if (rank == 0) return {};
  const int64_t axis = any_axis(w, x), step = w.one_of(Axes{1, 1, 2, -1, -2});
  const bool up = step > 0;
  std::vector<Dim> shape = x.shape().dims();
  shape[static_cast<size_t>(axis)] = w.fresh_symbol("sliced");
  const Value start = w.g().reshape(run_time_integer(w, up ? -3 : 0, up ? 2 : 5), {1});
  const Value end = w.g().reshape(run_time_integer(w, up ? 1 : -9, up ? 9 : -2), {1});
  return w.g().apply(Op::SliceTo, {x, start, end, w.g().integers({axis}), w.g().integers({step})},
                     {{"shape", std::move(shape)}});
}

Value split_by_data(GraphWriter& w) {
  const Value x = w.any(computed);
  if (!x || x.shape().rank() == 0) return {};
  const int64_t axis = any_axis(w, x);
  const Dim extent = x.shape()[static_cast<int>(axis)], half = floordiv(extent, 2);
  return w.g().apply_all(Op::Split, {x, run_time_vector(w, {half, extent - half})},
                         {{"axis", axis}, {"extents", fresh_extents(w, "part", 2)}})[w.chance(50)];
}

Value padded_by_data(GraphWriter& w) {
  const Value x = w.any(computed);
  const int rank = x ? x.shape().rank() : 0;
  if (rank == 0) return {};
  const int64_t axis = any_axis(w, x);
  std::vector<Dim> shape = x.shape().dims();
  shape[static_cast<size_t>(axis)] = w.fresh_symbol("padded");
  const Value pads = integers_between(w, {2}, 0, 2);
  const auto mode = pad_mode(w, x);
  return w.g().apply(Op::Pad, {x, pads, w.g().integers({axis})},
                     {{"mode", mode}, {"shape", std::move(shape)}});
}

// A count that the model is given becomes an extent.
Value defined(GraphWriter& w) {
  const Value x = w.any(computed);
  if (!x) return x;
  Graph& g = w.g();
  const Dim extent = w.fresh_symbol("given");
  const Value count = g.reshape(run_time_integer(w, 0, 5), {1});
  const Value known = g.apply(Op::Define, {count}, {{"symbols", std::vector<Dim>{extent}}});
  if (w.chance(20)) return known;
  w.tensor(known);  // from here on the extent has a value
  std::vector<Dim> dims = x.shape().dims();
  dims.insert(dims.begin(), extent);
  return g.expand(x, std::move(dims));
}

constexpr OpRow kRows[] = {
    {"reshape_to", 2, reshaped_to, true}, {"expand_to", 1, expanded_to, true},
    {"slice_to", 2, sliced_to, true},     {"split", 1, split_by_data, true},
    {"pad", 1, padded_by_data, true},     {"define", 2, defined, true},
};

}  // namespace

std::span<const OpRow> by_data_rows() { return kRows; }

}  // namespace tenon::differential
