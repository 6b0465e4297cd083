// Reductions, running sums, and what is made of them: norms and softmax.
#include <algorithm>
#include <numeric>
#include <optional>

#include "base/error.h"
#include "lazy/apply.h"
#include "lazy/promote.h"

namespace tenon {
namespace {

using graph::Op;
using lazy::apply;
using lazy::as_float;
using lazy::named;

using Axes = std::vector<int64_t>;

Axes axes_or_all(const char* call, const Tensor& x, const Axes& axes) {
  Axes result = axes;
  if (axes.empty()) {
    result.resize(static_cast<size_t>(x.rank()));
    std::iota(result.begin(), result.end(), 0);
  }
  for (int64_t& axis : result) axis = lazy::wrap_axis(call, axis, x);
  return result;
}

Tensor without(const Tensor& kept, const Axes& axes) {
  std::vector<Dim> dims;
  for (int i = 0; i < kept.rank(); ++i) {
    if (std::ranges::find(axes, i) == axes.end()) dims.push_back(kept.shape()[i]);
  }
  return apply(Op::Reshape, {kept}, {{"shape", std::move(dims)}});
}

// Nothing has no largest element; a result without elements needs none.
lazy::Extreme elements_of(const char* call, const Tensor& x, const Axes& axes) {
  lazy::Extreme result{call, 1, 1};
  for (int axis = 0; axis < x.rank(); ++axis) {
    const bool goes = std::ranges::find(axes, axis) != axes.end();
    Dim& count = goes ? result.elements : result.results;
    count = count * x.shape()[axis];
  }
  return result;
}

Tensor reduce(const char* call, Op op, const Tensor& x, const Axes& given, bool keep,
              bool needs_element = false) {
  const Axes axes = axes_or_all(call, x, given);
  if (axes.empty()) return x;
  std::optional<lazy::Extreme> extreme;
  if (needs_element) extreme = elements_of(call, x, axes);
  const Tensor kept = apply(op, {x}, {{"axes", axes}}, {}, extreme);
  return keep ? kept : without(kept, axes);
}

// How many elements are reduced to one, less so many, as a float.
Tensor count_of(const Tensor& x, const Axes& axes, int64_t less) {
  Dim count = 1;
  for (const int64_t axis : axes) count = count * x.shape()[static_cast<int>(axis)];
  return lazy::dim(Extent(count - less)).cast(x.dtype());
}

Tensor wide(const Tensor& x) {
  return info(x.dtype()).kind == DTypeKind::Float || x.dtype() == DType::U64 ? x
                                                                             : x.cast(DType::I64);
}

Tensor arg_extreme(const char* call, Op op, const Tensor& x, int64_t given, bool keep) {
  const int64_t axis = lazy::wrap_axis(call, given, x);
  const Tensor kept =
      apply(op, {x.dtype() == DType::Bool ? x.cast(DType::U8) : x}, {{"axis", axis}});
  return keep ? kept : without(kept, {axis});
}

// Bools have an order as numbers.
Tensor extreme(const char* call, Op op, const Tensor& x, const Axes& axes, bool keep,
               bool needs_element) {
  if (x.dtype() != DType::Bool) return reduce(call, op, x, axes, keep, needs_element);
  return reduce(call, op, x.cast(DType::U8), axes, keep, needs_element).cast(DType::Bool);
}

}  // namespace

Tensor Tensor::sum(const Axes& axes, bool keep) const {
  return named("sum", [&] { return reduce("sum", Op::ReduceSum, wide(*this), axes, keep); });
}
Tensor Tensor::mean(const Axes& axes, bool keep) const {
  return named("mean", [&] { return reduce("mean", Op::ReduceMean, as_float(*this), axes, keep); });
}
Tensor Tensor::max(const Axes& axes, bool keep) const {
  return named("max", [&] { return extreme("max", Op::ReduceMax, *this, axes, keep, true); });
}
Tensor Tensor::min(const Axes& axes, bool keep) const {
  return named("min", [&] { return extreme("min", Op::ReduceMin, *this, axes, keep, true); });
}
Tensor Tensor::prod(const Axes& axes, bool keep) const {
  return named("prod", [&] { return reduce("prod", Op::ReduceProd, wide(*this), axes, keep); });
}
Tensor Tensor::any(const Axes& axes, bool keep) const {
  return named("any",
               [&] { return extreme("any", Op::ReduceMax, cast(DType::Bool), axes, keep, false); });
}
Tensor Tensor::all(const Axes& axes, bool keep) const {
  return named("all",
               [&] { return extreme("all", Op::ReduceMin, cast(DType::Bool), axes, keep, false); });
}
Tensor Tensor::var(const Axes& given, bool keep, int64_t less) const {
  return named("var", [&] {
    const Tensor x = as_float(*this);
    const Axes axes = axes_or_all("var", x, given);
    const Tensor centered = x - x.mean(axes, true);
    if (less == 0) return centered.square().mean(axes, keep);
    return centered.square().sum(axes, keep) / count_of(x, axes, less);
  });
}
Tensor Tensor::std(const Axes& axes, bool keep, int64_t less) const {
  return named("std", [&] { return var(axes, keep, less).sqrt(); });
}
// The largest elements, less which no exponential overflows. An infinite one would make NaN of the
// difference.
static Tensor shift_of(const Tensor& x, const Axes& axes) {
  const Tensor most = reduce("max", Op::ReduceMax, x, axes, true);
  return Tensor::where(most.is_inf(), lazy::constant(0, x.dtype()), most);
}
Tensor Tensor::logsumexp(const Axes& given, bool keep) const {
  return named("logsumexp", [&] {
    const Tensor x = as_float(*this);
    const Axes axes = axes_or_all("logsumexp", x, given);
    const Tensor shift = shift_of(x, axes);
    const Tensor kept = (x - shift).exp().sum(axes, true).log() + shift;
    return keep || axes.empty() ? kept : without(kept, axes);
  });
}
Tensor Tensor::argmax(int64_t axis, bool keep) const {
  return named("argmax", [&] { return arg_extreme("argmax", Op::ArgMax, *this, axis, keep); });
}
Tensor Tensor::argmin(int64_t axis, bool keep) const {
  return named("argmin", [&] { return arg_extreme("argmin", Op::ArgMin, *this, axis, keep); });
}
Tensor Tensor::cumsum(int64_t axis) const {
  return named("cumsum", [&] {
    return apply(Op::CumSum, {wide(*this)}, {{"axis", lazy::wrap_axis("cumsum", axis, *this)}});
  });
}
Tensor Tensor::cumprod(int64_t axis) const {
  return named("cumprod", [&] {
    return apply(Op::CumProd, {wide(*this)}, {{"axis", lazy::wrap_axis("cumprod", axis, *this)}});
  });
}

Tensor Tensor::softmax(int64_t axis) const {
  return named("softmax", [&] {
    return apply(Op::Softmax, {as_float(*this)},
                 {{"axis", lazy::wrap_axis("softmax", axis, *this)}});
  });
}
// The shift is taken off first: beside a large one the logarithm would lose its digits.
Tensor Tensor::log_softmax(int64_t axis) const {
  return named("log_softmax", [&] {
    const Tensor x = as_float(*this);
    const Axes axes{lazy::wrap_axis("log_softmax", axis, x)};
    const Tensor shifted = x - shift_of(x, axes);
    return shifted - shifted.exp().sum(axes, true).log();
  });
}

namespace {

// One value per element of the last axis.
Tensor last_axis_or(const char* call, const Tensor& given, const Tensor& x, double value) {
  if (x.rank() == 0) throw user_error("[{}] needs an axis: {}", call, x.type().to_string());
  if (given) return given.cast(x.dtype());
  return Tensor::full({Extent(x.shape()[x.rank() - 1])}, value, x.dtype());
}

// One value per channel, beside x.
Tensor per_channel(const char* call, const Tensor& given, const Tensor& x) {
  if (x.rank() < 2) throw user_error("[{}] needs channels: {}", call, x.type().to_string());
  if (given.rank() != 1 || given.shape()[0] != x.shape()[1])
    throw user_error("[{}] {} is not one value for each channel of {}", call,
                     given.type().to_string(), x.type().to_string());
  Extents shape(static_cast<size_t>(x.rank()), 1);
  shape[1] = Extent(x.shape()[1]);
  return given.reshape(shape);
}

}  // namespace

Tensor Tensor::layer_norm(const Tensor& scale, const Tensor& bias, double epsilon) const {
  return named("layer_norm", [&] {
    const Tensor x = as_float(*this);
    return apply(
        Op::LayerNorm,
        {x, last_axis_or("layer_norm", scale, x, 1), last_axis_or("layer_norm", bias, x, 0)},
        {{"epsilon", epsilon}});
  });
}
Tensor Tensor::rms_norm(const Tensor& scale, double epsilon) const {
  return named("rms_norm", [&] {
    const Tensor x = as_float(*this);
    return apply(Op::RmsNorm, {x, last_axis_or("rms_norm", scale, x, 1)}, {{"epsilon", epsilon}});
  });
}
Tensor Tensor::batch_norm(const Tensor& mean, const Tensor& variance, const Tensor& scale,
                          const Tensor& bias, double epsilon) const {
  return named("batch_norm", [&] {
    const Tensor factor = (variance + epsilon).rsqrt();
    const Tensor scaled = scale ? factor * scale : factor;
    const Tensor y =
        (*this - per_channel("batch_norm", mean, *this)) * per_channel("batch_norm", scaled, *this);
    return bias ? y + per_channel("batch_norm", bias, *this) : y;
  });
}
Tensor Tensor::group_norm(int64_t groups, const Tensor& scale, const Tensor& bias,
                          double epsilon) const {
  return named("group_norm", [&] {
    const Tensor x = as_float(*this);
    if (x.rank() < 2) throw user_error("[group_norm] needs channels: {}", x.type().to_string());
    if (groups < 1 || !floordiv(x.shape()[1], groups).is_const() ||
        floordiv(x.shape()[1], groups) * groups != x.shape()[1])
      throw user_error("[group_norm] {} groups do not divide the channels of {}", groups,
                       x.type().to_string());
    Extents whole;
    for (const Dim& dim : x.shape()) whole.emplace_back(dim);
    const Tensor rows = x.reshape({whole[0], groups, -1});
    const Tensor centered = rows - rows.mean({-1}, true);
    const Tensor normal = centered * (centered.square().mean({-1}, true) + epsilon).rsqrt();
    Tensor y = normal.reshape(whole);
    if (scale) y = y * per_channel("group_norm", scale, x);
    return bias ? y + per_channel("group_norm", bias, x) : y;
  });
}

}  // namespace tenon
