// The table of attributes per op, and the canonical form of attribute values.
#include "graph/attribute_schema.h"

#include <algorithm>
#include <cmath>

#include "base/error.h"

namespace tenon::graph {

namespace {

enum : bool { Optional, Required };  // as the rows say
constexpr AttributeRow kRows[] = {
#define ATTRIBUTE(Name, attribute, kind, required) \
  {Op::Name, attribute, AttributeKind::kind, required},
#include "graph/ops.def"
};

const AttributeRow* find_row(Op op, std::string_view name) {
  for (const AttributeRow& row : kRows) {
    if (row.op == op && row.name == name) return &row;
  }
  return nullptr;
}

void check_schema(Op op, const Attributes& attributes) {
  for (const auto& [name, value] : attributes.items()) {
    const AttributeRow* row = find_row(op, name);
    if (row == nullptr) throw user_error("[{}] has no attribute \"{}\"", info(op).text, name);
    if (value.index() != static_cast<size_t>(row->kind)) {
      throw user_error("[{}] attribute \"{}\" has the wrong type", info(op).text, name);
    }
    const double* number = std::get_if<double>(&value);
    if (number != nullptr && !std::isfinite(*number)) {
      throw user_error("[{}] attribute \"{}\" is not finite", info(op).text, name);
    }
  }
  for (const AttributeRow& row : kRows) {
    if (row.op == op && row.required && attributes.find(row.name) == nullptr) {
      throw user_error("[{}] needs the attribute \"{}\"", info(op).text, row.name);
    }
  }
}

int64_t wrap_axis(Op op, const Value& operand, int64_t axis) {
  const int rank = operand.shape().rank();
  if (axis < -rank || axis >= rank) {
    throw user_error("[{}] axis {} is out of range: {}", info(op).text, axis,
                     operand.type().to_string());
  }
  return axis < 0 ? axis + rank : axis;
}

void set_default(Attributes& attributes, std::string_view name, AttributeValue value) {
  if (attributes.find(name) == nullptr) attributes.set(std::string(name), std::move(value));
}

void canonicalize_axes(Op op, const Value& operand, Attributes& attributes) {
  std::vector<int64_t> axes = attributes.integers("axes");
  for (int64_t& axis : axes) axis = wrap_axis(op, operand, axis);
  std::sort(axes.begin(), axes.end());
  if (std::adjacent_find(axes.begin(), axes.end()) != axes.end()) {
    throw user_error("[{}] an axis is named twice: {}", info(op).text, operand.type().to_string());
  }
  attributes.set("axes", std::move(axes));
}

}  // namespace

std::optional<AttributeKind> attribute_kind(Op op, std::string_view name) {
  const AttributeRow* row = find_row(op, name);
  return row == nullptr ? std::nullopt : std::optional(row->kind);
}

void canonicalize(Op op, std::span<const Value> operands, Attributes& attributes) {
  check_schema(op, attributes);
  if (attributes.find("axis") != nullptr) {
    attributes.set("axis", wrap_axis(op, operands[0], attributes.integer("axis")));
  }
  if (attributes.find("axes") != nullptr) canonicalize_axes(op, operands[0], attributes);
  if (op == Op::Dims) set_default(attributes, "scalar", int64_t{0});
  if (op == Op::Linear) {
    set_default(attributes, "activation", "none");
    set_default(attributes, "bias", int64_t{0});
    set_default(attributes, "residual", int64_t{0});
  }
  if (op == Op::GatedLinear) set_default(attributes, "activation", "none");
  if (op == Op::Linear || op == Op::GatedLinear) set_default(attributes, "row_scale", int64_t{0});
  if (op == Op::Rotary) set_default(attributes, "interleaved", int64_t{0});
  if (op == Op::Attention) {
    set_default(attributes, "causal", int64_t{0});
    set_default(attributes, "window", int64_t{0});
    set_default(attributes, "softcap", 0.0);
    if (attributes.integer("kv_heads", 0) == 0) {
      attributes.set("kv_heads", attributes.integer("heads"));
    }
    if (attributes.number("scale", 0) == 0) {
      const auto head_dim = static_cast<double>(attributes.integer("head_dim"));
      attributes.set("scale", head_dim > 0 ? 1 / std::sqrt(head_dim) : 1.0);
    }
  }
}

}  // namespace tenon::graph
