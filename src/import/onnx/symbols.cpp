// Names symbols so that the IR's text can hold them: letters, digits and underscores, each name for
// one dim_param.
#include "import/onnx/symbols.h"

#include <algorithm>

#include "base/error.h"

namespace tenon::onnx {
namespace {

bool is_letter(char c) { return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || c == '_'; }
bool is_digit(char c) { return c >= '0' && c <= '9'; }

std::string identifier(std::string_view text) {
  std::string name;
  for (char c : text.substr(0, 200)) name += is_letter(c) || is_digit(c) ? c : '_';
  if (name.empty() || is_digit(name[0])) name.insert(name.begin(), '_');
  for (std::string_view word : {"min", "max", "floordiv", "ceildiv", "mod"}) {
    if (name == word) name += '_';  // words of the algebra
  }
  return name;
}

}  // namespace

std::string Symbols::unused_name(std::string_view text) const {
  const std::string name = identifier(text);
  std::string candidate = name;
  for (int i = 2; by_name_.contains(candidate); ++i) candidate = fmt::format("{}_{}", name, i);
  return candidate;
}

namespace {

// Exporters name the length of a cache so, and a decoder's first step has none.
bool may_be_empty(std::string_view name) { return name.find("past") != std::string_view::npos; }

}  // namespace

Symbol Symbols::make(const std::string& name) const {
  Bounds bounds = Symbol(name).bounds();
  if (may_be_empty(name)) bounds.lo = 0;
  if (const auto found = rules_.bounds.find(name); found != rules_.bounds.end()) {
    const auto [lo, hi] = found->second;
    if (lo < 0 || hi < lo) {
      throw user_error("bounds {} .. {} of {} are empty or below 0", lo, hi, name);
    }
    bounds = {lo, std::min(hi, bounds.hi)};
  }
  if (const auto found = rules_.limits.find(name); found != rules_.limits.end()) {
    if (found->second < bounds.lo) {
      throw user_error("{} must be at least {}, but the model allows at most {}", name, bounds.lo,
                       found->second);
    }
    bounds.hi = std::min(bounds.hi, found->second);
  }
  return Symbol(name, bounds);
}

Dim Symbols::number(int64_t extent, std::string_view input, size_t axis) {
  const std::string own = fmt::format("{}_{}", input, axis);
  if (!rules_.free_extents || extent == 0 || rules_.fixed_extents.contains(own)) return extent;
  const Symbol symbol(unused_name(own), {0, 2 * extent});
  by_name_.emplace(symbol.name(), symbol);
  return Dim(symbol);
}

Dim Symbols::extent(const DimensionProto& dim, std::string_view input, size_t axis) {
  if (dim.value) {
    if (*dim.value < 0) {
      throw user_error("input '{}' has the negative extent {}", input, *dim.value);
    }
    return number(*dim.value, input, axis);
  }
  const std::string param =
      dim.param.empty() ? fmt::format("{}_{}", input, axis) : std::string(dim.param);
  if (!dim.param.empty()) {
    if (const Symbol* known = find(param)) return Dim(*known);
  }
  const Symbol symbol = make(unused_name(param));
  if (!dim.param.empty()) by_param_.emplace(param, symbol);
  by_name_.emplace(symbol.name(), symbol);
  return Dim(symbol);
}

const Symbol* Symbols::find(std::string_view param) const {
  const auto found = by_param_.find(param);
  return found == by_param_.end() ? nullptr : &found->second;
}

void Symbols::check_bounds_used() const {
  std::vector<std::string> names;
  for (const auto& [name, symbol] : by_name_) names.push_back(name);
  for (const auto& [name, bounds] : rules_.bounds) {
    if (by_name_.contains(name)) continue;
    throw user_error("dim_bounds names '{}', but the model's symbols are: {}", name,
                     names.empty() ? "none" : fmt::format("{}", fmt::join(names, ", ")));
  }
}

}  // namespace tenon::onnx
