// The ops that random graphs are made of, a row each: how to write one with operands that fit.
#include <algorithm>
#include <numeric>

#include "tests/differential/random_graph.h"

namespace tenon::differential {

using graph::Graph;
using graph::Op;
using graph::Value;

namespace {

using Writer = GraphWriter;
using Ops = std::vector<Op>;
using Axes = std::vector<int64_t>;

bool any_kind(DType) { return true; }
bool no_bool(DType dtype) { return dtype != DType::Bool; }
bool real(DType dtype) { return is_float(dtype); }
bool whole(DType dtype) { return is_integer(dtype); }
bool truth(DType dtype) { return dtype == DType::Bool; }
bool is_signed(DType dtype) { return is_float(dtype) || info(dtype).kind == DTypeKind::Signed; }

int64_t any_axis(Writer& w, Value x) { return w.number(0, x.shape().rank() - 1); }

Value magnitude(Writer& w, Value x) { return w.g().unary(Op::Abs, x); }
Value plus(Writer& w, Value x, double by) { return w.g().add(x, w.g().scalar(x.dtype(), by)); }

// An index for each place of `dims`, inside an axis of this extent.
Value indices(Writer& w, std::vector<Dim> dims, const Dim& extent) {
  Graph& g = w.g();
  const Value raw = w.input(DType::I64, std::move(dims));
  const Value from_front = g.binary(Op::Max, raw, g.dims({0}, true));
  return g.binary(Op::Min, from_front, g.dims({extent - 1}, true));
}

Value smooth(Writer& w) {
  const Value x = w.any(real);
  return x ? w.g().unary(w.one_of(Ops{Op::Tanh, Op::Sigmoid, Op::Gelu, Op::GeluTanh, Op::Silu,
                                      Op::Erf, Op::Exp, Op::Sin, Op::Cos, Op::Atan, Op::Sinh,
                                      Op::Cosh, Op::Asinh, Op::Expm1, Op::Softplus}),
                         x)
           : x;
}

// Functions that want a part of the numbers.
Value positive(Writer& w) {
  const Value x = w.any(real);
  if (!x) return x;
  const Value more = plus(w, magnitude(w, x), 1);
  const Op op = w.one_of(
      Ops{Op::Sqrt, Op::Log, Op::Reciprocal, Op::Acosh, Op::Asin, Op::Acos, Op::Atanh, Op::Tan});
  const bool inside = op == Op::Asin || op == Op::Acos || op == Op::Atanh || op == Op::Tan;
  const Value half = w.g().mul(w.g().unary(Op::Tanh, x), w.g().scalar(x.dtype(), 0.5));
  return w.g().unary(op, inside ? half : more);
}

Value plain_unary(Writer& w) {
  const Value x = w.any(is_signed);
  return x ? w.g().unary(w.one_of(Ops{Op::Neg, Op::Abs, Op::Relu}), x) : x;
}

Value rounded(Writer& w) {
  const Value x = w.any(real, true);
  return x ? w.g().unary(w.one_of(Ops{Op::Ceil, Op::Floor, Op::Round, Op::Sign}), x) : x;
}

Value arithmetic(Writer& w) {
  const Value x = w.any(no_bool);
  if (!x) return x;
  const Op op = w.one_of(Ops{Op::Add, Op::Sub, Op::Mul, Op::Min, Op::Max, Op::Add, Op::Mul});
  return w.chance(50) ? w.g().binary(op, x, w.beside(x)) : w.g().binary(op, w.beside(x), x);
}

Value division(Writer& w) {
  const Value x = w.any(no_bool);
  if (!x) return x;
  const Value by = w.beside(x);
  if (is_float(x.dtype())) {
    const Value some = plus(w, magnitude(w, by), 0.5);
    if (w.chance(70)) return w.g().div(x, some);
    return w.g().binary(Op::Pow, plus(w, magnitude(w, x), 0.5), w.g().unary(Op::Tanh, by));
  }
  return w.g().binary(w.one_of(Ops{Op::Div, Op::Mod, Op::Remainder}), x, by);
}

Value bits(Writer& w) {
  const Value x = w.any(whole);
  if (!x) return x;
  return w.g().binary(
      w.one_of(Ops{Op::BitAnd, Op::BitOr, Op::BitXor, Op::ShiftLeft, Op::ShiftRight}), x,
      w.beside(x));
}

Value comparison(Writer& w) {
  const Value x = w.any(no_bool, true);
  if (!x) return x;
  return w.g().binary(w.one_of(Ops{Op::Equal, Op::Less, Op::LessEqual}), x, w.beside(x, true));
}

Value logic(Writer& w) {
  const Value x = w.any(truth, true);
  if (!x) return x;
  if (w.chance(30)) return w.g().unary(Op::Not, x);
  return w.g().binary(w.one_of(Ops{Op::And, Op::Or, Op::Equal}), x, w.beside(x, true));
}

Value where_of(Writer& w) {
  const Value x = w.any(any_kind);
  if (!x) return x;
  std::vector<Dim> dims = x.shape().dims();
  for (Dim& dim : dims) {
    if (w.chance(30)) dim = 1;
  }
  return w.g().apply(Op::Where, {w.input(DType::Bool, std::move(dims)), x, w.beside(x)});
}

Value cast_of(Writer& w) {
  const DType to = w.any_dtype();
  const Value x = w.any(any_kind, !is_float(to));
  return x && x.dtype() != to ? w.g().cast(x, to) : Value();
}

Value reshaped(Writer& w) {
  const Value x = w.any(any_kind);
  if (!x) return x;
  std::vector<Dim> dims = x.shape().dims();
  const int64_t kind = w.number(0, 3);
  if (kind == 0 || dims.size() < 2) {
    dims.insert(dims.begin() + w.number(0, std::ssize(dims)), 1);
  } else if (kind == 1) {
    const auto at = w.number(0, std::ssize(dims) - 2);
    dims[static_cast<size_t>(at)] =
        dims[static_cast<size_t>(at)] * dims[static_cast<size_t>(at) + 1];
    dims.erase(dims.begin() + at + 1);
  } else if (kind == 2) {
    return w.g().reshape(x, {x.shape().elements()});
  } else {
    std::swap(dims.front(), dims.back());
  }
  return w.g().reshape(x, std::move(dims));
}

Value transposed(Writer& w) {
  const Value x = w.any(any_kind);
  if (!x || x.shape().rank() < 2) return {};
  Axes perm(x.shape().dims().size());
  std::iota(perm.begin(), perm.end(), 0);
  for (size_t i = perm.size(); i-- > 1;) {
    std::swap(perm[i], perm[static_cast<size_t>(w.number(0, static_cast<int64_t>(i)))]);
  }
  return w.g().transpose(x, std::move(perm));
}

Value expanded(Writer& w) {
  const Value x = w.any(any_kind);
  if (!x) return x;
  std::vector<Dim> dims = x.shape().dims();
  for (Dim& dim : dims) {
    if (dim.is_const(1)) dim = w.any_extent();
  }
  if (w.chance(40)) dims.insert(dims.begin(), w.any_extent());
  return w.g().expand(x, std::move(dims));
}

Value sliced(Writer& w) {
  const Value x = w.any(any_kind);
  if (!x || x.shape().rank() == 0) return {};
  std::vector<Dim> starts, extents;
  Axes steps;
  for (const Dim& dim : x.shape()) {
    const int64_t kind = w.number(0, 3), step = w.number(1, 3);
    if (kind == 0) {
      starts.emplace_back(0), extents.push_back(dim), steps.push_back(1);
    } else if (kind == 1) {  // backwards
      starts.push_back(dim - 1), extents.push_back(dim), steps.push_back(-1);
    } else if (kind == 2) {
      starts.emplace_back(0), extents.push_back(ceildiv(dim, step)), steps.push_back(step);
    } else {  // the second half
      const Dim half = floordiv(dim, 2);
      starts.push_back(half), extents.push_back(dim - half), steps.push_back(1);
    }
  }
  return w.g().slice(x, std::move(starts), std::move(extents), std::move(steps));
}

Value concatenated(Writer& w) {
  const Value x = w.any(any_kind);
  if (!x || x.shape().rank() == 0) return {};
  const int64_t axis = any_axis(w, x);
  std::vector<Dim> dims = x.shape().dims();
  dims[static_cast<size_t>(axis)] = w.any_extent();
  std::vector<Value> parts{x, w.input(x.dtype(), std::move(dims))};
  if (w.chance(30)) parts.push_back(x);
  return w.g().concat(std::move(parts), axis);
}

Value split_of(Writer& w) {
  const Value x = w.any(any_kind);
  if (!x || x.shape().rank() == 0) return {};
  const int64_t axis = any_axis(w, x);
  const Dim whole_axis = x.shape()[static_cast<int>(axis)], half = floordiv(whole_axis, 2);
  return w.g().split(x, axis, {half, whole_axis - half})[w.chance(50) ? 0 : 1];
}

Value padded(Writer& w) {
  const Value x = w.any(any_kind);
  const int rank = x ? x.shape().rank() : 0;
  if (rank == 0) return {};
  Axes pads, axes;
  for (int64_t i = 0; i < 2 * rank; ++i) pads.push_back(w.number(0, 2));
  for (int64_t i = 0; i < rank; ++i) axes.push_back(i);
  std::vector<Dim> dims = x.shape().dims();
  for (size_t i = 0; i < dims.size(); ++i) {
    dims[i] = dims[i] + pads[i] + pads[i + static_cast<size_t>(rank)];
  }
  const auto mode = w.one_of(std::vector<std::string>{"constant", "edge", "reflect", "wrap"});
  return w.g().apply(Op::Pad, {x, w.g().integers(pads), w.g().integers(axes)},
                     {{"mode", mode}, {"shape", std::move(dims)}});
}

Value reduction(Writer& w) {
  const Op op =
      w.one_of(Ops{Op::ReduceSum, Op::ReduceMean, Op::ReduceMax, Op::ReduceMin, Op::ReduceProd});
  const Value x = w.any(op == Op::ReduceMean ? real : no_bool);
  if (!x || x.shape().rank() == 0) return {};
  Axes axes;
  for (int64_t i = 0; i < x.shape().rank(); ++i) {
    if (w.chance(45)) axes.push_back(i);
  }
  if (axes.empty()) axes.push_back(any_axis(w, x));
  return w.g().reduce(op, x, std::move(axes));
}

Value extreme(Writer& w) {
  const Value x = w.any(no_bool, true);
  if (!x || x.shape().rank() == 0) return {};
  return w.g().apply(w.chance(50) ? Op::ArgMax : Op::ArgMin, {x},
                     {{"axis", any_axis(w, x)}, {"last", w.number(0, 1)}});
}

Value running(Writer& w) {
  const Value x = w.any(no_bool);
  if (!x || x.shape().rank() == 0) return {};
  return w.g().apply(
      w.chance(80) ? Op::CumSum : Op::CumProd, {x},
      {{"axis", any_axis(w, x)}, {"exclusive", w.number(0, 1)}, {"reverse", w.number(0, 1)}});
}

Value softmax_of(Writer& w) {
  const Value x = w.any(real);
  return x && x.shape().rank() > 0 ? w.g().softmax(x, any_axis(w, x)) : Value();
}

Value norm(Writer& w) {
  const Value x = w.any(real);
  if (!x || x.shape().rank() == 0) return {};
  const Dim last = x.shape()[x.shape().rank() - 1];
  return w.g().layer_norm(x, w.input(x.dtype(), {last}), w.input(x.dtype(), {last}), 1e-2);
}

Value product(Writer& w) {
  const Value x = w.any(no_bool);
  if (!x || x.shape().rank() < 2) return {};
  const Dim inner = x.shape()[x.shape().rank() - 1];
  std::vector<Dim> dims{inner, w.any_extent()};
  if (w.chance(30)) {
    dims = x.shape().dims();
    dims[dims.size() - 2] = inner;
    dims.back() = w.any_extent();
  }
  const Value by = w.input(x.dtype(), std::move(dims));
  if (!is_float(x.dtype()) || by.shape().rank() > 2 || w.chance(50)) return w.g().matmul(x, by);
  return w.g().linear(x, by, w.input(x.dtype(), {by.shape()[1]}), {},
                      w.chance(50) ? graph::Activation::Gelu : graph::Activation::Relu);
}

Value gathered(Writer& w) {
  const Value x = w.any(any_kind);
  if (!x || x.shape().rank() == 0) return {};
  const int64_t axis = any_axis(w, x);
  const Dim extent = x.shape()[static_cast<int>(axis)];
  if (w.chance(60)) {
    std::vector<Dim> dims(static_cast<size_t>(w.number(0, 2)));
    for (Dim& dim : dims) dim = w.any_extent();
    return w.g().gather(x, indices(w, std::move(dims), extent), axis);
  }
  std::vector<Dim> dims = x.shape().dims();
  dims[static_cast<size_t>(axis)] = w.any_extent();
  return w.g().apply(Op::GatherElements, {x, indices(w, std::move(dims), extent)},
                     {{"axis", axis}});
}

Value scattered(Writer& w) {
  const Value x = w.any(no_bool);
  if (!x || x.shape().rank() == 0) return {};
  const int64_t axis = any_axis(w, x);
  std::vector<Dim> dims = x.shape().dims();
  dims[static_cast<size_t>(axis)] = w.any_extent();
  const Value updates = w.input(x.dtype(), dims);
  const auto how = w.one_of(std::vector<std::string>{"none", "add", "mul", "min", "max"});
  return w.g().apply(Op::ScatterElements,
                     {x, indices(w, dims, x.shape()[static_cast<int>(axis)]), updates},
                     {{"axis", axis}, {"reduction", how}});
}

Value sorted(Writer& w) {
  const Value x = w.any(no_bool, true);
  if (!x || x.shape().rank() == 0) return {};
  const int64_t axis = any_axis(w, x);
  const Dim count = ceildiv(x.shape()[static_cast<int>(axis)], 2);
  return w.g().apply_all(Op::TopK, {x, w.g().dims({count}, true)},
                         {{"axis", axis},
                          {"largest", w.number(0, 1)},
                          {"count", std::vector<Dim>{count}}})[w.chance(70) ? 0 : 1];
}

Value range_of(Writer& w) {
  const Dim count = w.any_extent();
  Graph& g = w.g();
  const Value numbers =
      g.apply(Op::Range, {g.dims({0}, true), g.dims({count}, true), g.dims({1}, true)},
              {{"shape", std::vector<Dim>{count}}});
  const Value x = w.input(DType::I64, {count});
  return g.mul(numbers, x);
}

Value shape_of(Writer& w) {
  const Value x = w.any(any_kind);
  return x && x.shape().rank() > 0
             ? w.g().mul(w.g().shape_of(x), w.input(DType::I64, {x.shape().rank()}))
             : Value();
}

constexpr OpRow kRows[] = {
    {"smooth", 10, smooth},
    {"positive", 5, positive},
    {"plain_unary", 6, plain_unary},
    {"rounded", 3, rounded},
    {"arithmetic", 16, arithmetic},
    {"division", 5, division},
    {"bits", 4, bits},
    {"comparison", 5, comparison},
    {"logic", 4, logic},
    {"where", 5, where_of},
    {"cast", 7, cast_of},
    {"reshape", 6, reshaped},
    {"transpose", 6, transposed},
    {"expand", 4, expanded},
    {"slice", 6, sliced},
    {"concat", 4, concatenated},
    {"split", 3, split_of},
    {"pad", 4, padded},
    {"reduction", 9, reduction},
    {"extreme", 3, extreme},
    {"running", 3, running},
    {"softmax", 3, softmax_of},
    {"norm", 3, norm},
    {"product", 6, product},
    {"gather", 5, gathered},
    {"scatter", 3, scattered},
    {"sort", 2, sorted},
    {"range", 2, range_of},
    {"shape", 2, shape_of},
};

}  // namespace

std::span<const OpRow> op_rows() { return kRows; }

}  // namespace tenon::differential
