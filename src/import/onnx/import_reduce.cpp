// Importers of reductions and of ops along one axis. The axes of a reduction are an attribute, a
// constant, or data; then the extents of the result are symbols that the run defines.
#include <algorithm>
#include <limits>

#include "import/onnx/compute.h"
#include "import/onnx/importers.h"
#include "import/onnx/ops/math.h"

namespace tenon::onnx::importers {
namespace {

// What a node says about axes, for one reduction or for several over the same axes.
class Reduction {
 public:
  explicit Reduction(Call& call);
  Value kept(Op op, Value x) const { return reduced(op, x, true); }  // axes stay, as extent 1
  Value operator()(Op op, Value x) const { return reduced(op, x, keep_); }

 private:
  void read_axes(bool noop);
  void read_axes_from_data(bool noop);
  Value reduced(Op op, Value x, bool keep) const;
  std::vector<Dim> fresh_extents(int rank) const;

  Call& call_;
  int rank_;
  bool keep_;
  std::vector<int64_t> axes_;  // none: nothing to reduce
  Value data_;                 // the axes, where they are data
  std::vector<Dim> kept_shape_, shape_;
};

Reduction::Reduction(Call& call)
    : call_(call), rank_(call.in(0).shape().rank()), keep_(call.flag("keepdims", true)) {
  read_axes(call.flag("noop_with_empty_axes", false));
}

void Reduction::read_axes(bool noop) {
  std::optional<std::vector<int64_t>> given = call_.integers("axes");
  if (Value operand = call_.maybe(1); !given && operand) {
    const Shape& shape = operand.shape();
    const bool none = shape.rank() == 1 && shape[0].is_const(0);
    if (!none && !shape_value(operand)) return read_axes_from_data(noop);
    given = none ? std::vector<int64_t>() : call_.constants(operand, "axes");
  }
  axes_ = Call::axes_of(given.value_or(std::vector<int64_t>()), rank_);
  for (int i = 0; i < rank_ && given.value_or(std::vector<int64_t>()).empty() && !noop; ++i) {
    axes_.push_back(i);
  }
}

void Reduction::read_axes_from_data(bool noop) {
  data_ = call_.in(1);
  const Dim count = data_.shape().elements();
  if (!count.is_const() && (noop || !keep_)) {
    throw unsupported_error("the number of axes ({}) is not known", data_.type().to_string());
  }
  kept_shape_ = shape_ = fresh_extents(rank_);
  if (keep_) return;
  const int64_t left = rank_ - count.const_value();
  if (left < 0) throw user_error("there are more axes than {} has", call_.in(0).type().to_string());
  shape_ = fresh_extents(static_cast<int>(left));
}

std::vector<Dim> Reduction::fresh_extents(int rank) const {
  std::vector<Dim> result;
  for (int i = 0; i < rank; ++i) {
    result.emplace_back(call_.g.fresh_symbol("reduced", {0, kDimInf}));
  }
  return result;
}

Value Reduction::reduced(Op op, Value x, bool keep) const {
  if (data_) {
    return call_.g.apply(Op::ReduceOver, {x, data_},
                         {{"op", std::string(graph::info(op).text)},
                          {"shape", keep ? kept_shape_ : shape_},
                          {"keep", int64_t{keep}}});
  }
  if (axes_.empty()) return x;
  Value result = call_.g.reduce(op, x, axes_);
  if (keep) return result;
  std::vector<Dim> dims;
  for (int i = 0; i < rank_; ++i) {
    if (std::find(axes_.begin(), axes_.end(), i) == axes_.end()) dims.push_back(x.shape()[i]);
  }
  return call_.g.reshape(result, std::move(dims));
}

// Before opset 13 the tensor counts as a matrix, cut at `axis`; since then the op is along one
// axis.
template <typename Function>
Results along_axis(Call& call, Function f) {
  Value x = call.in(0);
  const int rank = x.shape().rank();
  const int64_t axis = Call::axis_of(call.integer("axis", call.opset() < 13 ? 1 : -1), rank);
  if (call.opset() >= 13 || axis == rank - 1) return {f(x, axis)};
  const std::vector<Dim>& dims = x.shape().dims();
  const Dim rows = product({dims.begin(), dims.begin() + axis});
  const Dim columns = product({dims.begin() + axis, dims.end()});
  return {call.g.reshape(f(call.g.reshape(x, {rows, columns}), 1), dims)};
}

Value square(Call& call, Value x) { return call.g.mul(x, x); }

}  // namespace

namespace {

// The mean of 64-bit integers towards 0, exact where their sum fits nothing: quotients and
// remainders are summed apart.
Value exact_mean(Call& call, const Reduction& reduce) {
  graph::Graph& g = call.g;
  Value x = call.in(0);
  const auto number = [&](double value) { return number_like(call, x, value); };
  const Value ones = g.expand(number(1), x.shape().dims());
  const Value of_each = g.binary(Op::Max, reduce.kept(Op::ReduceSum, ones), number(1));
  const Value count = g.binary(Op::Max, reduce(Op::ReduceSum, ones), number(1));
  const Value quotients = g.div(x, of_each);
  const Value rest = reduce(Op::ReduceSum, g.sub(x, g.mul(quotients, of_each)));
  const Value carry = g.div(rest, count), left = g.sub(rest, g.mul(carry, count));
  const Value whole = g.add(reduce(Op::ReduceSum, quotients), carry);
  if (x.dtype() == DType::U64) return whole;
  const auto opposite = [&](Value low, Value high) {
    return g.binary(Op::And, g.binary(Op::Less, low, number(0)),
                    g.binary(Op::Less, number(0), high));
  };
  const Value up = g.apply(Op::Where, {opposite(whole, left), number(1), number(0)});
  const Value down = g.apply(Op::Where, {opposite(left, whole), number(1), number(0)});
  return g.sub(g.add(whole, up), down);
}

}  // namespace

// Of truth values the reductions are those of 0 and 1; the mean of integers is of real numbers.
Results reduce_over_axes(Call& call, Op op) {
  const Reduction reduce(call);
  Value x = call.in(0);
  if (x.dtype() == DType::Bool) {
    return {call.g.cast(reduce(op, call.g.cast(x, DType::U8)), DType::Bool)};
  }
  if (op == Op::ReduceMean && is_integer(x.dtype()) && size_of(x.dtype()) == 8) {
    return {exact_mean(call, reduce)};
  }
  if (op == Op::ReduceMean && is_integer(x.dtype())) {
    return computed(call, x, [&](Value v) { return reduce(op, v); });
  }
  return {reduce(op, x)};
}

Results reduce_l1(Call& call) {
  const Reduction reduce(call);
  return {reduce(Op::ReduceSum, call.g.unary(Op::Abs, call.in(0)))};
}

Results reduce_l2(Call& call) {
  const Reduction reduce(call);
  return computed(call, call.in(0), [&](Value x) {
    return call.g.unary(Op::Sqrt, reduce(Op::ReduceSum, square(call, x)));
  });
}

Results reduce_sum_square(Call& call) {
  const Reduction reduce(call);
  Value x = call.in(0);
  if (is_integer(x.dtype())) return {reduce(Op::ReduceSum, square(call, x))};
  return computed(call, x, [&](Value v) { return reduce(Op::ReduceSum, square(call, v)); });
}

Results reduce_log_sum(Call& call) {
  const Reduction reduce(call);
  return computed(call, call.in(0),
                  [&](Value x) { return call.g.unary(Op::Log, reduce(Op::ReduceSum, x)); });
}

// Shifted by the largest element, so that exp does not overflow; by 0 where that is infinite.
Results reduce_log_sum_exp(Call& call) {
  const Reduction reduce(call);
  graph::Graph& g = call.g;
  constexpr double kInf = std::numeric_limits<double>::infinity();
  const auto finite = [&](Value largest) {
    const Value size = g.unary(Op::Abs, largest);
    return g.apply(Op::Where, {g.binary(Op::Less, size, number_like(call, size, kInf)), largest,
                               number_like(call, size, 0)});
  };
  return computed(call, call.in(0), [&](Value x) {
    const Value powers = g.unary(Op::Exp, g.sub(x, finite(reduce.kept(Op::ReduceMax, x))));
    const Value sum = g.unary(Op::Log, reduce(Op::ReduceSum, powers));
    return g.add(sum, finite(reduce(Op::ReduceMax, x)));
  });
}

Results softmax(Call& call) {
  return along_axis(call, [&](Value x, int64_t axis) { return call.g.softmax(x, axis); });
}

Results log_softmax(Call& call) {
  graph::Graph& g = call.g;
  return along_axis(call, [&](Value given, int64_t axis) {
    return computed(call, given,
                    [&](Value x) {
                      const Value shifted = g.sub(x, g.reduce(Op::ReduceMax, x, {axis}));
                      const Value sum = g.reduce(Op::ReduceSum, g.unary(Op::Exp, shifted), {axis});
                      return g.sub(shifted, g.unary(Op::Log, sum));
                    })
        .front();
  });
}

namespace {

// An axis that may have no elements gets a last one that none is smaller than, so that there is one
// to choose.
Value with_something_to_choose(graph::Graph& g, Value x, int64_t axis) {
  if (prove_le(1, x.shape()[static_cast<int>(axis)]) == Proof::Yes) return x;
  std::vector<Dim> dims = x.shape().dims();
  dims[static_cast<size_t>(axis)] = 1;
  constexpr double kInf = std::numeric_limits<double>::infinity();
  return g.concat({x, g.expand(g.scalar(x.dtype(), -kInf), std::move(dims))}, axis);
}

}  // namespace

// 1 where the position along the axis is that of the first largest element. Positions are running
// counts.
Results hardmax(Call& call) {
  graph::Graph& g = call.g;
  return along_axis(call, [&](Value x, int64_t axis) {
    const Value some = with_something_to_choose(g, x, axis);
    const Value index = g.apply(Op::ArgMax, {some}, {{"axis", axis}});
    const Value ones = g.expand(g.scalar(DType::I64, 1), x.shape().dims());
    const Value position = g.apply(Op::CumSum, {ones}, {{"axis", axis}, {"exclusive", int64_t{1}}});
    return g.cast(g.binary(Op::Equal, position, index), x.dtype());
  });
}

Results arg_extreme_along(Call& call, Op op) {
  Value x = call.in(0);
  const int64_t axis = Call::axis_of(call.integer("axis", 0), x.shape().rank());
  const bool keep = call.flag("keepdims", true), last = call.flag("select_last_index", false);
  Value result = call.g.apply(op, {x}, {{"axis", axis}, {"last", int64_t{last}}});
  if (keep) return {result};
  std::vector<Dim> dims = x.shape().dims();
  dims.erase(dims.begin() + axis);
  return {call.g.reshape(result, std::move(dims))};
}

Results cumulate_along(Call& call, Op op) {
  Value x = call.in(0), axis = call.in(1);
  graph::Attributes attributes{{"exclusive", int64_t{call.flag("exclusive", false)}},
                               {"reverse", int64_t{call.flag("reverse", false)}}};
  const auto known = shape_value(axis);
  if (!known || known->size() != 1 || !known->front().is_const()) {
    return {call.g.apply(op, {x, axis}, std::move(attributes))};
  }
  attributes.set("axis", Call::axis_of(known->front().const_value(), x.shape().rank()));
  return {call.g.apply(op, {x}, std::move(attributes))};
}

}  // namespace tenon::onnx::importers
