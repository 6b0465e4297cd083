// Taps and their sums.
#include "legalize/sampling.h"

namespace tenon::legalize::decompositions {

using graph::Op;

namespace {

constexpr double kLargest = 0x1p48;  // of coordinates that are looked at

// x, or 0 where it is no coordinate, and whether it is one.
struct Coordinate {
  Term x, exists;
};
Coordinate coordinate(const Term& x) {
  const Term exists = less(magnitude(x), kLargest);
  return {choose(exists, x, 0.0), exists};
}

}  // namespace

Term real(Graph& g, const Dim& value) {
  if (value.is_const()) {
    return {g, g.scalar(DType::F64, static_cast<double>(value.const_value()))};
  }
  return number(g, value).as(DType::F64);
}

Term reals(Graph& g, const Dim& count) { return Term(g, iota(g, count)).as(DType::F64); }

std::vector<Tap> linear_taps(const Term& x) {
  const Coordinate c = coordinate(x);
  const Term low = floor(c.x), rest = c.x - low;
  return {{low, choose(c.exists, -rest + 1, 0.0)}, {low + 1, choose(c.exists, rest, 0.0)}};
}

Term cubic_weight(const Term& distance, double a) {
  const Term d = magnitude(distance);
  const Term near = ((d * (a + 2) - (a + 3)) * d) * d + 1;
  const Term far = ((d * a - 5 * a) * d + 8 * a) * d - 4 * a;
  return choose(at_most(d, 1), near, choose(less(d, 2), far, 0.0));
}

std::vector<Tap> cubic_taps(const Term& x, double coefficient) {
  const Coordinate c = coordinate(x);
  const Term low = floor(c.x);
  std::vector<Tap> taps;
  for (int i = -1; i <= 2; ++i) {
    const Term at = low + i;
    taps.push_back({at, choose(c.exists, cubic_weight(at - c.x, coefficient), 0.0)});
  }
  return taps;
}

Term inside(const Term& at, const Dim& extent) { return both(!less(at, 0), less(at, extent)); }

Term clamped_index(const Term& at, const Dim& extent) {
  return clamped(at, 0, extent - 1).as(DType::I64);
}

DType working_dtype(DType dtype) {
  const bool small = dtype == DType::F32 || dtype == DType::F16 || dtype == DType::BF16;
  return small ? DType::F32 : DType::F64;
}

std::vector<Dim> spatial_dims(Value x) { return {x.shape().begin() + 2, x.shape().end()}; }

Dim product(std::span<const Dim> dims) {
  Dim result = 1;
  for (const Dim& dim : dims) result = result * dim;
  return result;
}

std::vector<Dim> joined(std::vector<Dim> front, std::span<const Dim> back) {
  front.insert(front.end(), back.begin(), back.end());
  return front;
}

Term interpolated(const Term& images, const std::vector<std::vector<Tap>>& taps) {
  Graph& g = images.g();
  const std::vector<Dim> image = spatial_dims(images);
  const Dim n = images.shape()[0], channels = images.shape()[1];
  const Dim positions = taps[0][0].at.shape()[1];
  const DType dtype = working_dtype(images.dtype());
  Value planes = g.reshape(images, {n, channels, product(image)});
  const bool may_be_empty = product(image).bounds().lo < 1;
  if (may_be_empty) {  // of an image without elements there is one to be read
    const Term zero(g, g.scalar(images.dtype(), 0));
    planes = g.concat({planes, g.expand(zero, {n, channels, 1})}, 2);
  }
  struct Combination {
    Term place, weight, exists;
  };
  std::vector<Combination> all;
  for (size_t axis = 0; axis < image.size(); ++axis) {
    std::vector<Combination> longer;
    for (const Tap& tap : taps[axis]) {
      const Term at = clamped_index(tap.at, image[axis]), here = inside(tap.at, image[axis]);
      if (axis == 0) longer.push_back({at, tap.weight, here});
      for (const Combination& c : all) {
        longer.push_back({c.place * image[axis] + at, c.weight * tap.weight, both(c.exists, here)});
      }
    }
    all = std::move(longer);
  }
  std::optional<Term> sum;
  for (const Combination& c : all) {
    const Term place = may_be_empty ? choose(c.exists, c.place, 0) : c.place;
    const Value places = g.expand(place.reshape({n, 1, positions}), {n, channels, positions});
    const Term found(g, g.apply(Op::GatherElements, {planes, places}, {{"axis", int64_t{2}}}));
    const Term value = choose(c.exists.reshape({n, 1, positions}), found.as(dtype), 0.0);
    const Term part = value * c.weight.as(dtype).reshape({n, 1, positions});
    sum = sum ? *sum + part : part;
  }
  return *sum;
}

}  // namespace tenon::legalize::decompositions
