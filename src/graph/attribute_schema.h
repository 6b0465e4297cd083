// Which attributes each op takes, and of what type: one table. Builders check against it, so a
// misspelled or missing attribute is a User error at construction, and the parser knows by it what
// to read.
#pragma once

#include <optional>
#include <span>
#include <string_view>

#include "graph/node.h"

namespace tenon::graph {

enum class AttributeKind : uint8_t {
  Integer,
  Number,
  Text,
  DType,
  Integers,
  Dims,
  Numbers,
  Graph,
  Function
};  // as AttributeValue

struct AttributeRow {
  Op op;
  std::string_view name;
  AttributeKind kind;
  bool required = true;
};

std::optional<AttributeKind> attribute_kind(Op op, std::string_view name);

// Checks names and types, then makes the attributes canonical: negative axes count from the end,
// reduced axes are sorted, absent optional ones get their defaults. Two ways to write the same op
// are then the same node.
void canonicalize(Op op, std::span<const Value> operands, Attributes& attributes);

}  // namespace tenon::graph
