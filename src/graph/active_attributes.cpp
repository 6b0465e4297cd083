// Attributes that carry extents, with the bucket's as a symbol: what follows from the operands
// does, what a node brings in itself is the bucket's where the attempt says so.
#include <fmt/format.h>

#include <algorithm>

#include "graph/active_derivation.h"
#include "types/active_extent.h"

namespace tenon::graph {
namespace {

// Whether an extent of this size is no choice of the node's own.
bool follows_from_operands(const Node& node, int64_t extent) {
  switch (node.op()) {
    case Op::Reshape:
    case Op::Split:
    case Op::Conv:
    case Op::MaxPool:
    case Op::AveragePool:
    case Op::LpPool:
      return true;
    default:
      return std::ranges::any_of(node.operands(), [&](const Value& operand) {
        return std::ranges::any_of(operand.shape(),
                                   [&](const Dim& dim) { return dim.is_const(extent); });
      });
  }
}

}  // namespace

bool Derivation::takes(const Place& place) {
  if (bucket_.contains(place)) return true;
  attempt_.open.insert(place);
  return false;
}

bool Derivation::set_reshape(const Node& node, const Value& x, Attributes& attributes) {
  const Shape& before = node.operand(0).shape();
  const Shape shape(attributes.dims("shape"));
  auto now = reshaped(before, x.shape(), shape);
  if (!now) {
    return unsure(
        fmt::format("[reshape] of {}: {} may be the bucket's extent in several ways or none",
                    node.operand(0).type().to_string(), shape.to_string()));
  }
  attributes.set("shape", std::move(*now));
  return true;
}

bool Derivation::set_expand(const Node& node, const Value& x, Attributes& attributes) {
  const Shape& before = node.operand(0).shape();
  std::vector<Dim> shape = attributes.dims("shape");
  const int shift = static_cast<int>(shape.size()) - before.rank();
  for (int axis = 0; axis < static_cast<int>(shape.size()); ++axis) {
    Dim& extent = shape[static_cast<size_t>(axis)];
    const bool has = axis >= shift;
    if (has && changed(node.operand(0), axis - shift)) {
      extent = x.shape()[axis - shift];
    } else if (!(has && before[axis - shift] == extent) && extent.is_const(upper_)) {
      if (takes({&node, axis})) extent = active_;
    }
  }
  attributes.set("shape", std::move(shape));
  return true;
}

// A whole axis stays whole, forwards or backwards. Other slices of the bucket's axis must be inside
// at every extent, which inference sees.
bool Derivation::set_slice(const Node& node, const Value& x, Attributes& attributes) {
  const Shape& before = node.operand(0).shape();
  std::vector<Dim> starts = attributes.dims("starts"), extents = attributes.dims("extents");
  const std::vector<int64_t>& steps = attributes.integers("steps");
  for (size_t i = 0; i < extents.size(); ++i) {
    const auto axis = static_cast<int>(i);
    const bool from_first = starts[i].is_const(0) && steps[i] == 1;
    const bool from_last = starts[i] == before[axis] - 1 && steps[i] == -1;
    const bool whole = extents[i] == before[axis] && (from_first || from_last);
    if (changed(node.operand(0), axis)) {
      if (!whole) continue;
      extents[i] = x.shape()[axis];
      if (from_last) starts[i] = extents[i] - 1;
    } else if (from_first && extents[i].is_const(upper_)) {
      if (bucket_.contains({&node, axis}) || (!whole && takes({&node, axis}))) extents[i] = active_;
    }
  }
  attributes.set("starts", std::move(starts));
  attributes.set("extents", std::move(extents));
  return true;
}

bool Derivation::set_split(const Node& node, const Value& x, Attributes& attributes) {
  const auto axis = static_cast<int>(attributes.integer("axis"));
  if (!changed(node.operand(0), axis)) return true;
  if (attributes.dims("extents").size() != 1)
    return unsure("[split] the parts of the bucket's axis are constants");
  attributes.set("extents", std::vector<Dim>{x.shape()[axis]});
  return true;
}

// As much more than the operand as before.
bool Derivation::set_pad(const Node& node, const Value& x, Attributes& attributes) {
  std::vector<Dim> shape = attributes.dims("shape");
  for (int axis = 0; axis < x.shape().rank(); ++axis) {
    if (!changed(node.operand(0), axis)) continue;
    if (node.operand(1).op() != Op::Constant)
      return unsure("[pad] how much is added to the bucket's axis is computed");
    Dim& extent = shape[static_cast<size_t>(axis)];
    extent = extent - node.operand(0).shape()[axis] + x.shape()[axis];
  }
  attributes.set("shape", std::move(shape));
  return true;
}

// Windows that move by one: as many more or less than the operand's extent as before.
bool Derivation::set_windows(const Node& node, const Value& x, Attributes& attributes) {
  const std::vector<int64_t>& strides = attributes.integers("strides");
  for (int axis = 2; axis < x.shape().rank(); ++axis) {
    if (!changed(node.operand(0), axis)) continue;
    const auto i = static_cast<size_t>(axis - 2);
    if (strides[i] != 1)
      return unsure(fmt::format("[{}] windows move by {} on the bucket's axis",
                                info(node.op()).text, strides[i]));
    std::vector<Dim> extents = attributes.dims("extents");
    extents[i] = extents[i] - node.operand(0).shape()[axis] + x.shape()[axis];
    attributes.set("extents", std::move(extents));
  }
  return true;
}

// From 0 to the bucket's extent by ones.
bool Derivation::set_range(const Node& node, std::vector<Value>& operands, Attributes& attributes) {
  if (!attributes.dims("shape")[0].is_const(upper_) || !takes({&node, 0})) return true;
  const auto is = [&](int operand, int64_t value) {
    const auto& known = node.operand(operand).shape_value();
    return known && (*known)[0].is_const(value);
  };
  if (!is(0, 0) || !is(1, upper_) || !is(2, 1))
    return unsure(fmt::format("[range] is not known to be 0..{} by ones", upper_));
  const Value limit = result_.dims({active_}, true);
  operands[1] =
      limit.dtype() == operands[0].dtype() ? limit : result_.cast(limit, operands[0].dtype());
  attributes.set("shape", std::vector<Dim>{active_});
  return true;
}

bool Derivation::set_extents(const Node& node, std::vector<Value>& operands,
                             Attributes& attributes) {
  if (node.op() == Op::Range) return set_range(node, operands, attributes);
  if (node.op() == Op::Expand) return set_expand(node, operands[0], attributes);
  if (node.op() == Op::Slice) return set_slice(node, operands[0], attributes);
  const auto has_active = [](const Value& value) { return is_active(value.shape()); };
  const bool touched = std::ranges::any_of(operands, has_active);
  bool carries = false, constant = false;
  for (const auto& [name, value] : attributes.items()) {
    carries = carries || std::holds_alternative<Subgraph>(value);
    const auto* dims = std::get_if<std::vector<Dim>>(&value);
    carries = carries || dims != nullptr;
    for (size_t i = 0; dims != nullptr && i < dims->size(); ++i)
      constant = constant || (*dims)[i].is_const(upper_);
  }
  if (!carries) return true;
  if (!touched) {
    if (!constant || follows_from_operands(node, upper_)) return true;
    return unsure(
        fmt::format("[{}] its extent {} may be the bucket's or not", info(node.op()).text, upper_));
  }
  switch (node.op()) {
    case Op::Reshape:
      return set_reshape(node, operands[0], attributes);
    case Op::Split:
      return set_split(node, operands[0], attributes);
    case Op::Pad:
      return set_pad(node, operands[0], attributes);
    case Op::Conv:
    case Op::MaxPool:
    case Op::AveragePool:
    case Op::LpPool:
      return set_windows(node, operands[0], attributes);
    case Op::NonZero:  // these find out by data; inference checks what they say
    case Op::TopK:
    case Op::Unique:
    case Op::Update:
      return true;
    default:
      return unsure(
          fmt::format("[{}] its extents do not follow from the bucket's", info(node.op()).text));
  }
}

}  // namespace tenon::graph
