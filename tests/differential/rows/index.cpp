// Rows of gather and scatter, ranges and shapes.
#include "tests/differential/rows/operands.h"

namespace tenon::differential {

using graph::Graph;
using graph::Op;
using graph::Value;

namespace {

Value gathered(GraphWriter& w) {
  const Value x = w.any(any_kind);
  if (!x || x.shape().rank() == 0) return {};
  const int64_t axis = any_axis(w, x);
  const Dim extent = x.shape()[static_cast<int>(axis)];
  if (w.chance(60)) return w.g().gather(x, indices(w, w.any_extents(w.number(0, 2)), extent), axis);
  std::vector<Dim> dims = x.shape().dims();
  dims[static_cast<size_t>(axis)] = w.any_extent();
  return w.g().apply(Op::GatherElements, {x, indices(w, std::move(dims), extent)},
                     {{"axis", axis}});
}

// Positions on several axes, after `batch` leading ones.
Value positions(GraphWriter& w, Value x, std::vector<Dim> dims, int64_t batch, int64_t named) {
  std::vector<Value> columns;
  dims.emplace_back(1);
  for (int64_t i = 0; i < named; ++i) {
    const Value at = indices(w, dims, x.shape()[static_cast<int>(batch + i)]);
    columns.push_back(w.g().cast(at, DType::I64));
  }
  const auto last = static_cast<int64_t>(dims.size()) - 1;
  return columns.size() == 1 ? columns[0] : w.g().concat(std::move(columns), last);
}

Value gathered_positions(GraphWriter& w) {
  const Value x = w.any(computed);
  if (!x || x.shape().rank() == 0) return {};
  const int64_t batch = w.chance(30) ? w.number(0, x.shape().rank() - 1) : 0;
  const int64_t named = w.number(1, x.shape().rank() - batch);
  std::vector<Dim> dims(x.shape().begin(), x.shape().begin() + batch);
  for (const Dim& dim : w.any_extents(w.number(0, 2))) dims.push_back(dim);
  return w.g().apply(Op::GatherND, {x, positions(w, x, std::move(dims), batch, named)},
                     {{"batch_dims", batch}});
}

std::string any_reduction(GraphWriter& w) {
  return w.one_of(Words{"none", "add", "mul", "min", "max"});
}

Value scattered(GraphWriter& w) {
  const Value x = w.any(no_bool);
  if (!x || x.shape().rank() == 0) return {};
  const int64_t axis = any_axis(w, x);
  std::vector<Dim> dims = x.shape().dims();
  dims[static_cast<size_t>(axis)] = w.any_extent();
  const Value updates = w.input(x.dtype(), dims);
  return w.g().apply(Op::ScatterElements,
                     {x, indices(w, dims, x.shape()[static_cast<int>(axis)]), updates},
                     {{"axis", axis}, {"reduction", any_reduction(w)}});
}

Value scattered_positions(GraphWriter& w) {
  const Value x = w.any(no_bool);
  if (!x || x.shape().rank() == 0) return {};
  const int64_t named = w.number(1, x.shape().rank());
  std::vector<Dim> dims = w.any_extents(w.number(0, 2));
  const Value at = positions(w, x, dims, 0, named);
  dims.insert(dims.end(), x.shape().begin() + named, x.shape().end());
  return w.g().apply(Op::ScatterND, {x, at, w.input(x.dtype(), std::move(dims))},
                     {{"reduction", any_reduction(w)}});
}

Value range_of(GraphWriter& w) {
  Graph& g = w.g();
  if (w.chance(50)) {
    const Dim count = w.any_extent();
    const Value numbers =
        g.apply(Op::Range, {g.dims({0}, true), g.dims({count}, true), g.dims({1}, true)},
                {{"shape", std::vector<Dim>{count}}});
    return g.mul(numbers, w.input(DType::I64, {count}));
  }
  const DType dtype = w.one_of(std::vector<DType>{DType::I64, DType::I32, DType::F32});
  const auto number = [&](int64_t least, int64_t most) {
    return g.cast(run_time_integer(w, least, most), dtype);
  };
  return g.apply(Op::Range, {number(-3, 3), number(-2, 4), number(1, 2)},
                 {{"shape", std::vector<Dim>{w.fresh_symbol("range")}}});
}

Value shape_of(GraphWriter& w) {
  const Value x = w.any(any_kind);
  return x && x.shape().rank() > 0
             ? w.g().mul(w.g().shape_of(x), w.input(DType::I64, {x.shape().rank()}))
             : Value();
}

// Numbers that a seed decides are the same everywhere.
Value random_numbers(GraphWriter& w) {
  const DType dtype = w.one_of(std::vector<DType>{DType::F32, DType::F32, DType::F64, DType::F16});
  const std::string token = "r" + std::to_string(w.number(0, 1000));
  const graph::AttributeValue shape = w.any_extents(w.number(0, 3)), seed = w.number(0, 1 << 30);
  if (w.chance(50)) {
    return w.g().apply(Op::RandomUniform, {},
                       {{"shape", shape},
                        {"dtype", dtype},
                        {"low", -1.0},
                        {"high", 2.0},
                        {"seed", seed},
                        {"token", token}});
  }
  return w.g().apply(Op::RandomNormal, {},
                     {{"shape", shape},
                      {"dtype", dtype},
                      {"mean", 0.5},
                      {"scale", 2.0},
                      {"seed", seed},
                      {"token", token}});
}

constexpr OpRow kRows[] = {
    {"gather", 5, gathered, true}, {"gather_nd", 2, gathered_positions, true},
    {"scatter", 3, scattered},     {"scatter_nd", 2, scattered_positions},
    {"range", 2, range_of},        {"shape", 2, shape_of, true},
    {"random", 1, random_numbers},
};

}  // namespace

std::span<const OpRow> index_rows() { return kRows; }

}  // namespace tenon::differential
