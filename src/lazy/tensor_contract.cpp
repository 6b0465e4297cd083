// Products of tensors: matrix products, sums by equation, convolutions, pooling, attention.
#include <algorithm>

#include "base/error.h"
#include "graph/einsum.h"
#include "lazy/apply.h"
#include "lazy/promote.h"

namespace tenon {
namespace {

using graph::Op;
using lazy::apply;
using lazy::as_float;
using lazy::named;

// Windows that slide over the axes after the first two: what conv and the pools say alike.
struct Window {
  Window(const char* call, const Tensor& x, std::vector<Dim> kernel, const WindowOptions& options)
      : axes(static_cast<size_t>(x.rank() - 2)),
        strides(per_axis(call, "stride", options.stride, 1)),
        padding(per_axis(call, "padding", options.padding, 0)),
        dilations(per_axis(call, "dilation", options.dilation, 1)) {
    for (size_t i = 0; i < axes; ++i) {
      const Dim reach = (kernel[i] - 1) * dilations[i] + 1;
      const Dim whole = x.shape()[static_cast<int>(i) + 2] + 2 * padding[i];
      const auto& values = lazy::Access::expression(x).values();
      const auto needed = lazy::evaluate(reach, values), there = lazy::evaluate(whole, values);
      if (prove_le(reach, whole) == Proof::No || (needed && there && *needed > *there))
        throw user_error("[{}] the window is larger than the image: {}", call,
                         x.type().to_string());
      extents.push_back(floordiv(whole - reach, strides[i]) + 1);
      begins.emplace_back(padding[i]);
      ends.push_back(x.shape()[static_cast<int>(i) + 2] + padding[i]);
    }
  }

  graph::Attributes attributes() const {
    return {
        {"extents", extents}, {"begins", begins}, {"strides", strides}, {"dilations", dilations}};
  }

  size_t axes;
  std::vector<int64_t> strides, padding, dilations;
  std::vector<Dim> extents, begins, ends;

 private:
  std::vector<int64_t> per_axis(const char* call, const char* what,
                                const std::vector<int64_t>& given, int64_t least) const {
    std::vector<int64_t> result = given;
    if (given.size() == 1) result.assign(axes, given[0]);
    if (result.size() != axes)
      throw user_error("[{}] {} numbers of {} for {} axes", call, given.size(), what, axes);
    for (const int64_t number : result) {
      if (number < least) throw user_error("[{}] {} is {}", call, what, number);
    }
    return result;
  }
};

void check_image(const char* call, const Tensor& x) {
  if (x.rank() < 3)
    throw user_error("[{}] needs [batch, channels, axes...]: {}", call, x.type().to_string());
}

std::vector<int64_t> kernel_of(const char* call, const Tensor& x,
                               const std::vector<int64_t>& kernel) {
  const auto axes = static_cast<size_t>(x.rank() - 2);
  if (kernel.size() == 1) return std::vector<int64_t>(axes, kernel[0]);
  if (kernel.size() != axes)
    throw user_error("[{}] a window of {} axes for {}", call, kernel.size(), x.type().to_string());
  return kernel;
}

WindowOptions stride_or(const std::vector<int64_t>& otherwise, WindowOptions options) {
  if (options.stride.empty()) options.stride = otherwise;
  return options;
}

// Unless the options say otherwise, windows lie side by side. `padded`: up to where padding counts.
graph::Attributes pool_attributes(const char* call, const Tensor& x,
                                  const std::vector<int64_t>& given, const WindowOptions& options,
                                  bool padded = false) {
  check_image(call, x);
  const std::vector<int64_t> kernel = kernel_of(call, x, given);
  const Window window(call, x, {kernel.begin(), kernel.end()}, stride_or(kernel, options));
  graph::Attributes attributes = window.attributes();
  attributes.set("kernel", kernel);
  if (padded) attributes.set("ends", window.ends);
  return attributes;
}

}  // namespace

Tensor Tensor::matmul(const Tensor& other) const {
  return named("matmul", [&] {
    const DType dtype = lazy::promoted("matmul", *this, other);
    Tensor a = cast(dtype), b = other.cast(dtype);
    if (a.rank() == 0 || b.rank() == 0)
      throw user_error("[matmul] a scalar has no axis: {} x {}", type().to_string(),
                       other.type().to_string());
    const bool row = a.rank() == 1, column = b.rank() == 1;
    if (row) a = a.unsqueeze(0);
    if (column) b = b.unsqueeze(1);
    Tensor product = apply(Op::MatMul, {a, b});
    if (column) product = product.squeeze(-1);
    return row ? product.squeeze(column ? -1 : -2) : product;
  });
}

Tensor Tensor::einsum(const std::string& equation, const std::vector<Tensor>& operands) {
  if (operands.empty()) throw user_error("[einsum] there are no operands");
  const DType dtype = lazy::promoted("einsum", operands);
  std::vector<Tensor> alike;
  for (const Tensor& operand : operands) alike.push_back(operand.cast(dtype));
  try {
    return lazy::compose(alike, [&](graph::Graph& g, const std::vector<graph::Value>& inputs) {
      return graph::einsum(g, equation, inputs);
    });
  } catch (const Error& error) {
    throw Error(error.kind(), "[einsum] \"" + equation + "\": " + error.what());
  }
}

Tensor Tensor::linear(const Tensor& weight, const Tensor& bias) const {
  return named("linear", [&] {
    if (weight.rank() != 2)
      throw user_error("[linear] the weight has two axes: {}", weight.type().to_string());
    const Tensor y = matmul(weight.transpose());
    return bias ? y + bias : y;
  });
}

Tensor Tensor::conv(const Tensor& weight, const Tensor& bias, const WindowOptions& options) const {
  return named("conv", [&] {
    check_image("conv", *this);
    if (weight.rank() != rank())
      throw user_error("[conv] image {} and weight {}", type().to_string(),
                       weight.type().to_string());
    const DType dtype = lazy::promoted("conv", *this, weight);
    const auto& dims = weight.shape().dims();
    const Window window("conv", *this, {dims.begin() + 2, dims.end()}, stride_or({1}, options));
    graph::Attributes attributes = window.attributes();
    attributes.set("groups", options.groups);
    std::vector<Tensor> operands{cast(dtype), weight.cast(dtype)};
    if (bias) operands.push_back(bias.cast(dtype));
    return apply(Op::Conv, operands, std::move(attributes));
  });
}

Tensor Tensor::max_pool(const std::vector<int64_t>& kernel, const WindowOptions& options) const {
  return named("max_pool", [&] {
    graph::Attributes attributes = pool_attributes("max_pool", *this, kernel, options);
    attributes.set("column_major", int64_t{0});
    return lazy::apply_all(Op::MaxPool, {*this}, std::move(attributes))[0];
  });
}

// What is padded counts as zeros.
Tensor Tensor::avg_pool(const std::vector<int64_t>& kernel, const WindowOptions& options) const {
  return named("avg_pool", [&] {
    return apply(Op::AveragePool, {as_float(*this)},
                 pool_attributes("avg_pool", *this, kernel, options, true));
  });
}

Tensor Tensor::attention(const Tensor& k, const Tensor& v, const TensorAttentionOptions& options,
                         const Tensor& mask) const {
  return named("attention", [&] {
    if (rank() != 3)
      throw user_error("[attention] needs [batch, queries, width]: {}", type().to_string());
    const Dim& width = shape()[2];
    if (!width.is_const() || options.heads < 1 || width.const_value() % options.heads != 0)
      throw user_error("[attention] {} heads do not divide the width of {}", options.heads,
                       type().to_string());
    graph::Attributes attributes{{"heads", options.heads},
                                 {"head_dim", width.const_value() / options.heads},
                                 {"kv_heads", options.kv_heads},
                                 {"scale", options.scale},
                                 {"causal", int64_t{options.causal}}};
    std::vector<Tensor> operands{*this, k, v};
    if (mask) operands.push_back(mask.cast(dtype()));
    return apply(Op::Attention, operands, std::move(attributes));
  });
}

}  // namespace tenon
