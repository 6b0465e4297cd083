// Linears, alone and of one input, with quantized weights, and the gated network made of them.
#include <algorithm>

#include "base/error.h"
#include "hir/lowering.h"

namespace tenon::hir {

using graph::Value;

Value Lowering::linear(Value x, Value w, const LinearParts& parts) {
  if (direct()) {
    return g.linear(x, w, parts.bias, parts.residual,
                    static_cast<graph::Activation>(parts.activation));
  }
  Value y = g.matmul(x, w);
  if (parts.bias) y = g.add(y, parts.bias);
  y = activation(parts.activation, y);
  return parts.residual ? g.add(y, parts.residual) : y;
}

std::vector<Value> Lowering::linears(Value x, const std::vector<Value>& w,
                                     const std::vector<Value>& biases, ActivationKind kind) {
  Results results;
  if (!direct() || w.size() == 1) {
    for (size_t i = 0; i < w.size(); ++i)
      results.push_back(linear(x, w[i], {.bias = biases[i], .activation = kind}));
    return results;
  }
  const Value bias = biases[0] ? g.concat(biases, 0) : Value{};
  const Value wide = linear(x, g.concat(w, 1), {.bias = bias, .activation = kind});
  Dim start = 0;
  for (const Value& each : w) {
    results.push_back(part(wide, wide.shape().rank() - 1, start, each.shape()[1]));
    start = start + each.shape()[1];
  }
  return results;
}

Value Lowering::gated(Value x, Value gate, Value up, ActivationKind kind) {
  return g.mul(activation(kind, g.matmul(x, gate)), g.matmul(x, up));
}

namespace {

Lowering::LinearParts parts_of(const Lowering& to, const LinearOptions& options) {
  return {to[options.bias], to[options.residual], options.activation};
}

// [k / block, n] of scales or zero points, laid beside the values [k / block, block, n].
Value per_block(Lowering& to, Value of_blocks, const Dim& blocks, const Dim& columns,
                std::string_view what) {
  if (of_blocks.shape() != Shape{blocks, columns}) {
    throw user_error("[dequantizing_linear] {} must have the shape {}: {}", what,
                     Shape{blocks, columns}.to_string(), of_blocks.type().to_string());
  }
  return to.g.reshape(of_blocks, {blocks, 1, columns});
}

// The weight as floats. It depends on parameters only, so it is made once, not in every run.
Value dequantized(Lowering& to, const QuantizedWeight& w, DType dtype) {
  const Value values = to[w.values], scales = to[w.scales], zeros = to[w.zero_points];
  constexpr DType kTaken[] = {DType::I8, DType::U8, DType::I4, DType::U4};
  if (std::ranges::find(kTaken, values.dtype()) == std::end(kTaken) || values.shape().rank() != 2) {
    throw user_error("[dequantizing_linear] values must be a matrix of i8, u8, i4 or u4: {}",
                     values.type().to_string());
  }
  const Dim &k = values.shape()[0], &n = values.shape()[1];
  const Dim block = w.block == 0 ? k : Dim(w.block);
  if (w.block < 0 || (w.block > 0 && !(mod(k, block) == Dim(0)))) {
    throw user_error("[dequantizing_linear] blocks of {} do not divide {} rows", w.block,
                     k.to_string());
  }
  const Dim blocks = floordiv(k, block);
  Value real = to.g.reshape(to.g.cast(values, dtype), {blocks, block, n});
  if (zeros) {
    if (zeros.dtype() != values.dtype()) {
      throw user_error(
          "[dequantizing_linear] zero_points have another dtype than values: {} and {}",
          to_string(zeros.dtype()), to_string(values.dtype()));
    }
    real = to.g.sub(real, to.g.cast(per_block(to, zeros, blocks, n, "zero_points"), dtype));
  }
  return to.g.reshape(to.g.mul(real, per_block(to, scales, blocks, n, "scales")), {k, n});
}

}  // namespace

Results lower_block(Lowering& to, const Linear& block) {
  return {to.linear(to[block.x], to[block.w], parts_of(to, block.options))};
}

Results lower_block(Lowering& to, const SharedLinears& block) {
  if (block.linears.empty()) throw user_error("[shared_linears] there is none");
  Results w, biases;
  for (const LinearWeights& linear : block.linears) {
    w.push_back(to[linear.w]);
    biases.push_back(to[linear.bias]);
    if (static_cast<bool>(biases.back()) != static_cast<bool>(biases.front()))
      throw user_error("[shared_linears] some have a bias, some have none");
  }
  return to.linears(to[block.x], w, biases, block.activation);
}

Results lower_block(Lowering& to, const DequantizingLinear& block) {
  const Value x = to[block.x];
  return {to.linear(x, dequantized(to, block.w, x.dtype()), parts_of(to, block.options))};
}

Results lower_block(Lowering& to, const SwiGlu& block) {
  const SwiGluWeights& weights = block.weights;
  const Value inner =
      to.gated(to[block.x], to[weights.gate], to[weights.up], block.options.activation);
  return {to.linear(inner, to[weights.down], {.residual = to[block.options.residual]})};
}

}  // namespace tenon::hir
