// Movement of tensors: shapes, padding, joining. Nothing is copied by most of these: they become
// index arithmetic of whoever reads.
#include <algorithm>
#include <numeric>

#include "base/error.h"
#include "lazy/apply.h"
#include "lazy/promote.h"

namespace tenon {
namespace {

using graph::Op;
using lazy::apply;
using lazy::dims_of;
using lazy::named;
using lazy::values_of;
using lazy::wrap_axis;

Extents extents_of(const Tensor& x) {
  Extents result;
  for (const Dim& dim : x.shape()) result.emplace_back(dim);
  return result;
}

}  // namespace

// One extent may be -1.
Tensor Tensor::reshape(const Extents& shape) const {
  return named("reshape", [&] {
    std::vector<Dim> dims = dims_of(shape);
    Dim known = 1;
    int64_t open = -1;
    for (size_t i = 0; i < dims.size(); ++i) {
      if (!dims[i].is_const(-1)) {
        known = known * dims[i];
      } else if (open < 0) {
        open = static_cast<int64_t>(i);
      } else {
        throw user_error("[reshape] two extents are -1: {}", type().to_string());
      }
    }
    if (open >= 0) {
      if (known.is_const(0))
        throw user_error("[reshape] nothing follows for -1 beside an extent of 0: {}",
                         type().to_string());
      dims[static_cast<size_t>(open)] = floordiv(this->shape().elements(), known);
    }
    if (dims == this->shape().dims() && values_of(shape).empty()) return *this;
    return apply(Op::Reshape, {*this}, {{"shape", std::move(dims)}}, values_of(shape));
  });
}

Tensor Tensor::flatten(int64_t first, int64_t last) const {
  return named("flatten", [&] {
    if (rank() == 0) return reshape({1});
    const int64_t from = wrap_axis("flatten", first, *this), to = wrap_axis("flatten", last, *this);
    if (from > to) throw user_error("[flatten] axis {} is after axis {}", first, last);
    Extents shape;
    Dim product = 1;
    for (int i = 0; i < rank(); ++i) {
      const Dim& extent = this->shape()[i];
      if (i < from || i > to) {
        shape.emplace_back(extent);
        continue;
      }
      product = product * extent;
      if (i == to) shape.emplace_back(product);
    }
    return reshape(shape);
  });
}

Tensor Tensor::squeeze(std::optional<int64_t> axis) const {
  return named("squeeze", [&] {
    Extents shape;
    const int64_t named = axis ? wrap_axis("squeeze", *axis, *this) : -1;
    for (int i = 0; i < rank(); ++i) {
      const Dim& extent = this->shape()[i];
      const bool goes = axis ? i == named : extent.is_const(1);
      if (goes && !extent.is_const(1))
        throw user_error("[squeeze] axis {} is not of extent 1: {}", *axis, type().to_string());
      if (!goes) shape.emplace_back(extent);
    }
    return reshape(shape);
  });
}

Tensor Tensor::unsqueeze(int64_t axis) const {
  return named("unsqueeze", [&] {
    const int64_t at = axis < 0 ? axis + rank() + 1 : axis;
    if (at < 0 || at > rank())
      throw user_error("[unsqueeze] axis {} is out of range: {}", axis, type().to_string());
    Extents shape = extents_of(*this);
    shape.insert(shape.begin() + at, 1);
    return reshape(shape);
  });
}

Tensor Tensor::permute(const std::vector<int64_t>& axes) const {
  return named("permute", [&] {
    std::vector<int64_t> perm;
    for (const int64_t axis : axes) perm.push_back(wrap_axis("permute", axis, *this));
    return apply(Op::Transpose, {*this}, {{"perm", std::move(perm)}});
  });
}

Tensor Tensor::transpose(int64_t a, int64_t b) const {
  return named("transpose", [&] {
    std::vector<int64_t> perm(static_cast<size_t>(rank()));
    std::iota(perm.begin(), perm.end(), 0);
    std::swap(perm[static_cast<size_t>(wrap_axis("transpose", a, *this))],
              perm[static_cast<size_t>(wrap_axis("transpose", b, *this))]);
    return permute(perm);
  });
}

Tensor Tensor::expand(const Extents& shape) const {
  return named("expand", [&] {
    std::vector<Dim> dims = dims_of(shape);
    const int more = static_cast<int>(dims.size()) - rank();
    if (more < 0)
      throw user_error("[expand] {} axes are fewer than those of {}", dims.size(),
                       type().to_string());
    for (int i = 0; i < rank(); ++i) {
      Dim& dim = dims[static_cast<size_t>(more) + static_cast<size_t>(i)];
      if (dim.is_const(-1)) dim = this->shape()[i];
    }
    return apply(Op::Expand, {*this}, {{"shape", std::move(dims)}}, values_of(shape));
  });
}

Tensor Tensor::pad(const std::vector<std::pair<Extent, Extent>>& pads, const Scalar& value) const {
  return named("pad", [&] {
    if (static_cast<int>(pads.size()) != rank())
      throw user_error("[pad] {} pairs for {}", pads.size(), type().to_string());
    Extents by;
    std::vector<Dim> dims = shape().dims();
    for (size_t i = 0; i < pads.size(); ++i) {
      const auto& [before, after] = pads[i];
      for (const Extent* each : {&before, &after}) {
        if (each->dim().bounds().lo < 0)
          throw user_error("[pad] {} may be negative: shrink instead", each->dim().to_string());
      }
      dims[i] = dims[i] + before.dim() + after.dim();
      by.push_back(before);
    }
    for (const auto& [before, after] : pads) by.push_back(after);
    std::vector<int64_t> axes(pads.size());
    std::iota(axes.begin(), axes.end(), 0);
    return apply(
        Op::Pad,
        {*this, lazy::dims(by), lazy::integers(axes), lazy::element("pad", value, dtype())},
        {{"mode", "constant"}, {"shape", std::move(dims)}}, values_of(by));
  });
}

Tensor Tensor::concat(const std::vector<Tensor>& parts, int64_t axis) {
  return named("concat", [&] {
    if (parts.empty()) throw user_error("[concat] there is nothing to join");
    const DType dtype = lazy::promoted("concat", parts);
    std::vector<Tensor> alike;
    for (const Tensor& part : parts) alike.push_back(part.cast(dtype));
    return apply(Op::Concat, alike, {{"axis", wrap_axis("concat", axis, parts[0])}});
  });
}

Tensor Tensor::stack(const std::vector<Tensor>& parts, int64_t axis) {
  return named("stack", [&] {
    if (parts.empty()) throw user_error("[stack] there is nothing to join");
    std::vector<Tensor> rows;
    for (const Tensor& part : parts) {
      if (part.shape() != parts[0].shape())
        throw user_error("[stack] shapes differ: {} and {}", parts[0].type().to_string(),
                         part.type().to_string());
      rows.push_back(part.unsqueeze(axis));
    }
    return concat(rows, axis);
  });
}

std::vector<Tensor> Tensor::split(const std::vector<int64_t>& extents, int64_t axis) const {
  return named("split", [&] {
    const std::vector<Dim> dims(extents.begin(), extents.end());
    return lazy::apply_all(Op::Split, {*this},
                           {{"axis", wrap_axis("split", axis, *this)}, {"extents", dims}});
  });
}

std::vector<Tensor> Tensor::chunk(int64_t parts, int64_t axis) const {
  return named("chunk", [&] {
    const int64_t at = wrap_axis("chunk", axis, *this);
    const Dim& extent = shape()[static_cast<int>(at)];
    if (parts < 1) throw user_error("[chunk] {} parts", parts);
    if (!extent.is_const())
      throw user_error("[chunk] axis {} is symbolic: {}", axis, type().to_string());
    const int64_t whole = extent.const_value(),
                  each = std::max<int64_t>((whole + parts - 1) / parts, 1);
    std::vector<int64_t> extents;
    for (int64_t begin = 0; begin < whole; begin += each)
      extents.push_back(std::min(each, whole - begin));
    return split(extents, at);
  });
}

Tensor Tensor::repeat(const std::vector<int64_t>& times) const {
  return named("repeat", [&] {
    if (static_cast<int>(times.size()) < rank())
      throw user_error("[repeat] {} numbers for {}", times.size(), type().to_string());
    Extents apart, spread, together;
    const auto more = times.size() - static_cast<size_t>(rank());
    for (size_t i = 0; i < times.size(); ++i) {
      if (times[i] < 0) throw user_error("[repeat] {} times", times[i]);
      const Dim extent = i < more ? Dim(1) : shape()[static_cast<int>(i - more)];
      apart.insert(apart.end(), {Extent(1), Extent(extent)});
      spread.insert(spread.end(), {Extent(times[i]), Extent(extent)});
      together.emplace_back(extent * times[i]);
    }
    return reshape(apart).expand(spread).reshape(together);
  });
}

Tensor Tensor::roll(int64_t shift, int64_t axis) const {
  return named("roll", [&] {
    const int64_t at = wrap_axis("roll", axis, *this);
    const Dim& extent = shape()[static_cast<int>(at)];
    if (!extent.is_const())
      throw user_error("[roll] axis {} is symbolic: {}", axis, type().to_string());
    const int64_t whole = extent.const_value();
    if (whole == 0 || shift % whole == 0) return *this;
    const int64_t from = ((-shift % whole) + whole) % whole;
    return concat({slice(at, {.start = from}), slice(at, {.stop = from})}, at);
  });
}

namespace {

// Column minus row of each place of the last two axes.
Tensor diagonal_of(const char* call, const Tensor& x) {
  if (x.rank() < 2) throw user_error("[{}] needs a matrix: {}", call, x.type().to_string());
  const Tensor rows = Tensor::arange(Extent(x.shape()[x.rank() - 2]));
  const Tensor columns = Tensor::arange(Extent(x.shape()[x.rank() - 1]));
  return columns.unsqueeze(0) - rows.unsqueeze(1);
}

}  // namespace

Tensor Tensor::tril(int64_t diagonal) const {
  return named("tril", [&] {
    return where(diagonal_of("tril", *this) <= diagonal, *this, lazy::constant(0, dtype()));
  });
}
Tensor Tensor::triu(int64_t diagonal) const {
  return named("triu", [&] {
    return where(diagonal_of("triu", *this) >= diagonal, *this, lazy::constant(0, dtype()));
  });
}

}  // namespace tenon
