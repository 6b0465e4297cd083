// Movement of tensors: shapes, slices, padding, joining. Nothing is copied by most of these: they
// become index arithmetic of whoever reads.
#include <algorithm>
#include <numeric>

#include "base/error.h"
#include "graph/slice_range.h"
#include "lazy/apply.h"
#include "lazy/promote.h"

namespace tenon {
namespace {

using graph::Op;
using lazy::apply;
using lazy::dims_of;
using lazy::values_of;
using lazy::wrap_axis;

Extents extents_of(const Tensor& x) {
  Extents result;
  for (const Dim& dim : x.shape()) result.emplace_back(dim);
  return result;
}

// start:stop:step of an axis that is walked backwards, by NumPy's rule: a start before the axis
// leaves nothing of it (ONNX has its first element then). nullopt where a bound may be negative or
// not.
std::optional<graph::SliceRange> backward_range(const Slice& slice, const Dim& extent) {
  const auto clamped = [&](const Dim& at) -> std::optional<Dim> {
    if (prove_le(0, at) == Proof::Yes) return min(at, extent - 1);
    if (prove_lt(at, 0) == Proof::Yes) return max(extent + at, -1);
    return std::nullopt;
  };
  const std::optional<Dim> first = slice.start ? clamped(slice.start->dim()) : extent - 1;
  const std::optional<Dim> beyond = slice.stop ? clamped(slice.stop->dim()) : Dim(-1);
  if (!first || !beyond) return std::nullopt;
  constexpr int64_t kFar = int64_t{1} << 40;
  const int64_t step = std::max(slice.step, -kFar);
  return graph::SliceRange{*first, max(ceildiv(*first - *beyond, -step), 0), step};
}

std::optional<graph::SliceRange> forward_range(const Slice& slice, const Dim& extent) {
  const Dim start = slice.start ? slice.start->dim() : Dim(0);
  const Dim stop = slice.stop ? slice.stop->dim() : Dim(int64_t{1} << 60);
  return graph::slice_range(start, stop, slice.step, extent);
}

// The number that an extent is by the values it brings, where these are all.
std::optional<int64_t> number_of(const Extent& extent) {
  return lazy::evaluate(extent.dim(), extent.values());
}

// What a slice takes of each axis.
struct Cut {
  explicit Cut(const Tensor& x)
      : starts(static_cast<size_t>(x.rank()), 0),
        extents(x.shape().dims()),
        steps(static_cast<size_t>(x.rank()), 1) {}
  std::vector<Dim> starts, extents;
  std::vector<int64_t> steps;
  VariableValues values;

  void take(const char* call, const Tensor& x, int64_t axis, const Slice& slice) {
    const auto at = static_cast<size_t>(axis);
    if (slice.step == 0) throw user_error("[{}] a step is 0", call);
    const auto range =
        slice.step > 0 ? forward_range(slice, extents[at]) : backward_range(slice, extents[at]);
    const auto text = [](const std::optional<Extent>& bound) {
      return bound ? bound->dim().to_string() : std::string();
    };
    if (!range)
      throw user_error("[{}] a bound of axis {} may be negative or not: {}:{} of {}", call, axis,
                       text(slice.start), text(slice.stop), x.type().to_string());
    starts[at] = range->start;
    extents[at] = range->extent;
    steps[at] = range->step;
    for (const auto* bound : {&slice.start, &slice.stop}) {
      if (*bound) lazy::merge(values, (*bound)->values(), call);
    }
  }
  Tensor of(const Tensor& x) const {
    const bool whole = extents == x.shape().dims() &&
                       std::ranges::all_of(starts, [](const Dim& d) { return d.is_const(0); }) &&
                       std::ranges::all_of(steps, [](int64_t s) { return s == 1; });
    if (whole && values.empty()) return x;
    return apply(Op::Slice, {x}, {{"starts", starts}, {"extents", extents}, {"steps", steps}},
                 values);
  }
};

// A position on an axis as the start of a slice of one: negative ones count from the end.
Dim position_of(const Tensor& x, int64_t axis, const Extent& position) {
  const Dim& extent = x.shape()[static_cast<int>(axis)];
  const Dim& at = position.dim();
  const bool from_end = at.bounds().hi < 0;
  const Dim result = from_end ? extent + at : at;
  if (prove_le(0, result) == Proof::No || prove_lt(result, extent) == Proof::No)
    throw user_error("[index] position {} is outside of axis {}: {}", at.to_string(), axis,
                     x.type().to_string());
  return result;
}

}  // namespace

// One extent may be -1.
Tensor Tensor::reshape(const Extents& shape) const {
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
}

Tensor Tensor::flatten(int64_t first, int64_t last) const {
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
}

Tensor Tensor::squeeze(std::optional<int64_t> axis) const {
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
}

Tensor Tensor::unsqueeze(int64_t axis) const {
  const int64_t at = axis < 0 ? axis + rank() + 1 : axis;
  if (at < 0 || at > rank())
    throw user_error("[unsqueeze] axis {} is out of range: {}", axis, type().to_string());
  Extents shape = extents_of(*this);
  shape.insert(shape.begin() + at, 1);
  return reshape(shape);
}

Tensor Tensor::permute(const std::vector<int64_t>& axes) const {
  std::vector<int64_t> perm;
  for (const int64_t axis : axes) perm.push_back(wrap_axis("permute", axis, *this));
  return apply(Op::Transpose, {*this}, {{"perm", std::move(perm)}});
}

Tensor Tensor::transpose(int64_t a, int64_t b) const {
  std::vector<int64_t> perm(static_cast<size_t>(rank()));
  std::iota(perm.begin(), perm.end(), 0);
  std::swap(perm[static_cast<size_t>(wrap_axis("transpose", a, *this))],
            perm[static_cast<size_t>(wrap_axis("transpose", b, *this))]);
  return permute(perm);
}

Tensor Tensor::expand(const Extents& shape) const {
  std::vector<Dim> dims = dims_of(shape);
  const int more = static_cast<int>(dims.size()) - rank();
  if (more < 0)
    throw user_error("[expand] {} axes are fewer than those of {}", dims.size(),
                     type().to_string());
  for (const Extent& extent : shape) {
    if (number_of(extent).value_or(0) < -1)
      throw user_error("[expand] an extent is {}", *number_of(extent));
  }
  for (int i = 0; i < rank(); ++i) {
    Dim& dim = dims[static_cast<size_t>(more) + static_cast<size_t>(i)];
    if (dim.is_const(-1)) dim = this->shape()[i];
  }
  return apply(Op::Expand, {*this}, {{"shape", std::move(dims)}}, values_of(shape));
}

Tensor Tensor::pad(const std::vector<std::pair<Extent, Extent>>& pads, const Scalar& value) const {
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
  return apply(Op::Pad,
               {*this, lazy::dims(by), lazy::integers(axes), lazy::element("pad", value, dtype())},
               {{"mode", "constant"}, {"shape", std::move(dims)}}, values_of(by));
}

Tensor Tensor::shrink(const std::vector<std::pair<Extent, Extent>>& ranges) const {
  if (static_cast<int>(ranges.size()) > rank())
    throw user_error("[shrink] {} ranges for {}", ranges.size(), type().to_string());
  Cut cut(*this);
  for (size_t i = 0; i < ranges.size(); ++i) {
    const auto& [begin, end] = ranges[i];
    const Dim& extent = shape()[static_cast<int>(i)];
    if (prove_le(0, begin.dim()) == Proof::No || prove_le(begin.dim(), end.dim()) == Proof::No ||
        prove_le(end.dim(), extent) == Proof::No)
      throw user_error("[shrink] {}..{} is not inside of axis {}: {}", begin.dim().to_string(),
                       end.dim().to_string(), i, type().to_string());
    const std::optional<int64_t> first = number_of(begin), last = number_of(end);
    if (first && last && extent.is_const() &&
        !(0 <= *first && *first <= *last && *last <= extent.const_value()))
      throw user_error("[shrink] {}..{} is {}..{}, not inside of axis {}: {}",
                       begin.dim().to_string(), end.dim().to_string(), *first, *last, i,
                       type().to_string());
    cut.starts[i] = begin.dim();
    cut.extents[i] = end.dim() - begin.dim();
    lazy::merge(cut.values, begin.values(), "shrink");
    lazy::merge(cut.values, end.values(), "shrink");
  }
  return cut.of(*this);
}

Tensor Tensor::flip(const std::vector<int64_t>& axes) const {
  Cut cut(*this);
  for (const int64_t axis : axes)
    cut.take("flip", *this, wrap_axis("flip", axis, *this), {.step = -1});
  return cut.of(*this);
}

Tensor Tensor::slice(int64_t axis, const Slice& slice) const {
  Cut cut(*this);
  cut.take("slice", *this, wrap_axis("slice", axis, *this), slice);
  return cut.of(*this);
}

// First a slice of whole rank, then the axes of positions go and new ones come.
Tensor Tensor::index(const std::vector<Index>& index) const {
  int64_t named = 0;
  bool has_rest = false;
  for (const Index& each : index) {
    const Place* place = std::get_if<Place>(&each);
    if (place && *place == Place::Rest && has_rest)
      throw user_error("[index] two places stand for the rest of the axes");
    has_rest = has_rest || (place && *place == Place::Rest);
    named += !place || *place == Place::All;
  }
  if (named > rank()) throw user_error("[index] {} places for {}", named, type().to_string());
  Cut cut(*this);
  std::vector<int> shape;  // axes that stay, -1: a new one
  int axis = 0;
  const auto stay = [&] { shape.push_back(axis++); };
  for (const Index& each : index) {
    if (const Place* place = std::get_if<Place>(&each)) {
      if (*place == Place::NewAxis) shape.push_back(-1);
      if (*place == Place::All) stay();
      for (int64_t i = named; *place == Place::Rest && i < rank(); ++i) stay();
    } else if (const Slice* part = std::get_if<Slice>(&each)) {
      cut.take("index", *this, axis, *part);
      stay();
    } else {
      const Extent& position = std::get<Extent>(each);
      cut.starts[static_cast<size_t>(axis)] = position_of(*this, axis, position);
      cut.extents[static_cast<size_t>(axis)] = 1;
      lazy::merge(cut.values, position.values(), "index");
      ++axis;
    }
  }
  while (axis < rank()) stay();
  const Tensor part = cut.of(*this);
  Extents dims;
  for (const int from : shape) dims.push_back(from < 0 ? Extent(1) : Extent(part.shape()[from]));
  return part.reshape(dims);
}

Tensor Tensor::concat(const std::vector<Tensor>& parts, int64_t axis) {
  if (parts.empty()) throw user_error("[concat] there is nothing to join");
  const DType dtype = lazy::promoted("concat", parts);
  std::vector<Tensor> alike;
  for (const Tensor& part : parts) alike.push_back(part.cast(dtype));
  return apply(Op::Concat, alike, {{"axis", wrap_axis("concat", axis, parts[0])}});
}

Tensor Tensor::stack(const std::vector<Tensor>& parts, int64_t axis) {
  if (parts.empty()) throw user_error("[stack] there is nothing to join");
  std::vector<Tensor> rows;
  for (const Tensor& part : parts) {
    if (part.shape() != parts[0].shape())
      throw user_error("[stack] shapes differ: {} and {}", parts[0].type().to_string(),
                       part.type().to_string());
    rows.push_back(part.unsqueeze(axis));
  }
  return concat(rows, axis);
}

std::vector<Tensor> Tensor::split(const std::vector<int64_t>& extents, int64_t axis) const {
  const std::vector<Dim> dims(extents.begin(), extents.end());
  return lazy::apply_all(Op::Split, {*this},
                         {{"axis", wrap_axis("split", axis, *this)}, {"extents", dims}});
}

std::vector<Tensor> Tensor::chunk(int64_t parts, int64_t axis) const {
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
}

Tensor Tensor::repeat(const std::vector<int64_t>& times) const {
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
}

Tensor Tensor::roll(int64_t shift, int64_t axis) const {
  const int64_t at = wrap_axis("roll", axis, *this);
  const Dim& extent = shape()[static_cast<int>(at)];
  if (!extent.is_const())
    throw user_error("[roll] axis {} is symbolic: {}", axis, type().to_string());
  const int64_t whole = extent.const_value();
  if (whole == 0 || shift % whole == 0) return *this;
  const int64_t from = ((-shift % whole) + whole) % whole;
  return concat({slice(at, {.start = from}), slice(at, {.stop = from})}, at);
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
  return where(diagonal_of("tril", *this) <= diagonal, *this, lazy::constant(0, dtype()));
}
Tensor Tensor::triu(int64_t diagonal) const {
  return where(diagonal_of("triu", *this) >= diagonal, *this, lazy::constant(0, dtype()));
}

}  // namespace tenon
