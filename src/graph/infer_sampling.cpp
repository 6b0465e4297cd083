// Inference of ops that read an image between its elements: regions of interest, grids, resize.
#include "graph/infer_checks.h"

namespace tenon::graph::rules {

namespace {

// Regions are rows of so many numbers.
void check_regions(const Inference& op, int64_t columns) {
  check_float(op, 0);
  if (op.operand(0).shape.rank() != 4) throw op.fail("needs images of two spatial axes");
  const TensorType& rois = op.operand(1);
  if (!is_float(rois.dtype) || rois.shape.rank() != 2 ||
      prove_equal(rois.shape[1], columns) == Proof::No) {
    throw op.fail(fmt::format("a region is {} numbers", columns));
  }
  check_numbers(op, "extents", 2, kSteps);
}

Shape binned(const Inference& op, const Dim& regions) {
  const std::vector<int64_t>& extents = op.attributes().integers("extents");
  return {regions, op.operand(0).shape[1], extents[0], extents[1]};
}

void check_has_elements(Inference& op) {
  const Shape& x = op.operand(0).shape;
  for (int axis = 2; axis < x.rank(); ++axis)
    op.at_most(1, x[axis], "an image has no element to sample");
}

}  // namespace

void roi_pool(Inference& op) {
  check_regions(op, 5);
  op.same(op.operand(1).shape[1], 5, "numbers of a region");
  op.result(binned(op, op.operand(1).shape[0]), op.operand(0).dtype);
}

void roi_align(Inference& op) {
  check_regions(op, 4);
  op.same(op.operand(1).shape[1], 4, "numbers of a region");
  check_integer_operand(op, 2, 1);
  checked_integer(op, "samples", {0, 1 << 16});
  checked_integer(op, "half_pixel", kFlag);
  check_text(op, "mode", {"avg", "max"});
  check_has_elements(op);
  op.result(binned(op, op.operand(1).shape[0]), op.operand(0).dtype);
}

void grid_sample(Inference& op) {
  const size_t rank = spatial_rank(op);
  const Shape &x = op.operand(0).shape, &grid = op.operand(1).shape;
  check_float(op, 1);
  if (grid.rank() != x.rank()) throw op.fail("grid and image need the same number of axes");
  check_text(op, "mode", {"nearest", "linear", "cubic"});
  check_text(op, "padding", {"zeros", "border", "reflection"});
  checked_integer(op, "align_corners", kFlag);
  std::vector<Dim> dims{op.same(x[0], grid[0], "batches of image and grid"), x[1]};
  check_has_elements(op);
  op.same(grid[grid.rank() - 1], static_cast<int64_t>(rank), "numbers of a position and axes");
  dims.insert(dims.end(), grid.begin() + 1, grid.end() - 1);
  op.result(Shape(std::move(dims)), op.operand(0).dtype);
}

void affine_grid(Inference& op) {
  check_float(op, 0);
  const Shape& theta = op.operand(0).shape;
  if (theta.rank() != 3 || !theta[1].is_const()) throw op.fail("theta is a matrix for each image");
  check_integer_operand(op, 1, 1);
  checked_integer(op, "align_corners", kFlag);
  const int64_t axes = theta[1].const_value();
  if (axes < 1 || axes > 8) throw op.fail("has no meaning for so many axes");
  op.same(theta[2], axes + 1, "rows and columns of theta");
  op.result(shape_attribute(op, static_cast<int>(axes) + 2), op.operand(0).dtype);
}

void resize(Inference& op) {
  const int rank = op.operand(0).shape.rank();
  const std::vector<int64_t>& order = op.attributes().integers("order");
  check_numbers(op, "order", order.size(), {0, rank - 1});
  for (size_t i = 0; i < order.size(); ++i) {
    for (size_t k = 0; k < i; ++k) {
      if (order[i] == order[k]) throw op.fail("an axis is named twice");
    }
  }
  const TensorType& factors = op.operand(1);
  if (factors.dtype == DType::Bool || factors.shape.rank() != 1) {
    throw op.fail("scales and sizes are vectors");
  }
  if (!is_float(factors.dtype)) {
    for (const int64_t axis : order)
      op.at_most(1, op.operand(0).shape[static_cast<int>(axis)], "there is no element to resize");
  }
  check_text(op, "mode", {"nearest", "linear", "cubic"});
  check_text(op, "coordinates",
             {"half_pixel", "half_pixel_symmetric", "pytorch_half_pixel", "align_corners",
              "asymmetric", "tf_crop_and_resize"});
  check_text(op, "rounding", {"round_prefer_floor", "round_prefer_ceil", "floor", "ceil"});
  check_text(op, "policy", {"stretch", "not_larger", "not_smaller"});
  checked_integer(op, "exclude_outside", kFlag);
  checked_integer(op, "antialias", kFlag);
  op.result(shape_attribute(op, rank), op.operand(0).dtype);
}

}  // namespace tenon::graph::rules
