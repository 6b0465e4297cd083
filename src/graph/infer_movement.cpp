// Inference of ops that move elements without computing: reshape, transpose, expand, slice, concat,
// split, gather.
#include <algorithm>
#include <cmath>

#include "graph/infer.h"

namespace tenon::graph::rules {

void reshape(Inference& op) {
  const TensorType& x = op.operand(0);
  Shape shape(op.attributes().dims("shape"));
  op.check_extents(shape.dims());
  if (shape != x.shape) {
    op.same(x.shape.elements(), shape.elements(),
            fmt::format("element counts with {}", shape.to_string()));
  }
  op.result(std::move(shape), x.dtype);
}

void transpose(Inference& op) {
  const TensorType& x = op.operand(0);
  const std::vector<int64_t>& perm = op.attributes().integers("perm");
  std::vector<bool> seen(static_cast<size_t>(x.shape.rank()));
  const auto wrong = [&] {
    return op.fail(
        fmt::format("perm [{}] is not a permutation of the axes", fmt::join(perm, ", ")));
  };
  if (perm.size() != seen.size()) throw wrong();
  std::vector<Dim> dims;
  for (const int64_t axis : perm) {
    if (axis < 0 || axis >= x.shape.rank() || seen[static_cast<size_t>(axis)]) throw wrong();
    seen[static_cast<size_t>(axis)] = true;
    dims.push_back(x.shape[static_cast<int>(axis)]);
  }
  op.result(Shape(std::move(dims)), x.dtype);
}

void expand(Inference& op) {
  Shape shape(op.attributes().dims("shape"));
  op.check_extents(shape.dims());
  op.spread(op.operand(0).shape.dims(), shape.dims(),
            fmt::format("extents with the target {}", shape.to_string()));
  op.result(std::move(shape), op.operand(0).dtype);
}

void slice(Inference& op) {
  const TensorType& x = op.operand(0);
  const std::vector<Dim>&starts = op.attributes().dims("starts"),
        &extents = op.attributes().dims("extents");
  const std::vector<int64_t>& steps = op.attributes().integers("steps");
  const auto rank = static_cast<size_t>(x.shape.rank());
  if (starts.size() != rank || extents.size() != rank || steps.size() != rank) {
    throw op.fail("starts, extents and steps must have one entry per axis");
  }
  constexpr int64_t kStepLimit = int64_t{1} << 40;
  for (size_t i = 0; i < rank; ++i) {
    const Dim &start = starts[i], &extent = extents[i], &whole = x.shape[static_cast<int>(i)];
    const int64_t step = steps[i];
    if (step == 0 || std::abs(step) > kStepLimit) {
      throw op.fail(fmt::format("step {} is not allowed", step));
    }
    if (step == 1 && start.is_const(0) && extent == whole) continue;
    const std::string what = fmt::format("axis {} slice leaves the tensor", i);
    op.at_most(0, extent, what);
    if (extent.is_const(0)) continue;
    const Dim last = start + (extent - 1) * step;
    op.at_most(0, step > 0 ? start : last, what);
    op.at_most((step > 0 ? last : start) + 1, whole, what);
  }
  op.result(Shape(extents), x.dtype);
}

void concat(Inference& op) {
  const TensorType& first = op.operand(0);
  const auto axis = static_cast<size_t>(op.attributes().integer("axis"));
  std::vector<Dim> dims = first.shape.dims();
  for (int i = 1; i < op.operand_count(); ++i) {
    const TensorType& part = op.operand(i);
    if (part.dtype != first.dtype) throw op.fail("parts have different dtypes (cast them)");
    if (part.shape.rank() != first.shape.rank()) throw op.fail("parts have different ranks");
    for (size_t d = 0; d < dims.size(); ++d) {
      const Dim& extent = part.shape.dims()[d];
      dims[d] = d == axis ? dims[d] + extent
                          : op.same(dims[d], extent, fmt::format("extents of axis {}", d));
    }
  }
  op.result(Shape(std::move(dims)), first.dtype);
}

void split(Inference& op) {
  const TensorType& x = op.operand(0);
  const auto axis = static_cast<size_t>(op.attributes().integer("axis"));
  const std::vector<Dim>& extents = op.attributes().dims("extents");
  if (extents.empty()) throw op.fail("needs at least one part");
  if (op.operand_count() > 1) {
    const TensorType& sizes = op.operand(1);
    if (!is_integer(sizes.dtype) || sizes.shape.rank() != 1) {
      throw op.fail("the extents must be an integer vector");
    }
    op.same(sizes.shape[0], static_cast<int64_t>(extents.size()), "counts of parts");
  }
  Dim sum = 0;
  for (const Dim& extent : extents) {
    op.at_most(0, extent, "a part has a negative extent");
    sum = sum + extent;
    std::vector<Dim> dims = x.shape.dims();
    dims[axis] = extent;
    op.result(Shape(std::move(dims)), x.dtype);
  }
  op.same(x.shape.dims()[axis], sum,
          fmt::format("axis {} and the sum of the parts, {},", axis, sum.to_string()));
}

void gather(Inference& op) {
  const TensorType &data = op.operand(0), &indices = op.operand(1);
  if (indices.dtype != DType::I64 && indices.dtype != DType::I32) {
    throw op.fail("indices must be i32 or i64");
  }
  const auto axis = op.attributes().integer("axis");
  const std::vector<Dim>& from = data.shape.dims();
  std::vector<Dim> dims(from.begin(), from.begin() + axis);
  dims.insert(dims.end(), indices.shape.begin(), indices.shape.end());
  dims.insert(dims.end(), from.begin() + axis + 1, from.end());
  op.result(Shape(std::move(dims)), data.dtype);
}

}  // namespace tenon::graph::rules
