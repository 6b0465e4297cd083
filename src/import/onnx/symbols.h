// The model's symbolic dims: dim_params as symbols, with bounds from the user and from what the
// model itself proves.
#pragma once

#include <map>
#include <set>
#include <string>
#include <string_view>
#include <utility>

#include "import/onnx/proto.h"
#include "tenon/shape.h"

namespace tenon::onnx {

struct SymbolRules {
  std::map<std::string, std::pair<int64_t, int64_t>> bounds;  // the user's
  std::map<std::string, int64_t> limits;                      // upper bounds the model proves
  bool free_extents = false;                                  // see ImportOptions
  std::set<std::string> fixed_extents;
};

class Symbols {
 public:
  explicit Symbols(SymbolRules rules) : rules_(std::move(rules)) {}

  // The extent of `axis` of an input: a number, the symbol of its dim_param, or a symbol named
  // after input and axis.
  Dim extent(const DimensionProto& dim, std::string_view input, size_t axis);
  // The symbol of a dim_param seen before; null for others.
  const Symbol* find(std::string_view param) const;
  // User error for bounds of a symbol that the model does not have.
  void check_bounds_used() const;

 private:
  Symbol make(const std::string& name) const;
  Dim number(int64_t extent, std::string_view input, size_t axis);
  std::string unused_name(std::string_view text) const;

  SymbolRules rules_;
  std::map<std::string, Symbol, std::less<>> by_param_;
  std::map<std::string, Symbol, std::less<>> by_name_;
};

}  // namespace tenon::onnx
