// Numbers that may have been computed from the bucket's extent before the graph was built: then
// they are wrong for fewer rows, and nothing is known.
#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <set>
#include <vector>

#include "graph/active_derivation.h"
#include "types/active_extent.h"

namespace tenon::graph {
namespace {

std::vector<double> elements_of(const Node& constant) {
  const DType dtype = constant.types()[0].dtype;
  const auto size = static_cast<size_t>(size_of(dtype));
  std::vector<double> elements;
  for (size_t at = 0; at + size <= constant.bytes().size(); at += size)
    elements.push_back(load_as_f64(dtype, constant.bytes().data() + at));
  return elements;
}

bool has_element(const Value& shape, int64_t wanted) {
  const auto& known = shape.shape_value();
  return known && std::ranges::find(*known, Dim(wanted)) != known->end();
}

// The last position, or the first one counted from behind, of an axis so long or a multiple of it.
bool bounds_positions(const Value& integers, int64_t extent) {
  const auto& known = integers.shape_value();
  return known && std::ranges::any_of(*known, [&](const Dim& dim) {
           if (!dim.is_const() || dim.is_const(0)) return false;
           const int64_t bound = dim.const_value();
           return (bound < 0 ? bound : bound + 1) % extent == 0;
         });
}

// What all elements of a constant are, also one that is moved or goes through ops of one operand:
// what is computed from the extent has the extent behind it.
std::optional<double> number_of(Value value) {
  while (value.node->operand_count() == 1 &&
         (has(value.op(), kElementwise) || has(value.op(), kMovement)))
    value = value.node->operand(0);
  if (value.op() != Op::Constant) return std::nullopt;
  const std::vector<double> elements = elements_of(*value.node);
  const auto differs = [&](double element) { return element != elements[0]; };
  if (elements.empty() || std::ranges::any_of(elements, differs)) return std::nullopt;
  return elements[0];
}

// As a factor or a divisor.
bool is_extent(double number, int64_t upper) {
  const auto extent = static_cast<double>(upper);
  return number == extent || std::abs(number * extent - 1) < 1e-6;
}

// Also through casts and moves, and whatever is computed from constants alone.
bool is_constant(const Value& value) {
  std::set<const Node*> seen = {value.node};
  std::vector<const Node*> open = {value.node};
  while (!open.empty()) {
    const Node* node = open.back();
    open.pop_back();
    if (node->op() == Op::Constant) continue;
    if (!has(node->op(), kElementwise) && !has(node->op(), kMovement)) return false;
    for (const Value& operand : node->operands()) {
      if (seen.insert(operand.node).second) open.push_back(operand.node);
    }
  }
  return true;
}

// The first row and the last, however many there are.
bool are_ends(Value positions) {
  const auto keeps = [](const Value& value) {
    const bool is_signed = info(value.dtype()).kind == DTypeKind::Signed;
    return has(value.op(), kMovement) || (value.op() == Op::Cast && is_signed);
  };
  while (positions.node->operand_count() == 1 && keeps(positions))
    positions = positions.node->operand(0);
  const auto is_end = [](double index) { return index == 0 || index == -1; };
  return positions.op() == Op::Constant &&
         std::ranges::all_of(elements_of(*positions.node), is_end);
}

// A factor before is one after.
bool is_linear(Op op) {
  constexpr Op kLinear[] = {Op::Add, Op::Sub, Op::Mul, Op::Div, Op::Neg, Op::Cast};
  return std::ranges::find(kLinear, op) != std::end(kLinear);
}

}  // namespace

// Integers with which a shape is computed, as data.
bool Derivation::shapes_fit(const Node& node) {
  if (upper_ < 2 || !has(node.op(), kElementwise)) return true;
  for (const Value& operand : node.operands()) {
    if (!has(operand.op(), kLeaf) || !has_element(operand, upper_)) continue;
    return unsure(fmt::format("[{}] the integer {} may be the bucket's extent",
                              info(node.op()).text, upper_));
  }
  return true;
}

// Positions that are clamped to the last row, before something looks rows up by them.
bool Derivation::positions_fit(const Node& node, const std::vector<Value>& operands) {
  const auto is_bound = [&](const Value& operand) {
    return has(operand.op(), kLeaf) && bounds_positions(operand, upper_);
  };
  const bool clamps = node.op() == Op::Min || node.op() == Op::Max;
  const auto is_clamped = [&](const Value& operand) { return clamped_.contains(operand.node); };
  const bool passes_on = has(node.op(), kElementwise) || has(node.op(), kMovement);
  const bool found = std::ranges::any_of(node.operands(), is_clamped);
  if ((clamps && upper_ > 2 && std::ranges::any_of(node.operands(), is_bound)) ||
      (found && passes_on))
    clamped_.insert(&node);
  const auto has_active = [](const Value& operand) { return is_active(operand.shape()); };
  if (!found || passes_on || std::ranges::none_of(operands, has_active)) return true;
  return unsure(fmt::format("[{}] positions are clamped to {} rows, which may be the bucket's",
                            info(node.op()).text, upper_));
}

// A sum over the bucket's axis that is divided by its extent, before or after: a mean.
bool Derivation::means_fit(const Node& node) {
  if (upper_ < 2) return true;
  const auto is_scaled = [&](const Value& operand) { return scaled_.contains(operand.node); };
  const bool found = std::ranges::any_of(node.operands(), is_scaled);
  if (found && (has(node.op(), kMovement) || is_linear(node.op()))) scaled_.insert(&node);
  if (found && (node.op() == Op::ReduceSum || node.op() == Op::ReduceMean)) {
    for (const int64_t axis : node.attributes().integers("axes")) {
      if (changed(node.operand(0), static_cast<int>(axis)))
        return unsure(fmt::format("[{}] what is added up is scaled by {}, the bucket's extent",
                                  info(node.op()).text, upper_));
    }
  }
  if (node.op() != Op::Mul && node.op() != Op::Div) return true;
  for (int i = 0; i < 2; ++i) {
    const auto number = number_of(node.operand(i));
    if (!number || !is_extent(*number, upper_)) continue;
    const Value& other = node.operand(1 - i);
    if (lost_.contains(other.node))
      return unsure(fmt::format("[{}] the number {} may be the bucket's extent",
                                info(node.op()).text, *number));
    if (is_active(now_.at(other).shape())) scaled_.insert(&node);
  }
  return true;
}

// Positions on the bucket's axis that are constants.
bool Derivation::numbers_fit(const Node& node, const std::vector<Value>& operands) {
  if (!shapes_fit(node) || !positions_fit(node, operands) || !means_fit(node)) return false;
  switch (node.op()) {
    case Op::Gather:
    case Op::GatherElements:
    case Op::GatherND:
    case Op::ScatterElements:
    case Op::ScatterND: {
      if (!is_active(operands[0].shape()) || !is_constant(node.operand(1))) return true;
      const int64_t axis = node.attributes().integer("axis", -1);
      if (axis >= 0 && !changed(node.operand(0), static_cast<int>(axis))) return true;
      if (axis >= 0 && are_ends(node.operand(1))) return true;
      return unsure(
          fmt::format("[{}] positions on the bucket's axis are constants", info(node.op()).text));
    }
    default:
      return true;
  }
}

}  // namespace tenon::graph
