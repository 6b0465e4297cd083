// Index expressions of windows.
#include "lower/window.h"

namespace tenon::lower {

using namespace kernel;

namespace {

Dim product(const std::vector<Dim>& dims) {
  Dim result = 1;
  for (const Dim& dim : dims) result = result * dim;
  return result;
}

}  // namespace

Dim Window::taps() const { return product(kernel); }
Dim Window::positions() const { return product(result); }

Index Window::at(const Index& position, const Index& tap) const {
  Index index(rank());
  for (size_t i = 0; i < rank(); ++i)
    index[i] = position[i] * strides[i] + tap[i] * dilations[i] - begins[i];
  return index;
}

bool Window::always_inside(size_t axis) const {
  const Dim o = Symbol::range("window.o", result[axis]),
            t = Symbol::range("window.t", kernel[axis]);
  const Dim at = o * strides[axis] + t * dilations[axis] - begins[axis];
  return prove_le(0, at) == Proof::Yes && prove_lt(at, image[axis]) == Proof::Yes;
}

std::vector<Guard> Window::guards(const Index& at) const {
  std::vector<Guard> result;
  for (size_t i = 0; i < rank(); ++i) {
    if (!always_inside(i)) result.push_back({at[i], image[i]});
  }
  return result;
}

Dim Window::taps_inside(size_t axis, const Dim& start, const Dim& extent) const {
  const int64_t step = dilations[axis];
  const Dim first = max(ceildiv(Dim(0) - start, step), 0);
  const Dim end = min(ceildiv(extent - start, step), kernel[axis]);
  return max(end - first, 0);
}

Window window_of(const graph::Node& node, std::vector<Dim> image, std::vector<Dim> kernel) {
  const graph::Attributes& a = node.attributes();
  return {std::move(image), a.dims("extents"),     std::move(kernel),
          a.dims("begins"), a.integers("strides"), a.integers("dilations")};
}

std::vector<Dim> spatial(const Shape& shape) { return {shape.begin() + 2, shape.end()}; }

Index delinearize(const Dim& linear, const std::vector<Dim>& extents) {
  Index index(extents.size());
  Dim rest = linear;
  for (size_t i = extents.size(); i-- > 0;) {
    if (extents[i].is_const(1)) continue;
    index[i] = i == 0 ? rest : mod(rest, extents[i]);
    rest = floordiv(rest, extents[i]);
  }
  return index;
}

ExprRef zero_outside(ExprRef value, const std::vector<Guard>& guards) {
  for (const Guard& guard : guards) value = guarded(value, guard);
  if (value->op == Op::Load || guards.empty()) return value;
  return select(inside(guards), value, constant(value->dtype, 0));
}

ExprRef inside(const std::vector<Guard>& guards) {
  ExprRef result;
  for (const Guard& guard : guards) {
    const ExprRef holds = in_range(guard.index, guard.bound);
    result = result ? pointwise(Op::And, {result, holds}) : holds;
  }
  return result;
}

}  // namespace tenon::lower
