// Shapes: products, row-major strides, and the text that error messages show.
#include "tenon/shape.h"

#include <algorithm>

#include "base/error.h"

namespace tenon {

void Shape::no_such_axis(int axis) const {
  throw user_error("axis {} is not in the shape {}", axis, to_string());
}

Dim Shape::elements() const {
  Dim product(1);
  for (const Dim& dim : dims_) product = product * dim;
  return product;
}

std::vector<Dim> Shape::strides() const {
  std::vector<Dim> strides(dims_.size());
  Dim stride(1);
  for (size_t axis = dims_.size(); axis-- > 0;) {
    strides[axis] = stride;
    stride = stride * dims_[axis];
  }
  return strides;
}

bool Shape::is_static() const {
  return std::all_of(dims_.begin(), dims_.end(), [](const Dim& dim) { return dim.is_const(); });
}

std::string Shape::to_string() const {
  std::string text = "[";
  for (size_t axis = 0; axis < dims_.size(); ++axis) {
    if (axis > 0) text += ", ";
    text += dims_[axis].to_string();
  }
  return text + "]";
}

std::string TensorType::to_string() const {
  return std::string(tenon::to_string(dtype)) + shape.to_string();
}

}  // namespace tenon
