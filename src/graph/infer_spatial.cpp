// Inference of window ops: convolutions and pools. Their spatial extents are attributes, so a rule
// checks that the lists have the image's rank and that channels fit.
#include <algorithm>

#include "graph/infer_checks.h"

namespace tenon::graph {

void check_numbers(const Inference& op, std::string_view name, size_t count, Bounds allowed) {
  const std::vector<int64_t>& values = op.attributes().integers(name);
  if (values.size() != count) {
    throw op.fail(fmt::format("{} has {} entries for {} axes", name, values.size(), count));
  }
  for (const int64_t value : values) {
    if (!allowed.contains(value)) throw op.fail(fmt::format("{} = {} is not allowed", name, value));
  }
}

int64_t checked_integer(const Inference& op, std::string_view name, Bounds allowed) {
  const int64_t value = op.attributes().integer(name);
  if (!allowed.contains(value)) throw op.fail(fmt::format("{} = {} is not allowed", name, value));
  return value;
}

void check_text(const Inference& op, std::string_view name,
                std::initializer_list<std::string_view> allowed) {
  const std::string& text = op.attributes().text(name);
  if (std::ranges::find(allowed, text) != allowed.end()) return;
  throw op.fail(fmt::format("{} \"{}\" is unknown", name, text));
}

void check_float(const Inference& op, int operand) {
  if (!is_float(op.operand(operand).dtype)) throw op.fail("needs floating-point operands");
}

void check_dtypes(const Inference& op, int count) {
  for (int i = 1; i < std::min(count, op.operand_count()); ++i) {
    if (op.operand(i).dtype != op.operand(0).dtype) {
      throw op.fail("operands have different dtypes (cast them)");
    }
  }
}

void check_integer_operand(const Inference& op, int operand, int rank) {
  const TensorType& type = op.operand(operand);
  if (!is_integer(type.dtype) || type.shape.rank() > rank) {
    throw op.fail(fmt::format("operand {} must hold integers, in {} axes at most", operand, rank));
  }
}

Shape shape_attribute(Inference& op, int rank) {
  Shape shape(op.attributes().dims("shape"));
  if (shape.rank() != rank) throw op.fail(fmt::format("the shape needs {} axes", rank));
  op.check_extents(shape.dims());
  return shape;
}

size_t spatial_rank(const Inference& op) {
  const int rank = op.operand(0).shape.rank();
  if (rank < 3) throw op.fail("an image has batch, channels and an axis or more");
  return static_cast<size_t>(rank - 2);
}

namespace {

void check_dims(Inference& op, std::string_view name, size_t count) {
  if (op.attributes().find(name) == nullptr) return;
  if (op.attributes().dims(name).size() != count) {
    throw op.fail(fmt::format("{} needs {} entries", name, count));
  }
}

// The attributes that all window ops have.
void check_windows(Inference& op, size_t rank) {
  check_numbers(op, "strides", rank, kSteps);
  check_numbers(op, "dilations", rank, kSteps);
  for (const std::string_view name : {"begins", "ends", "extents"}) check_dims(op, name, rank);
}

void check_result(Inference& op, std::span<const Dim> extents) {
  for (const Dim& extent : extents) op.at_most(0, extent, "the window is larger than the image");
}

Shape image(const Dim& batch, const Dim& channels, std::span<const Dim> extents) {
  std::vector<Dim> dims{batch, channels};
  dims.insert(dims.end(), extents.begin(), extents.end());
  return Shape(std::move(dims));
}

// Weights of the image's rank, a bias of one axis, all of one dtype that is no bool.
int64_t check_conv(Inference& op) {
  const size_t rank = spatial_rank(op);
  check_windows(op, rank);
  check_dtypes(op, op.operand_count());
  if (op.operand(0).dtype == DType::Bool) throw op.fail("has no meaning for bool");
  if (op.operand(1).shape.rank() != static_cast<int>(rank) + 2) {
    throw op.fail("weights and image need the same number of axes");
  }
  return checked_integer(op, "groups", kSteps);
}

void check_bias(Inference& op, const Dim& channels) {
  if (op.operand_count() < 3) return;
  const Shape& bias = op.operand(2).shape;
  if (bias.rank() != 1) throw op.fail("the bias needs one axis");
  op.same(bias[0], channels, "bias and channels of the result");
}

Shape pooled(Inference& op) {
  const size_t rank = spatial_rank(op);
  check_windows(op, rank);
  check_numbers(op, "kernel", rank, kSteps);
  const std::vector<Dim>& extents = op.attributes().dims("extents");
  check_result(op, extents);
  return image(op.operand(0).shape[0], op.operand(0).shape[1], extents);
}

}  // namespace

namespace rules {

void conv(Inference& op) {
  const int64_t groups = check_conv(op);
  const Shape &x = op.operand(0).shape, &w = op.operand(1).shape;
  op.same(x[1], w[1] * groups, "channels of the image and of all groups");
  check_bias(op, w[0]);
  const std::vector<Dim>& extents = op.attributes().dims("extents");
  check_result(op, extents);
  op.result(image(x[0], w[0], extents), op.operand(0).dtype);
}

void conv_transpose(Inference& op) {
  const int64_t groups = check_conv(op);
  const Shape &x = op.operand(0).shape, &w = op.operand(1).shape;
  op.same(x[1], w[0], "channels of the image and of the weights");
  check_bias(op, w[1] * groups);
  const std::vector<Dim>& extents = op.attributes().dims("extents");
  check_result(op, extents);
  op.result(image(x[0], w[1] * groups, extents), op.operand(0).dtype);
}

void deform_conv(Inference& op) {
  const int64_t groups = check_conv(op);
  check_float(op, 0);
  checked_integer(op, "offset_groups", kSteps);
  const Shape &x = op.operand(0).shape, &w = op.operand(1).shape, &offsets = op.operand(2).shape;
  if (offsets.rank() != x.rank() || op.operand(3).shape.rank() != x.rank()) {
    throw op.fail("offsets and mask need the image's number of axes");
  }
  op.same(x[1], w[1] * groups, "channels of the image and of all groups");
  op.result(image(x[0], w[0], std::span(offsets.dims()).subspan(2)), op.operand(0).dtype);
}

void col2im(Inference& op) {
  if (op.operand(0).shape.rank() != 3) throw op.fail("needs columns of three axes");
  if (op.operand(0).dtype == DType::Bool) throw op.fail("has no meaning for bool");
  const size_t rank = op.attributes().integers("strides").size();
  check_numbers(op, "strides", rank, kSteps);
  check_numbers(op, "dilations", rank, kSteps);
  check_numbers(op, "pads", 2 * rank, {0, kSteps.hi});
  check_integer_operand(op, 1, 1);
  check_integer_operand(op, 2, 1);
  op.result(shape_attribute(op, static_cast<int>(rank) + 2), op.operand(0).dtype);
}

void max_pool(Inference& op) {
  const DType dtype = op.operand(0).dtype;
  if (dtype == DType::Bool || dtype == DType::U64)
    throw op.unsupported("this dtype has no order here");
  Shape shape = pooled(op);
  op.result(shape, dtype);
  op.result(std::move(shape), DType::I64);
}

void average_pool(Inference& op) {
  check_float(op, 0);
  op.result(pooled(op), op.operand(0).dtype);
}

void lp_pool(Inference& op) {
  check_float(op, 0);
  if (!(op.attributes().number("p") > 0)) throw op.fail("p must be positive");
  op.result(pooled(op), op.operand(0).dtype);
}

void max_unpool(Inference& op) {
  const int rank = op.operand(0).shape.rank();
  spatial_rank(op);
  check_integer_operand(op, 1, rank);
  if (op.operand_count() > 2) check_integer_operand(op, 2, 1);
  check_dims(op, "inner", static_cast<size_t>(rank));
  op.result(shape_attribute(op, rank), op.operand(0).dtype);
}

}  // namespace rules

}  // namespace tenon::graph
