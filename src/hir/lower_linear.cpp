// Linears, alone and of one input, with quantized weights, and the gated network made of them.
#include <algorithm>

#include "base/error.h"
#include "hir/lowering.h"

namespace tenon::hir {

using graph::Value;

std::vector<Value> Lowering::linears(Value x, const std::vector<LinearWeights>& weights,
                                     ActivationKind activation) {
  Results w, biases;
  for (const LinearWeights& each : weights) {
    w.push_back((*this)[each.w]);
    biases.push_back((*this)[each.bias]);
    if (static_cast<bool>(biases.back()) != static_cast<bool>(biases.front()))
      throw user_error("some of the linears of one input have a bias, some have none");
  }
  Results results;
  for (size_t i = 0; i < w.size(); ++i)
    results.push_back(g.linear(x, w[i], biases[i], {}, activation_of(activation)));
  return results;
}

namespace {

Value linear(Lowering& to, Value x, Value w, const LinearOptions& options) {
  return to.g.linear(x, w, to[options.bias], to[options.residual],
                     activation_of(options.activation));
}

// [k / block, n] of scales or zero points, laid beside the values [k / block, block, n].
Value per_block(Lowering& to, Value of_blocks, const Dim& blocks, const Dim& columns,
                std::string_view what) {
  if (of_blocks.shape() != Shape{blocks, columns}) {
    throw user_error("{} must have the shape {}: {}", what, Shape{blocks, columns}.to_string(),
                     of_blocks.type().to_string());
  }
  return to.g.reshape(of_blocks, {blocks, 1, columns});
}

// The weight as floats. It depends on parameters only, so it is made once, not in every run.
Value dequantized(Lowering& to, const QuantizedWeight& w, DType dtype) {
  const Value values = to[w.values], scales = to[w.scales], zeros = to[w.zero_points];
  constexpr DType kTaken[] = {DType::I8, DType::U8, DType::I4, DType::U4};
  if (std::ranges::find(kTaken, values.dtype()) == std::end(kTaken) || values.shape().rank() != 2) {
    throw user_error("values must be a matrix of i8, u8, i4 or u4: {}", values.type().to_string());
  }
  const Dim &k = values.shape()[0], &n = values.shape()[1];
  const Dim block = w.block == 0 ? k : Dim(w.block);
  if (w.block < 0 || (w.block > 0 && !(mod(k, block) == Dim(0))))
    throw user_error("blocks of {} do not divide {} rows", w.block, k.to_string());
  const Dim blocks = floordiv(k, block);
  Value real = to.g.reshape(to.g.cast(values, dtype), {blocks, block, n});
  if (zeros) {
    if (zeros.dtype() != values.dtype()) {
      throw user_error("zero_points have another dtype than values: {} and {}",
                       to_string(zeros.dtype()), to_string(values.dtype()));
    }
    real = to.g.sub(real, to.g.cast(per_block(to, zeros, blocks, n, "zero_points"), dtype));
  }
  return to.g.reshape(to.g.mul(real, per_block(to, scales, blocks, n, "scales")), {k, n});
}

}  // namespace

Results lower_block(Lowering& to, const Linear& block) {
  return {linear(to, to[block.x], to[block.w], block.options)};
}

Results lower_block(Lowering& to, const SharedLinears& block) {
  if (block.linears.empty()) throw user_error("there is none");
  return to.linears(to[block.x], block.linears, block.activation);
}

Results lower_block(Lowering& to, const DequantizingLinear& block) {
  const Value x = to[block.x];
  return {linear(to, x, dequantized(to, block.w, x.dtype()), block.options)};
}

Results lower_block(Lowering& to, const SwiGlu& block) {
  const Value inner = to.g.gated_linear(to[block.x], to[block.weights.gate], to[block.weights.up],
                                        activation_of(block.options.activation));
  return {linear(to, inner, to[block.weights.down], {.residual = block.options.residual})};
}

}  // namespace tenon::hir
