// Rows of reductions, running sums, and the row ops made of them.
#include "tests/differential/rows/operands.h"

namespace tenon::differential {

using graph::Op;
using graph::Value;

namespace {

Value reduction(GraphWriter& w) {
  const Op op =
      w.one_of(Ops{Op::ReduceSum, Op::ReduceMean, Op::ReduceMax, Op::ReduceMin, Op::ReduceProd});
  const bool chooses = op == Op::ReduceMax || op == Op::ReduceMin;
  // Large numbers that cancel each other leave what rounding makes of them.
  const bool rounds = w.special() && !chooses;
  if (rounds && op == Op::ReduceMean) return {};
  const Value x = w.any(rounds ? whole : op == Op::ReduceMean ? real : no_bool);
  if (!x || x.shape().rank() == 0) return {};
  Axes axes;
  for (int64_t i = 0; i < x.shape().rank(); ++i) {
    if (w.chance(45)) axes.push_back(i);
  }
  if (axes.empty() && w.chance(90)) axes.push_back(any_axis(w, x));
  return w.g().reduce(op, x, std::move(axes));
}

Value extreme(GraphWriter& w) {
  const Value x = w.any(no_bool, true);
  if (!x || x.shape().rank() == 0) return {};
  return w.g().apply(w.chance(50) ? Op::ArgMax : Op::ArgMin, {x},
                     {{"axis", any_axis(w, x)}, {"last", w.number(0, 1)}});
}

Value running(GraphWriter& w) {
  Value x = w.any(no_bool);
  if (!x || x.shape().rank() == 0) return {};
  const Op op = w.chance(80) ? Op::CumSum : Op::CumProd;
  // Long products of large numbers are beyond f32, or made of what rounding left of one factor.
  if (op == Op::CumProd && is_float(x.dtype())) x = w.g().unary(Op::Tanh, x);
  const int64_t exclusive = w.number(0, 1), reverse = w.number(0, 1), axis = any_axis(w, x);
  if (w.chance(20)) {
    return w.g().apply(op, {x, run_time_integer(w, axis, axis)},
                       {{"exclusive", exclusive}, {"reverse", reverse}});
  }
  return w.g().apply(op, {x}, {{"axis", axis}, {"exclusive", exclusive}, {"reverse", reverse}});
}

Value softmax_of(GraphWriter& w) {
  const Value x = w.any(real);
  return x && x.shape().rank() > 0 ? w.g().softmax(x, any_axis(w, x)) : Value();
}

Value norm(GraphWriter& w) {
  const Value x = w.any(real);
  if (!x || x.shape().rank() == 0) return {};
  const Dim last = x.shape()[x.shape().rank() - 1];
  return w.g().layer_norm(x, w.input(x.dtype(), {last}), w.input(x.dtype(), {last}), 1e-2);
}

// Over axes that are data; the result keeps them, or its extents are found by the step.
Value reduction_by_data(GraphWriter& w) {
  const auto op = w.one_of(Words{"reduce_sum", "reduce_mean", "reduce_max", "reduce_min"});
  const Value x = w.any(op == "reduce_mean" ? real : no_bool);
  if (!x || x.shape().rank() == 0) return {};
  const int64_t axis = any_axis(w, x), keep = w.number(0, 1);
  std::vector<Dim> shape;
  for (int64_t i = keep != 0 ? 0 : 1; i < x.shape().rank(); ++i) {
    shape.emplace_back(w.fresh_symbol("reduced"));
  }
  const Value axes = w.g().reshape(run_time_integer(w, axis, axis), {1});
  return w.g().apply(Op::ReduceOver, {x, axes},
                     {{"op", op}, {"shape", std::move(shape)}, {"keep", keep}});
}

Value determinant(GraphWriter& w) {
  std::vector<Dim> dims = w.any_extents(w.number(0, 1));
  const Dim size = w.one_of(std::vector<Dim>{1, 2, 3, 5});
  dims.insert(dims.end(), {size, size});
  return w.g().apply(Op::Det, {w.input(w.chance(80) ? DType::F32 : DType::F64, std::move(dims))});
}

constexpr OpRow kRows[] = {
    {"reduction", 9, reduction, true},
    {"extreme", 3, extreme, true},
    {"running", 3, running},
    {"softmax", 3, softmax_of},
    {"norm", 3, norm},
    {"reduce_over", 2, reduction_by_data},
    {"det", 1, determinant},
};

}  // namespace

std::span<const OpRow> reduction_rows() { return kRows; }

}  // namespace tenon::differential
