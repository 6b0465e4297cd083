// Resize, one axis at a time: coordinates, taps and shares are vectors along the axis, computed
// from scales that are constants or data; the image is gathered along it.
#include <algorithm>
#include <cmath>

#include "legalize/sampling.h"

namespace tenon::legalize::decompositions {

using graph::Op;

namespace {

struct Axis {
  int number;
  Dim in, out;
  Term scale;                    // f64[]
  std::optional<double> known;   // the scale, where it is a constant
  std::optional<Term> from, to;  // the region of interest, f64[]
};

// Scales (f64) and extents (i64) of the axes, as vectors.
struct Factors {
  Term scales, extents;
};

Factors factors_of(const Node& node, const Term& given, const Term& in) {
  if (is_float(given.dtype())) {
    // The product is in f32, as its factor is: 10 * 0.7 is 7.
    return {given.as(DType::F64), (in.as(DType::F32) * given.as(DType::F32)).as(DType::I64)};
  }
  const Term sizes = given.as(DType::I64);
  const Term scales = larger(sizes, 1).as(DType::F64) / in.as(DType::F64);
  const std::string& policy = node.attributes().text("policy");
  if (policy == "stretch") return {scales, sizes};
  const Term one = scales.reduce(policy == "not_larger" ? Op::ReduceMin : Op::ReduceMax, 0);
  const Term all(given.g(), given.g().expand(one, scales.shape().dims()));
  return {all, floor(all * in.as(DType::F64) + 0.5).as(DType::I64)};
}

std::optional<double> known_scale(const Node& node, Value given, size_t i, const Dim& in,
                                  const Dim& out) {
  if (is_float(given.dtype())) {
    if (given.op() != Op::Constant) return {};
    const auto size = static_cast<size_t>(size_of(given.dtype()));
    return load_as_f64(given.dtype(), given.node->bytes().data() + i * size);
  }
  const bool fixed = in.is_const() && out.is_const() && !in.is_const(0);
  if (!fixed || node.attributes().text("policy") != "stretch") return {};
  return static_cast<double>(std::max<int64_t>(out.const_value(), 1)) /
         static_cast<double>(in.const_value());
}

// Where in the input the elements of the result lie: f64[out].
Term source(const std::string& rule, const Axis& a) {
  Graph& g = a.scale.g();
  const Term y = reals(g, a.out), in = real(g, a.in);
  const Term out = a.scale * in;  // before it was rounded down to an extent
  const Term half_pixel = (y + 0.5) / a.scale - 0.5;
  if (rule == "align_corners") return choose(equal(out, 1), 0.0, y * (in - 1) / (out - 1));
  if (rule == "asymmetric") return y / a.scale;
  if (rule == "pytorch_half_pixel") return choose(equal(out, 1), -0.5, half_pixel);
  if (rule == "half_pixel_symmetric") {
    const Term whole = real(g, a.out) / out;
    return half_pixel + in / 2 * (-whole + 1);
  }
  if (rule == "tf_crop_and_resize") {
    const Term region = (*a.to - *a.from) * (in - 1);
    return choose(equal(out, 1), region / 2, y * region / (out - 1)) + *a.from * (in - 1);
  }
  return half_pixel;
}

Term rounded(const std::string& rounding, const Term& x) {
  if (rounding == "floor") return floor(x);
  if (rounding == "ceil") return x.unary(Op::Ceil);
  if (rounding == "round_prefer_ceil") return floor(x + 0.5);
  return (x - 0.5).unary(Op::Ceil);
}

// The elements around x[out], with a last axis of taps: at and weight are [out, taps].
Tap taps_at(const Node& node, const Axis& a, const Term& x) {
  Graph& g = x.g();
  const graph::Attributes& attributes = node.attributes();
  const bool linear = attributes.text("mode") == "linear";
  const bool widened = attributes.integer("antialias") != 0;
  const int reach = linear ? 1 : 2;
  const Term column = x.reshape({a.out, 1});
  // Antialiasing widens the kernel by as much as the image shrinks.
  const Term narrow = widened ? smaller(a.scale, 1) : real(g, 1);
  Term first = floor(column) - (reach - 1);
  Dim count = 2 * reach;
  if (widened) {
    first = floor(column - real(g, reach) / narrow);
    if (a.known) {
      count = static_cast<int64_t>(2 * reach / std::min(*a.known, 1.0)) + 2;
    } else {
      const Term many = floor(real(g, 2 * reach) / narrow) + 2;
      count = define(g, many.as(DType::I64).reshape({1}), "taps")[0];
    }
  }
  const Term at = first + reals(g, count);
  const Term distance = (at - column) * narrow;
  Term weight = linear ? larger(-magnitude(distance) + 1, 0)
                       : cubic_weight(distance, attributes.number("cubic"));
  if (attributes.integer("exclude_outside") != 0) weight = choose(inside(at, a.in), weight, 0.0);
  const Term sum = weight.reduce(Op::ReduceSum, 1);
  return {at, weight / choose(equal(sum, 0), 1.0, sum)};
}

// A vector along one axis.
Term beside(const Term& vector, const Axis& a, Value image) {
  return vector.along(a.number, image.shape().rank());
}

Value interpolated_axis(const Node& node, const Axis& a, Value image, const Term& x) {
  Graph& g = x.g();
  const Tap taps = taps_at(node, a, x);
  const Term places = clamped_index(taps.at, a.in), weights = taps.weight.as(image.dtype());
  const Dim count = places.shape()[1];
  if (count.is_const() && count.const_value() <= 4) {
    std::optional<Term> sum;
    for (int64_t t = 0; t < count.const_value(); ++t) {
      auto column = [&](const Term& all) {
        return Term(g, g.slice(all, {0, t}, {a.out, 1}, {1, 1})).reshape({a.out});
      };
      const Term weight = beside(column(weights), a, image);
      const Term value(g, g.gather(image, column(places), a.number));
      const Term part = choose(equal(weight, 0), 0.0, value * weight);
      sum = sum ? *sum + part : part;
    }
    return *sum;
  }
  const Term found(g, g.gather(image, places, a.number));  // [..., out, taps, ...]
  std::vector<Dim> shares(static_cast<size_t>(found.shape().rank()), 1);
  shares[static_cast<size_t>(a.number)] = a.out;
  shares[static_cast<size_t>(a.number) + 1] = count;
  const Term weight = weights.reshape(shares);
  const Term parts = choose(equal(weight, 0), 0.0, found * weight);
  std::vector<Dim> shape = image.shape().dims();
  shape[static_cast<size_t>(a.number)] = a.out;
  return parts.reduce(Op::ReduceSum, a.number + 1).reshape(shape);
}

std::vector<Axis> axes_of(Graph& g, const Node& node, std::span<const Value> operands) {
  const Value x = operands[0];
  const Term given(g, operands[1]);
  const std::vector<int64_t>& order = node.attributes().integers("order");
  std::vector<Dim> in, out;
  for (const int64_t axis : order) {
    in.push_back(x.shape()[static_cast<int>(axis)]);
    out.push_back(node.attributes().dims("shape")[static_cast<size_t>(axis)]);
  }
  if (order.empty()) return {};
  const Factors factors = factors_of(node, given, Term(g, g.dims(in)));
  const Term wrong = any_of(!less(Term(g, g.scalar(DType::F64, 0)), factors.scales));
  define_own(g, choose(wrong, -1, factors.extents), out);
  std::vector<Axis> axes;
  for (size_t i = 0; i < order.size(); ++i) {
    const auto at = static_cast<int64_t>(i);
    const auto known = known_scale(node, given, i, in[i], out[i]);
    const Term scale = known ? Term(g, g.scalar(DType::F64, *known)) : factors.scales.at(at);
    axes.push_back({static_cast<int>(order[i]), in[i], out[i], scale, known, {}, {}});
    if (operands.size() < 3) continue;
    const Term region = Term(g, operands[2]).as(DType::F64);
    axes.back().from = region.at(at);
    axes.back().to = region.at(at + static_cast<int64_t>(order.size()));
  }
  return axes;
}

}  // namespace

std::vector<Value> resize(Graph& g, const Node& node, std::span<const Value> operands) {
  const graph::Attributes& attributes = node.attributes();
  const bool nearest = attributes.text("mode") == "nearest";
  const DType dtype = operands[0].dtype();
  const std::vector<Axis> axes = axes_of(g, node, operands);
  Term image(g, operands[0]);
  if (!nearest) image = image.as(working_dtype(dtype));
  std::vector<std::pair<Axis, Term>> cropped;
  for (const Axis& a : axes) {
    if (a.known == 1 && a.in == a.out && !a.from) continue;
    const Term x = source(attributes.text("coordinates"), a);
    if (nearest) {
      const Term places = clamped_index(rounded(attributes.text("rounding"), x), a.in);
      image = Term(g, g.gather(image, places, a.number));
    } else {
      image = Term(g, interpolated_axis(node, a, image, x));
    }
    if (a.from) cropped.emplace_back(a, x);
  }
  image = image.as(dtype);
  for (const auto& [a, x] : cropped) {  // what lies outside the input gets one value
    const Term seen = both(!less(x, 0), at_most(x, a.in - 1));
    image = choose(beside(seen, a, image), image, attributes.number("outside"));
  }
  return {image};
}

}  // namespace tenon::legalize::decompositions
