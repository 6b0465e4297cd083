// Solves the extents of the inputs for the symbols in them, and says which input is wrong where
// they do not fit.
#include "graph/bind.h"

#include "base/error.h"
#include "graph/constraint_kind.h"
#include "types/wrong_extent.h"

namespace tenon::graph {

namespace {

struct Given {
  std::string_view kind, name;
  int axis;
  Dim extent;
  int64_t value;
};

std::vector<Given> given_extents(const Graph& graph,
                                 const std::map<std::string, std::vector<int64_t>>& shapes) {
  std::vector<Given> result;
  const auto add = [&](const Value& leaf, std::string_view kind, bool required) {
    const std::string& name = leaf.node->name();
    const auto found = shapes.find(name);
    if (found == shapes.end()) {
      if (required)
        throw user_error("{} \"{}\" is missing: {}", kind, name, leaf.type().to_string());
      return;
    }
    const std::vector<int64_t>& shape = found->second;
    if (static_cast<int>(shape.size()) != leaf.shape().rank()) {
      throw user_error("{} \"{}\" has the shape [{}], but is {}", kind, name,
                       fmt::join(shape, ", "), leaf.type().to_string());
    }
    for (int axis = 0; axis < leaf.shape().rank(); ++axis) {
      result.push_back({kind, name, axis, leaf.shape()[axis], shape[static_cast<size_t>(axis)]});
    }
  };
  for (const Value& input : graph.inputs()) add(input, "input", true);
  for (const Value& param : graph.params()) {
    add(param, "parameter", graph.param_data(param.node->name()) == nullptr);
  }
  return result;
}

void bind(SymbolTable& table, const Symbol& symbol, int64_t value, const Given& given) {
  if (!symbol.bounds().contains(value)) {
    throw user_error("extent {} = {} of {} \"{}\" is outside its bounds {}..{}", symbol.name(),
                     value, given.kind, given.name, symbol.bounds().lo, symbol.bounds().hi);
  }
  table.emplace(symbol.name(), value);
}

// The only symbol without a value, where there is exactly one.
std::optional<Symbol> only_unknown(const SymbolTable& table, const Dim& dim) {
  std::optional<Symbol> unknown;
  for (const Symbol& symbol : dim.symbols()) {
    if (table.contains(symbol.name())) continue;
    if (unknown) return std::nullopt;
    unknown = symbol;
  }
  return unknown;
}

// given.extent == given.value, solved for a symbol that occurs linearly. False: nothing found.
bool solve(SymbolTable& table, const Given& given) {
  const std::optional<Symbol> symbol = only_unknown(table, given.extent);
  if (!symbol) return false;
  const std::optional<Dim> factor = given.extent.coefficient(*symbol);
  const SymbolValues values = values_of(table);
  if (!factor) return false;
  const int64_t scale = factor->evaluate(values).value_or(0);
  const std::optional<int64_t> rest = given.extent.substitute(*symbol, 0).evaluate(values);
  if (!rest || scale == 0 || (given.value - *rest) % scale != 0) return false;
  bind(table, *symbol, (given.value - *rest) / scale, given);
  return true;
}

void check(const SymbolTable& table, const Given& given) {
  const std::optional<int64_t> value = given.extent.evaluate(values_of(table));
  if (!value) {
    throw user_error("extent {} of {} \"{}\" does not determine its symbols",
                     given.extent.to_string(), given.kind, given.name);
  }
  if (*value != given.value) {
    throw user_error("{} \"{}\" has extent {} on axis {}, where {} is {}", given.kind, given.name,
                     given.value, given.axis, given.extent.to_string(), *value);
  }
}

bool is_decided(const SymbolTable& table, const Constraint& constraint) {
  const auto known = [&](const Dim& dim) { return dim.evaluate(values_of(table)).has_value(); };
  return known(constraint.left) && known(constraint.right);
}

void check_constraint(const SymbolTable& table, const Constraint& constraint) {
  using enum Constraint::Kind;
  const std::optional<int64_t> left = constraint.left.evaluate(values_of(table));
  const std::optional<int64_t> right = constraint.right.evaluate(values_of(table));
  const bool holds = left && right &&
                     (constraint.kind == AtMost  ? *left <= *right
                      : constraint.kind == Equal ? *left == *right
                                                 : *left == *right || *left == 1 || *right == 1);
  if (holds) return;
  const auto shown = [](const std::optional<int64_t>& v) {
    return v ? fmt::to_string(*v) : "unknown";
  };
  throw user_error("{}, but has {} and {}", needs(constraint), shown(left), shown(right));
}

}  // namespace

SymbolValues values_of(const SymbolTable& table) {
  return [&table](const Symbol& symbol) -> std::optional<int64_t> {
    const auto found = table.find(symbol.name());
    return found == table.end() ? std::nullopt : std::optional(found->second);
  };
}

SymbolTable bind_symbols(const Graph& graph,
                         const std::map<std::string, std::vector<int64_t>>& shapes,
                         SymbolTable known) {
  const std::vector<Given> all = given_extents(graph, shapes);
  SymbolTable table = std::move(known);
  for (const Given& given : all) {
    const std::optional<Symbol> symbol = given.extent.as_symbol();
    if (symbol && !table.contains(symbol->name())) bind(table, *symbol, given.value, given);
  }
  for (bool progress = true; progress;) {
    progress = false;
    for (const Given& given : all) progress = solve(table, given) || progress;
  }
  for (const Given& given : all) check(table, given);
  for (const Constraint& constraint : graph.constraints()) {
    if (is_decided(table, constraint)) check_constraint(table, constraint);
  }
  return table;
}

void define_symbol(const Graph& graph, const Symbol& symbol, int64_t value, SymbolTable& table) {
  if (!symbol.bounds().contains(value)) {
    throw user_error("{}", wrong_extent(symbol, value));
  }
  table.emplace(symbol.name(), value);
  for (const Constraint& constraint : graph.constraints()) {
    const bool mine = constraint.left.uses(symbol) || constraint.right.uses(symbol);
    if (mine && is_decided(table, constraint)) check_constraint(table, constraint);
  }
}

}  // namespace tenon::graph
