// Rows of ops that read an image between its elements.
#include "tests/differential/rows/operands.h"

namespace tenon::differential {

using graph::Graph;
using graph::Op;
using graph::Value;

namespace {

DType image_dtype(GraphWriter& w) {
  return w.one_of(std::vector<DType>{DType::F32, DType::F32, DType::F32, DType::F64, DType::F16});
}

Value plane_image(GraphWriter& w, DType dtype, const Dim& batch) {
  return w.input(dtype, {batch, w.number(1, 3), w.any_extent(), w.any_extent()});
}

Value resized(GraphWriter& w) {
  const auto mode = w.one_of(Words{"nearest", "linear", "cubic"});
  const Value x =
      w.any_of_rank(static_cast<int>(w.number(1, 4)), mode == "nearest" ? computed : real);
  if (!x) return x;
  Graph& g = w.g();
  const auto coordinates =
      w.one_of(Words{"half_pixel", "half_pixel_symmetric", "pytorch_half_pixel", "align_corners",
                     "asymmetric", "tf_crop_and_resize"});
  const int64_t axis = any_axis(w, x);
  std::vector<Dim> shape = x.shape().dims();
  Dim& extent = shape[static_cast<size_t>(axis)];
  Value factors;
  if (w.chance(40)) {
    const int64_t times = w.number(1, 3);
    extent = extent * times;
    const float scale = static_cast<float>(times);
    const auto bytes = std::as_bytes(std::span(&scale, 1));
    factors = g.constant({{1}, DType::F32}, {bytes, nullptr});
  } else if (w.chance(50)) {
    extent = w.number(1, 9);
    factors = g.dims({extent});
  } else {
    factors = run_time_vector(w, {extent + w.number(0, 3)});
    extent = w.fresh_symbol("resized");
  }
  std::vector<Value> operands{x, factors};
  if (coordinates == "tf_crop_and_resize") {
    const float region[] = {0.1F, 0.9F};
    operands.push_back(g.constant({{2}, DType::F32}, {std::as_bytes(std::span(region)), nullptr}));
  }
  return g.apply(
      Op::Resize, std::move(operands),
      {{"shape", std::move(shape)},
       {"order", Axes{axis}},
       {"mode", mode},
       {"coordinates", coordinates},
       {"rounding", w.one_of(Words{"round_prefer_floor", "round_prefer_ceil", "floor", "ceil"})},
       {"policy", w.one_of(Words{"stretch", "stretch", "not_larger", "not_smaller"})},
       {"cubic", -0.75},
       {"outside", 0.5},
       {"exclude_outside", mode == "cubic" ? w.number(0, 1) : 0},
       {"antialias", mode == "nearest" ? 0 : w.number(0, 1)}});
}

Value sampled(GraphWriter& w) {
  const DType dtype = image_dtype(w);
  const Dim batch = w.any_extent();
  const int64_t rank = w.one_of(Axes{1, 2, 2, 3});
  std::vector<Dim> image{batch, w.number(1, 2)}, grid{batch};
  for (int64_t i = 0; i < rank; ++i)
    image.push_back(w.any_extent()), grid.push_back(w.any_extent());
  grid.emplace_back(rank);
  return w.g().apply(Op::GridSample,
                     {w.input(dtype, std::move(image)), w.input(dtype, std::move(grid))},
                     {{"mode", w.one_of(Words{"nearest", "linear", "cubic"})},
                      {"padding", w.one_of(Words{"zeros", "border", "reflection"})},
                      {"align_corners", w.number(0, 1)}});
}

Value affine(GraphWriter& w) {
  const int64_t axes = w.number(2, 3);
  const Dim batch = w.any_extent();
  std::vector<Dim> size{batch, 2}, shape{batch};
  for (int64_t i = 0; i < axes; ++i) {
    size.push_back(w.any_extent());
    shape.push_back(size.back());
  }
  shape.emplace_back(axes);
  Value extents = w.g().dims(size);
  if (w.chance(30)) {
    extents = run_time_vector(w, size);
    for (size_t i = 1; i + 1 < shape.size(); ++i) shape[i] = w.fresh_symbol("grid");
  }
  return w.g().apply(
      Op::AffineGrid,
      {w.input(w.chance(80) ? DType::F32 : DType::F64, {batch, axes, axes + 1}), extents},
      {{"shape", std::move(shape)}, {"align_corners", w.number(0, 1)}});
}

// Corners of boxes: the first above and left of the second.
Value regions(GraphWriter& w, DType dtype, const Dim& count) {
  Graph& g = w.g();
  const Value from = magnitude(w, w.input(dtype, {count, 2}));
  const Value size = magnitude(w, w.input(dtype, {count, 2}));
  return g.concat({from, g.add(from, size)}, 1);
}

Value aligned_regions(GraphWriter& w) {
  const DType dtype = w.chance(80) ? DType::F32 : DType::F64;
  const Dim batch = w.any_extent(), count = w.any_extent();
  const Value x = plane_image(w, dtype, batch);
  const Value of = integers_between(w, {count}, 0, batch - 1);
  return w.g().apply(Op::RoiAlign, {x, regions(w, dtype, count), of},
                     {{"extents", Axes{w.number(1, 3), w.number(1, 3)}},
                      {"scale", w.one_of(std::vector<double>{1.0, 0.5, 2.0})},
                      {"samples", w.number(0, 3)},
                      {"mode", w.one_of(Words{"avg", "max"})},
                      {"half_pixel", w.number(0, 1)}});
}

Value pooled_regions(GraphWriter& w) {
  const DType dtype = w.chance(80) ? DType::F32 : DType::F64;
  const Dim batch = w.any_extent(), count = w.any_extent();
  const Value x = plane_image(w, dtype, batch);
  const Value of = w.g().cast(integers_between(w, {count, 1}, 0, batch - 1), dtype);
  return w.g().apply(Op::RoiPool, {x, w.g().concat({of, regions(w, dtype, count)}, 1)},
                     {{"extents", Axes{w.number(1, 3), w.number(1, 3)}},
                      {"scale", w.one_of(std::vector<double>{1.0, 0.5})}});
}

constexpr OpRow kRows[] = {
    {"resize", 3, resized},          {"grid_sample", 1, sampled},
    {"affine_grid", 1, affine},      {"roi_align", 1, aligned_regions},
    {"roi_pool", 1, pooled_regions},
};

}  // namespace

std::span<const OpRow> image_rows() { return kRows; }

}  // namespace tenon::differential
