// Importers of norms, written out in means and variances. 16-bit floats are computed in f32 and
// rounded once.
#include "import/onnx/compute.h"
#include "import/onnx/ops/spatial.h"
#include "import/onnx/window_attributes.h"

namespace tenon::onnx::importers {
namespace {

struct Moments {
  Value mean, centered, variance;  // variance of the population
};

Moments moments(graph::Graph& g, Value x, const std::vector<int64_t>& axes) {
  Value mean = g.reduce(Op::ReduceMean, x, axes);
  Value centered = g.sub(x, mean);
  return {mean, centered, g.reduce(Op::ReduceMean, g.mul(centered, centered), axes)};
}

// centered / sqrt(variance + epsilon)
Value standardized(graph::Graph& g, const Moments& m, double epsilon) {
  Value shifted = g.add(m.variance, g.scalar(m.variance.dtype(), epsilon));
  return g.div(m.centered, g.unary(Op::Sqrt, shifted));
}

std::vector<int64_t> axes_from(Value x, int first) {
  std::vector<int64_t> axes;
  for (int i = first; i < x.shape().rank(); ++i) axes.push_back(i);
  if (axes.empty()) throw user_error("{} has too few axes", x.type().to_string());
  return axes;
}

// A parameter of batch normalization as it meets x: per channel, or (spatial = 0, before opset 9)
// per element.
Value parameter(Call& call, Value p, Value x, bool spatial) {
  p = as(call, p, x.dtype());
  if (spatial) return per_channel(call, p, x.shape().rank());
  std::vector<Dim> dims = x.shape().dims();
  dims[0] = 1;
  return call.g.reshape(p, std::move(dims));
}

Value blended(Call& call, Value old, Value now, double momentum) {
  graph::Graph& g = call.g;
  Value fresh = as(call, g.reshape(now, old.shape().dims()), old.dtype());
  return g.add(g.mul(old, g.scalar(old.dtype(), momentum)),
               g.mul(fresh, g.scalar(old.dtype(), 1 - momentum)));
}

}  // namespace

// In training the statistics are the batch's own, and the running ones are results. Until opset 13
// training is asked for by naming those results.
Results batch_normalization(Call& call) {
  graph::Graph& g = call.g;
  Value x = widened(call, call.in(0));
  if (x.shape().rank() < 2) throw user_error("{} has no channels", x.type().to_string());
  const double epsilon = call.number("epsilon", 1e-5f), momentum = call.number("momentum", 0.9f);
  const bool spatial = call.flag("spatial", true);
  call.flag("is_test", false);
  const bool training = call.flag("training_mode", false) || (call.opset() < 14 && call.wants(1));
  std::vector<int64_t> axes{0};
  for (int i = 2; spatial && i < x.shape().rank(); ++i) axes.push_back(i);
  Moments m;
  if (training) {
    m = moments(g, x, axes);
  } else {
    m.mean = parameter(call, call.in(3), x, spatial);
    m.centered = g.sub(x, m.mean);
    m.variance = parameter(call, call.in(4), x, spatial);
  }
  Value y = g.mul(standardized(g, m, epsilon), parameter(call, call.in(1), x, spatial));
  y = as(call, g.add(y, parameter(call, call.in(2), x, spatial)), call.in(0).dtype());
  if (!training) return {y};
  const Value mean = g.reshape(m.mean, call.in(3).shape().dims());
  const Value variance = g.reshape(m.variance, call.in(4).shape().dims());
  return {y, blended(call, call.in(3), m.mean, momentum),
          blended(call, call.in(4), m.variance, momentum), mean, variance};
}

Results instance_normalization(Call& call) {
  graph::Graph& g = call.g;
  Value x = widened(call, call.in(0));
  const Moments m = moments(g, x, axes_from(x, 2));
  Value y = g.mul(standardized(g, m, call.number("epsilon", 1e-5f)),
                  parameter(call, call.in(1), x, true));
  return {as(call, g.add(y, parameter(call, call.in(2), x, true)), call.in(0).dtype())};
}

// Scale and bias are per group until opset 20, per channel since.
Results group_normalization(Call& call) {
  graph::Graph& g = call.g;
  Value x = widened(call, call.in(0));
  const int64_t groups = call.integer("num_groups");
  call.integer("stash_type", 1);
  if (groups < 1 || x.shape().rank() < 2)
    throw user_error("{} groups of {}", groups, x.type().to_string());
  const std::vector<Dim> dims = x.shape().dims();
  const Dim width = quotient({dims[1]}, {groups});
  std::vector<Dim> grouped{dims[0], groups, width};
  grouped.insert(grouped.end(), dims.begin() + 2, dims.end());
  Value parts = g.reshape(x, grouped);
  Value y = standardized(g, moments(g, parts, axes_from(parts, 2)), call.number("epsilon", 1e-5f));
  if (call.opset() >= 21) y = g.reshape(y, dims);
  y = g.mul(y, parameter(call, call.in(1), y, true));
  y = g.add(y, parameter(call, call.in(2), y, true));
  return {as(call, g.reshape(y, dims), call.in(0).dtype())};
}

Results mean_variance_normalization(Call& call) {
  graph::Graph& g = call.g;
  Value x = widened(call, call.in(0));
  const std::vector<int64_t> axes = Call::axes_of(
      call.integers("axes").value_or(std::vector<int64_t>{0, 2, 3}), x.shape().rank());
  const Moments m = moments(g, x, axes);
  Value deviation = g.add(g.unary(Op::Sqrt, m.variance), g.scalar(x.dtype(), 1e-9));
  return {as(call, g.div(m.centered, deviation), call.in(0).dtype())};
}

// A row of zeros stays zero.
Results lp_normalization(Call& call) {
  graph::Graph& g = call.g;
  Value x = widened(call, call.in(0));
  const int64_t p = call.integer("p", 2);
  const int64_t axis = Call::axis_of(call.integer("axis", -1), x.shape().rank());
  if (p != 1 && p != 2) throw user_error("p must be 1 or 2, not {}", p);
  Value norm = g.reduce(Op::ReduceSum, p == 1 ? g.unary(Op::Abs, x) : g.mul(x, x), {axis});
  if (p == 2) norm = g.unary(Op::Sqrt, norm);
  Value zero = g.scalar(x.dtype(), 0);
  Value y = g.apply(Op::Where, {g.binary(Op::Equal, norm, zero), zero, g.div(x, norm)});
  return {as(call, y, call.in(0).dtype())};
}

// x / (bias + alpha * mean of squares over neighbouring channels) ^ beta; the mean is a pool along
// the channels, with zeros outside.
Results lrn(Call& call) {
  graph::Graph& g = call.g;
  Value x = widened(call, call.in(0));
  const int64_t size = call.integer("size");
  if (size < 1 || x.shape().rank() < 2)
    throw user_error("size {} of {}", size, x.type().to_string());
  const std::vector<Dim> dims = x.shape().dims();
  const Dim plane = product({dims.begin() + 2, dims.end()});
  const int64_t before = (size - 1) / 2;
  Value pooled = g.apply(Op::AveragePool, {g.reshape(g.mul(x, x), {dims[0], 1, dims[1], plane})},
                         {{"extents", std::vector<Dim>{dims[1], plane}},
                          {"begins", std::vector<Dim>{before, 0}},
                          {"ends", std::vector<Dim>{size - 1 - before, 0}},
                          {"kernel", std::vector<int64_t>{size, 1}},
                          {"strides", std::vector<int64_t>{1, 1}},
                          {"dilations", std::vector<int64_t>{1, 1}}});
  const auto number = [&](double value) { return g.scalar(x.dtype(), value); };
  Value base = g.add(g.mul(g.reshape(pooled, dims), number(call.number("alpha", 1e-4f))),
                     number(call.number("bias", 1)));
  Value y = g.div(x, g.binary(Op::Pow, base, number(call.number("beta", 0.75))));
  return {as(call, y, call.in(0).dtype())};
}

}  // namespace tenon::onnx::importers
