// Importers of activations, each written in a few primitives.
#include "import/onnx/compute.h"
#include "import/onnx/importers.h"
#include "import/onnx/ops/math.h"

namespace tenon::onnx::importers {
namespace {

Value scaled(Call& call, Value x, double factor) {
  return factor == 1.0 ? x : call.g.mul(x, number_like(call, x, factor));
}

Value hard_sigmoid_of(Call& call, Value x, double alpha, double beta) {
  return clamped(call, call.g.add(scaled(call, x, alpha), number_like(call, x, beta)), 0, 1);
}

Results gated_by_sigmoid(Call& call, double alpha) {
  return computed(call, call.in(0), [&](Value x) {
    return call.g.mul(x, call.g.unary(Op::Sigmoid, scaled(call, x, alpha)));
  });
}

// A bound as operand; models give it as a vector of one element too.
Value bound(Call& call, int i) {
  Value value = call.maybe(i);
  return value && value.shape().rank() > 0 ? call.g.reshape(value, {}) : value;
}

}  // namespace

Results elu(Call& call) {
  const double alpha = call.number("alpha", 1.0);
  return computed(call, call.in(0), [&](Value x) {
    return where_negative(call, x, scaled(call, call.g.unary(Op::Expm1, x), alpha));
  });
}

Results selu(Call& call) {
  const double alpha = call.number("alpha", 1.67326319217681884765625);
  const double gamma = call.number("gamma", 1.05070102214813232421875);
  return computed(call, call.in(0), [&](Value x) {
    const Value negative = scaled(call, call.g.unary(Op::Expm1, x), alpha);
    return scaled(call, where_negative(call, x, negative), gamma);
  });
}

Results celu(Call& call) {
  const double alpha = call.number("alpha", 1.0);
  return computed(call, call.in(0), [&](Value x) {
    const Value quotient = call.g.div(x, number_like(call, x, alpha));
    return where_negative(call, x, scaled(call, call.g.unary(Op::Expm1, quotient), alpha));
  });
}

Results leaky_relu(Call& call) {
  const double alpha = call.number("alpha", 0.01f);
  return computed(call, call.in(0),
                  [&](Value x) { return where_negative(call, x, scaled(call, x, alpha)); });
}

// Before opset 7 a vector of slopes is one per channel.
Results prelu(Call& call) {
  Value x = call.in(0), slope = call.in(1);
  const int rank = x.shape().rank();
  if (call.opset() < 7 && slope.shape().rank() == 1 && rank > 2) {
    std::vector<Dim> dims(static_cast<size_t>(rank - 1), 1);
    dims[0] = slope.shape()[0];
    slope = call.g.reshape(slope, std::move(dims));
  }
  return {where_negative(call, x, call.g.mul(x, slope))};
}

Results thresholded_relu(Call& call) {
  const double alpha = call.number("alpha", 1.0);
  return computed(call, call.in(0), [&](Value x) {
    const Value above = call.g.binary(Op::Less, number_like(call, x, alpha), x);
    return call.g.apply(Op::Where, {above, x, number_like(call, x, 0)});
  });
}

Results hard_sigmoid(Call& call) {
  const double alpha = call.number("alpha", 0.2f), beta = call.number("beta", 0.5);
  return computed(call, call.in(0), [&](Value x) { return hard_sigmoid_of(call, x, alpha, beta); });
}

Results hard_swish(Call& call) {
  return computed(call, call.in(0),
                  [&](Value x) { return call.g.mul(x, hard_sigmoid_of(call, x, 1.0 / 6, 0.5)); });
}

Results softsign(Call& call) {
  return computed(call, call.in(0), [&](Value x) {
    return call.g.div(x, call.g.add(call.g.unary(Op::Abs, x), number_like(call, x, 1)));
  });
}

Results shrink(Call& call) {
  const double lambda = call.number("lambd", 0.5), bias = call.number("bias", 0.0);
  return computed(call, call.in(0), [&](Value x) {
    graph::Graph& g = call.g;
    const Value edge = number_like(call, x, lambda), shift = number_like(call, x, bias);
    const Value inner =
        g.apply(Op::Where, {g.binary(Op::Less, edge, x), g.sub(x, shift), number_like(call, x, 0)});
    return g.apply(Op::Where,
                   {g.binary(Op::Less, x, number_like(call, x, -lambda)), g.add(x, shift), inner});
  });
}

Results mish(Call& call) {
  return computed(call, call.in(0), [&](Value x) {
    return call.g.mul(x, call.g.unary(Op::Tanh, call.g.unary(Op::Softplus, x)));
  });
}

Results swish(Call& call) { return gated_by_sigmoid(call, call.number("alpha", 1.0)); }
Results quick_gelu(Call& call) { return gated_by_sigmoid(call, call.number("alpha", 1.702f)); }

// Bounds are attributes before opset 11, operands since; each may be absent.
Results clip(Call& call) {
  Value x = call.in(0), low, high;
  if (call.opset() >= 11) {
    low = bound(call, 1), high = bound(call, 2);
  } else {
    if (call.find("min")) low = number_like(call, x, call.number("min", 0));
    if (call.find("max")) high = number_like(call, x, call.number("max", 0));
  }
  if (low) x = call.g.binary(Op::Max, x, low);
  if (high) x = call.g.binary(Op::Min, x, high);
  return {x};
}

}  // namespace tenon::onnx::importers
