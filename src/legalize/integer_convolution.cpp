// See integer_convolution.h.
#include "legalize/integer_convolution.h"

#include <cstring>
#include <numeric>
#include <optional>
#include <vector>

#include "graph/convolution.h"
#include "legalize/bytes.h"

namespace tenon::legalize {

using graph::Attributes;
using graph::Graph;
using graph::Node;
using graph::Op;
using graph::Value;

namespace {

constexpr int kBitsOfI32 = 31, kBitsOfF32 = 24;

int64_t depth_of(const Node& conv) {
  const Shape& w = conv.operand(1).shape();
  int64_t depth = 1;
  for (int axis = 1; axis < w.rank(); ++axis)
    depth = w[axis].is_const() ? depth * w[axis].const_value() : kDimInf;
  return depth;
}

bool is_one(Value parameter) { return parameter.shape().elements().is_const(1); }

// One number for each kernel, [n, 1, ...], or one for all.
bool is_per_kernel(Value parameter, Value weights) {
  const Shape& shape = parameter.shape();
  const Dim& kernels = weights.shape()[0];
  return is_one(parameter) || (shape.rank() == weights.shape().rank() && shape[0] == kernels &&
                               shape.elements() == kernels);
}

// A zero point that lies among bytes; null: 0.
bool is_near(Value zero) {
  if (!zero) return true;
  while (zero.op() == Op::Reshape || zero.op() == Op::Expand) zero = zero.node->operand(0);
  if (zero.op() == Op::Cast) return size_of(zero.node->operand(0).dtype()) == 1;
  if (zero.op() != Op::Constant || zero.dtype() != DType::I32) return false;
  const auto bytes = zero.node->bytes();
  for (size_t at = 0; at < bytes.size(); at += sizeof(int32_t)) {
    int32_t number = 0;
    std::memcpy(&number, &bytes[at], sizeof number);
    if (number < -128 || number > 255) return false;
  }
  return true;
}

// As it meets the result: [1, n, 1, ...], or a scalar.
Value per_channel(Graph& g, Value parameter, int rank) {
  if (is_one(parameter)) return g.reshape(parameter, {});
  std::vector<Dim> dims(static_cast<size_t>(rank), 1);
  dims[1] = parameter.shape().elements();
  return g.reshape(parameter, std::move(dims));
}

// The image with a margin of its zero point, as wide as the windows need; the convolution's windows
// then begin inside. Without a margin there is nothing to do.
struct Padded {
  Value image;
  Attributes attributes;
};
Padded padded(Graph& g, const Node& conv, Value image, Value zero) {
  const Shape &x = image.shape(), &w = conv.operand(1).shape(), &y = conv.types()[0].shape;
  Padded result{image, conv.attributes()};
  const std::vector<Dim>& begins = conv.attributes().dims("begins");
  const auto& strides = conv.attributes().integers("strides");
  const auto& dilations = conv.attributes().integers("dilations");
  std::vector<Dim> before, after, extents = {x[0], x[1]};
  std::vector<int64_t> axes;
  bool any = false;
  for (size_t i = 0; i < begins.size(); ++i) {
    const int axis = static_cast<int>(i) + 2;
    const Dim end = (y[axis] - 1) * strides[i] + (w[axis] - 1) * dilations[i] + 1;
    before.push_back(begins[i]);
    after.push_back(max(end - begins[i] - x[axis], 0));
    extents.push_back(x[axis] + before.back() + after.back());
    axes.push_back(axis);
    any = any || !before.back().is_const(0) || !after.back().is_const(0);
  }
  if (!any) return result;
  before.insert(before.end(), after.begin(), after.end());
  const Value fill = g.cast(g.reshape(zero, {}), image.dtype());
  result.image = g.apply(Op::Pad, {image, g.dims(std::move(before)), g.integers(axes), fill},
                         {{"mode", std::string("constant")}, {"shape", std::move(extents)}});
  result.attributes.set("begins", std::vector<Dim>(begins.size(), 0));
  return result;
}

// In i32; null where the weights have a zero point.
Value product(Graph& g, const Node& conv, Bytes image, Bytes weights) {
  image = stored_as(g, image, DType::U8), weights = stored_as(g, weights, DType::I8);
  if (weights.zero || (image.zero && !is_one(image.zero))) return {};
  const Padded x = image.zero ? padded(g, conv, image.stored, image.zero)
                              : Padded{image.stored, conv.attributes()};
  const Value w = g.cast(weights.stored, DType::I32);
  const Value sums = g.apply(Op::Conv, {g.cast(x.image, DType::I32), w}, x.attributes);
  if (!image.zero) return sums;
  std::vector<int64_t> axes(static_cast<size_t>(w.shape().rank() - 1));
  std::iota(axes.begin(), axes.end(), 1);
  const Value of_kernels = per_channel(g, g.reduce(Op::ReduceSum, w, axes), w.shape().rank());
  return g.sub(sums, g.mul(of_kernels, g.reshape(image.zero, {})));
}

Value with_bias(Graph& g, Value sums, std::span<const Value> operands) {
  return operands.size() < 3 ? sums : g.add(sums, per_channel(g, operands[2], sums.shape().rank()));
}

}  // namespace

Value integer_convolution(Graph& g, const Node& conv, std::span<const Value> operands,
                          bool as_products) {
  const DType dtype = conv.types()[0].dtype;
  const int64_t depth = depth_of(conv);
  const bool multiplies =
      as_products && graph::is_matrix_product(conv) && depth <= longest_sum(kBitsOfI32);
  if (dtype == DType::I32) {
    const auto image = bytes_of(operands[0], 1), weights = bytes_of(operands[1], 1);
    if (!image || !weights) return {};
    if (multiplies) {
      if (const Value sums = product(g, conv, *image, *weights))
        return with_bias(g, sums, operands);
    }
    if (depth > longest_sum(kBitsOfF32) || !is_near(image->zero) || !is_near(weights->zero))
      return {};
    const Value sums =
        g.apply(Op::Conv, {g.cast(operands[0], DType::F32), g.cast(operands[1], DType::F32)},
                conv.attributes());
    return with_bias(g, g.cast(sums, DType::I32), operands);
  }
  if (dtype != DType::F32 || !multiplies) return {};
  const auto image = dequantized(operands[0], 1), weights = dequantized(operands[1], 1);
  if (!image || !weights || !is_one(image->scale) || !is_per_kernel(weights->scale, operands[1]))
    return {};
  const Value sums = product(g, conv, image->bytes, weights->bytes);
  if (!sums) return {};
  const int rank = sums.shape().rank();
  const Value scale = g.mul(g.reshape(image->scale, {}), per_channel(g, weights->scale, rank));
  return with_bias(g, g.mul(g.cast(sums, DType::F32), scale), operands);
}

}  // namespace tenon::legalize
