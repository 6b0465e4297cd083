// Shape: a list of extents. TensorType: a shape and an element type.
#pragma once

#include <initializer_list>
#include <string>
#include <vector>

#include "tenon/dim.h"
#include "tenon/dtype.h"

namespace tenon {

class Shape {
 public:
  Shape() = default;
  Shape(std::initializer_list<Dim> dims) : dims_(dims) {}
  explicit Shape(std::vector<Dim> dims) : dims_(std::move(dims)) {}
  static Shape batch_seq(const Dim& batch, const Dim& seq, const Dim& hidden) {
    return {batch, seq, hidden};
  }
  static Shape batch_seq_2d(const Dim& batch, const Dim& seq) { return {batch, seq}; }

  int rank() const { return static_cast<int>(dims_.size()); }
  // An axis that is not there is a User error: ranks come from models.
  const Dim& operator[](int axis) const {
    if (axis < 0 || axis >= rank()) no_such_axis(axis);
    return dims_[static_cast<size_t>(axis)];
  }
  const std::vector<Dim>& dims() const { return dims_; }
  auto begin() const { return dims_.begin(); }
  auto end() const { return dims_.end(); }

  Dim elements() const;              // the product; 1 for a scalar
  std::vector<Dim> strides() const;  // row-major, in elements
  bool is_static() const;
  std::string to_string() const;  // [batch, seq, 384]
  bool operator==(const Shape&) const = default;

 private:
  [[noreturn]] void no_such_axis(int axis) const;

  std::vector<Dim> dims_;
};

struct TensorType {
  Shape shape;
  DType dtype = DType::F32;
  Dim bytes() const { return shape.elements() * size_of(dtype); }
  std::string to_string() const;  // f32[batch, seq, 384]
  bool operator==(const TensorType&) const = default;
};

}  // namespace tenon
