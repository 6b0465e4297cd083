// Attributes: a small sorted vector. Nodes have at most a handful of attributes, so a search by
// bisection on one allocation is faster and simpler than a map, and the order needed for printing
// and hashing comes for free.
#include "graph/attributes.h"

#include <algorithm>

#include "base/error.h"
#include "graph/graph.h"

namespace tenon::graph {

namespace {

template <typename T>
const T& get(const Attributes& attributes, std::string_view name) {
  const AttributeValue* value = attributes.find(name);
  TENON_CHECK(value != nullptr, "attribute \"{}\" is missing", name);
  TENON_CHECK(std::holds_alternative<T>(*value), "attribute \"{}\" has another type", name);
  return std::get<T>(*value);
}

}  // namespace

Subgraph::Subgraph(Graph graph)
    : graph_(std::make_shared<const Graph>(std::move(graph))), digest_(graph::digest(*graph_)) {}

Attributes::Attributes(std::initializer_list<std::pair<std::string, AttributeValue>> items) {
  for (const auto& [name, value] : items) set(name, value);
}

void Attributes::set(std::string name, AttributeValue value) {
  const auto at = std::lower_bound(items_.begin(), items_.end(), name,
                                   [](const auto& item, const auto& n) { return item.first < n; });
  if (at != items_.end() && at->first == name) {
    at->second = std::move(value);
  } else {
    items_.emplace(at, std::move(name), std::move(value));
  }
}

const AttributeValue* Attributes::find(std::string_view name) const {
  const auto at = std::lower_bound(items_.begin(), items_.end(), name,
                                   [](const auto& item, const auto& n) { return item.first < n; });
  return at != items_.end() && at->first == name ? &at->second : nullptr;
}

int64_t Attributes::integer(std::string_view name) const { return get<int64_t>(*this, name); }

int64_t Attributes::integer(std::string_view name, int64_t otherwise) const {
  return find(name) != nullptr ? integer(name) : otherwise;
}

double Attributes::number(std::string_view name) const { return get<double>(*this, name); }

double Attributes::number(std::string_view name, double otherwise) const {
  return find(name) != nullptr ? number(name) : otherwise;
}

const std::string& Attributes::text(std::string_view name) const {
  return get<std::string>(*this, name);
}

DType Attributes::dtype(std::string_view name) const { return get<DType>(*this, name); }

const std::vector<int64_t>& Attributes::integers(std::string_view name) const {
  return get<std::vector<int64_t>>(*this, name);
}

const std::vector<Dim>& Attributes::dims(std::string_view name) const {
  return get<std::vector<Dim>>(*this, name);
}

const std::vector<double>& Attributes::numbers(std::string_view name) const {
  return get<std::vector<double>>(*this, name);
}

const Graph& Attributes::graph(std::string_view name) const { return *get<Subgraph>(*this, name); }

const CustomFunction& Attributes::function(std::string_view name) const {
  return get<CustomFunction>(*this, name);
}

}  // namespace tenon::graph
