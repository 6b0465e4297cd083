// Grids: an image read at the coordinates of a grid, and the grid of an affine map. Grids have the
// axes in reverse order and run over -1 .. 1.
#include <algorithm>

#include "legalize/sampling.h"

namespace tenon::legalize::decompositions {

using graph::Op;

namespace {

struct Sampling {
  std::string mode, padding;
  bool corners;
};

// Back and forth between low and high until inside.
Term reflected(const Term& x, double low, const Term& high) {
  const Term range = high - low;
  const Term distance = magnitude(x - low);
  const Term rest = distance - floor(distance / (range * 2)) * (range * 2);
  const Term turned = choose(less(range, rest), range * 2 - rest, rest) + low;
  const Term possible =
      both(less(Term(x.g(), x.g().scalar(DType::F64, 0)), range), less(distance, 0x1p62));
  return choose(possible, turned, low);
}

// The coordinate of a whole element, brought inside as the padding says; zeros stay outside.
Term padded(const Sampling& s, const Term& at, const Dim& extent) {
  if (s.padding == "zeros") return at;
  const Term last = real(at.g(), extent - 1);
  if (s.padding == "border") return clamped(at, 0, last);
  const double edge = s.corners ? 0 : -0.5;
  const Term turned = reflected(at, edge, last - edge).unary(Op::Round);
  return choose(inside(at, extent), at, clamped(turned, 0, last));
}

std::vector<Tap> grid_taps(const Sampling& s, const Term& position, const Dim& extent) {
  const Term length = real(position.g(), extent);
  Term x = s.corners ? (position + 1) / 2 * (length - 1) : ((position + 1) * length - 1) / 2;
  const double low = s.corners ? 0 : -0.5;
  const Term high = length - 1 - low;
  if (s.mode == "nearest") x = x.unary(Op::Round);
  const Term seen = both(!less(x, low), at_most(x, high));
  if (s.padding == "border") {
    const Term limited = choose(equal(x, x), clamped(x, 0, extent - 1), 0.0);
    x = choose(seen, x, limited);
  }
  if (s.padding == "reflection") x = choose(seen, x, reflected(x, low, high));
  std::vector<Tap> taps = s.mode == "cubic" ? cubic_taps(x, -0.75) : linear_taps(x);
  if (s.mode == "nearest") taps.erase(taps.begin() + 1, taps.end());
  for (Tap& tap : taps) tap.at = padded(s, tap.at, extent);
  return taps;
}

bool is_empty(std::span<const Dim> dims) {
  return std::any_of(dims.begin(), dims.end(), [](const Dim& dim) { return dim.is_const(0); });
}

// Of the elements of an axis of the result, as a grid says it: f64[extent].
Term grid_points(Graph& g, const Dim& extent, bool corners) {
  const Term o = reals(g, extent), length = real(g, extent);
  if (!corners) return (o * 2 + 1) / length - 1;
  return choose(equal(length, 1), -1.0, o * 2 / (length - 1) - 1);
}

}  // namespace

std::vector<Value> grid_sample(Graph& g, const Node& node, std::span<const Value> operands) {
  const Value x = operands[0], grid = operands[1];
  const Sampling s{node.attributes().text("mode"), node.attributes().text("padding"),
                   node.attributes().integer("align_corners") != 0};
  const std::vector<Dim> image = spatial_dims(x);
  const std::vector<Dim>& shape = node.types()[0].shape.dims();
  if (is_empty(image)) return {g.expand(g.scalar(x.dtype(), 0), shape)};
  const auto rank = static_cast<int64_t>(image.size());
  const Dim n = x.shape()[0], positions = product(std::span(shape).subspan(2));
  const Term all = Term(g, g.reshape(grid, {n, positions, rank})).as(DType::F64);
  std::vector<std::vector<Tap>> taps;
  for (int64_t k = 0; k < rank; ++k) {
    const Term position(g, g.slice(all, {0, 0, rank - 1 - k}, {n, positions, 1}, {1, 1, 1}));
    taps.push_back(grid_taps(s, position.reshape({n, positions}), image[static_cast<size_t>(k)]));
  }
  return {interpolated(Term(g, x), taps).as(x.dtype()).reshape(shape)};
}

std::vector<Value> affine_grid(Graph& g, const Node& node, std::span<const Value> operands) {
  const Term theta(g, operands[0]), size = integers_of(g, operands[1]);
  const std::vector<Dim>& shape = node.attributes().dims("shape");
  const auto rank = static_cast<int64_t>(shape.size()) - 2;
  const std::vector<Dim> extents(shape.begin() + 1, shape.end() - 1);
  define_own(g, g.slice(size, {2}, {rank}, {1}), extents);
  const bool corners = node.attributes().integer("align_corners") != 0;
  const Term factors = theta.as(working_dtype(theta.dtype()));
  auto column = [&](int64_t k) {
    const Term part(g, g.slice(factors, {0, 0, k}, {shape[0], rank, 1}, {1, 1, 1}));
    std::vector<Dim> dims(shape.size(), 1);
    dims.front() = shape[0];
    dims.back() = rank;
    return part.reshape(dims);
  };
  std::vector<Dim> whole = shape;
  Term sum(g, g.expand(column(rank), whole));
  for (int64_t k = 0; k < rank; ++k) {  // the last axis first
    const auto axis = static_cast<int>(rank - 1 - k);
    const Term points = grid_points(g, extents[static_cast<size_t>(axis)], corners);
    sum = sum + column(k) * points.as(factors.dtype()).along(axis + 1, static_cast<int>(rank) + 2);
  }
  return {sum.as(theta.dtype())};
}

}  // namespace tenon::legalize::decompositions
