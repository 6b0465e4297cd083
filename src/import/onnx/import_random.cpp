// Importers of random numbers. The name of the node's result is the token that tells its numbers
// from those of other nodes; without a seed the seed is 0, so every run of a model is the same.
#include <bit>

#include "import/onnx/compute.h"
#include "import/onnx/importers.h"
#include "import/onnx/ops/quantize.h"

namespace tenon::onnx::importers {
namespace {

// Seeds are floats, those of Dropout integers.
int64_t seed_of(Call& call) {
  const AttributeProto* seed = call.find("seed");
  if (!seed) return 0;
  if (seed->kind == AttributeKind::Int) return call.integer("seed");
  return std::bit_cast<int32_t>(static_cast<float>(call.number("seed", 0)));
}

Value draw(Call& call, Op op, DType dtype, std::vector<Dim> shape, graph::Attributes attributes) {
  attributes.set("dtype", dtype);
  attributes.set("shape", std::move(shape));
  attributes.set("seed", seed_of(call));
  attributes.set("token", call.output_name(0));
  return call.g.apply(op, {}, std::move(attributes));
}

Value draw_fractions(Call& call, DType dtype, std::vector<Dim> shape) {
  return draw(call, Op::RandomUniform, dtype, std::move(shape), {{"low", 0.0}, {"high", 1.0}});
}

// The Like forms take shape and dtype from an operand, the others have them as attributes.
Results random(Call& call, Op op, graph::Attributes attributes) {
  Value like = call.maybe(0);
  const DType otherwise = like ? like.dtype() : DType::F32;
  const DType dtype =
      call.find("dtype") ? dtype_of(call.integer("dtype"), "attribute 'dtype'") : otherwise;
  std::vector<Dim> shape;
  if (like) {
    shape = like.shape().dims();
  } else {
    const auto given = call.integers("shape");
    if (!given) throw user_error("attribute 'shape' is missing");
    shape.assign(given->begin(), given->end());
  }
  return {draw(call, op, dtype, std::move(shape), std::move(attributes))};
}

// Whether dropout drops at all, where that is known: always before opset 7 unless is_test, never
// from 7 on, by operand since 12.
std::optional<bool> training_mode(Call& call) {
  if (call.opset() < 7) return call.integer("is_test", 0) == 0;
  Value operand = call.maybe(2);
  if (call.opset() < 12 || !operand) return false;
  const auto known = shape_value(operand);
  if (!known || known->size() != 1 || !known->front().is_const()) return std::nullopt;
  return !known->front().is_const(0);
}

}  // namespace

Results random_uniform(Call& call) {
  return random(call, Op::RandomUniform,
                {{"low", call.number("low", 0.0)}, {"high", call.number("high", 1.0)}});
}

Results random_normal(Call& call) {
  return random(call, Op::RandomNormal,
                {{"mean", call.number("mean", 0.0)}, {"scale", call.number("scale", 1.0)}});
}

Results bernoulli(Call& call) {
  Value p = call.in(0);
  const DType dtype =
      call.find("dtype") ? dtype_of(call.integer("dtype"), "attribute 'dtype'") : p.dtype();
  p = as(call, p, compute_dtype(p.dtype()));
  Value hit = call.g.binary(Op::Less, draw_fractions(call, p.dtype(), p.shape().dims()), p);
  return {as(call, hit, dtype)};
}

// The largest of log-probability + Gumbel noise is each class with its probability.
Results multinomial(Call& call) {
  graph::Graph& g = call.g;
  Value x = call.in(0);
  const DType dtype = dtype_of(call.integer("dtype", info(DType::I32).onnx), "attribute 'dtype'");
  const int64_t samples = call.integer("sample_size", 1);
  if (x.shape().rank() != 2 || samples < 0) {
    throw user_error("sample_size={} of {}", samples, x.type().to_string());
  }
  const Dim batch = x.shape()[0], classes = x.shape()[1];
  Value u = draw_fractions(call, DType::F64, {batch, samples, classes});
  Value exponential = g.unary(Op::Neg, g.unary(Op::Log, u));
  Value logits = g.reshape(as(call, x, DType::F64), {batch, 1, classes});
  Value noisy = g.sub(logits, g.unary(Op::Log, exponential));
  Value index = g.apply(Op::ArgMax, {noisy}, {{"axis", int64_t{2}}});
  return {as(call, g.reshape(index, {batch, samples}), dtype)};
}

// Keeps an element with probability 1 - ratio, as 1 / (1 - ratio) of it.
Results dropout(Call& call) {
  graph::Graph& g = call.g;
  Value x = call.in(0);
  const std::optional<bool> training = training_mode(call);
  const DType dtype = compute_dtype(x.dtype());
  const DType mask_dtype = call.opset() < 10 ? x.dtype() : DType::Bool;
  const double attribute = call.number("ratio", 0.5);
  call.find("seed");  // known, whether it is used or not
  if (training == false) {
    Value mask;
    if (call.wants(1)) mask = g.expand(g.scalar(mask_dtype, 1), x.shape().dims());
    return {x, mask};
  }
  Value ratio = g.scalar(dtype, attribute);
  if (Value operand = call.maybe(1)) ratio = g.reshape(as(call, operand, dtype), {});
  Value mask = g.binary(Op::LessEqual, ratio, draw_fractions(call, dtype, x.shape().dims()));
  Value factor = g.unary(Op::Reciprocal, g.sub(g.scalar(dtype, 1), ratio));
  if (!training) {
    Value active = g.reshape(call.in(2), {});
    mask = g.binary(Op::Or, mask, g.unary(Op::Not, active));
    factor = g.apply(Op::Where, {active, factor, g.scalar(dtype, 1)});
  }
  Value kept = g.apply(Op::Where, {mask, g.mul(as(call, x, dtype), factor), g.scalar(dtype, 0)});
  return {as(call, kept, x.dtype()), as(call, mask, mask_dtype)};
}

}  // namespace tenon::onnx::importers
