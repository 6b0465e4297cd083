// Attributes of a node: a sorted list of name and value, so that printing, parsing, hashing and
// comparing are written once for all ops.
#pragma once

#include <memory>
#include <string>
#include <string_view>
#include <utility>
#include <variant>
#include <vector>

#include "base/hash.h"
#include "tenon/custom_function.h"
#include "tenon/shape.h"

namespace tenon::graph {

class Graph;

// A graph inside of a node: a branch, the body of a loop. Shared and never changed; equal where the
// digests are. What it uses of the graph around it are inputs of its own, which the node's operands
// give; symbols of the graph around it keep their values inside.
class Subgraph {
 public:
  Subgraph() = default;
  explicit Subgraph(Graph graph);  // its outputs are set

  const Graph& operator*() const { return *graph_; }
  const Graph* operator->() const { return graph_.get(); }
  const Digest& digest() const { return digest_; }
  bool operator==(const Subgraph& other) const { return digest_ == other.digest_; }

 private:
  std::shared_ptr<const Graph> graph_;
  Digest digest_;
};

using AttributeValue =
    std::variant<int64_t, double, std::string, DType, std::vector<int64_t>, std::vector<Dim>,
                 std::vector<double>, Subgraph, CustomFunction>;

class Attributes {
 public:
  Attributes() = default;
  Attributes(std::initializer_list<std::pair<std::string, AttributeValue>> items);

  void set(std::string name, AttributeValue value);
  const AttributeValue* find(std::string_view name) const;
  const std::vector<std::pair<std::string, AttributeValue>>& items() const { return items_; }

  // Typed access; a missing attribute or one of another type is an Internal error unless a default
  // is given.
  int64_t integer(std::string_view name) const;
  int64_t integer(std::string_view name, int64_t otherwise) const;
  double number(std::string_view name) const;
  double number(std::string_view name, double otherwise) const;
  const std::string& text(std::string_view name) const;
  DType dtype(std::string_view name) const;
  const std::vector<int64_t>& integers(std::string_view name) const;
  const std::vector<Dim>& dims(std::string_view name) const;
  const std::vector<double>& numbers(std::string_view name) const;
  const Graph& graph(std::string_view name) const;
  const CustomFunction& function(std::string_view name) const;

  bool operator==(const Attributes&) const = default;

 private:
  std::vector<std::pair<std::string, AttributeValue>> items_;  // sorted by name
};

}  // namespace tenon::graph
