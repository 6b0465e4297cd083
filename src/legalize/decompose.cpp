// The pass, and the short forms that decompositions share.
#include "legalize/decompose.h"

#include <algorithm>
#include <optional>
#include <string>
#include <unordered_set>

namespace tenon::legalize {

using graph::Op;

namespace {

struct Row {
  Op op;
  decompositions::Decomposition* function;
};
// The last row is of no op: a table may be empty.
constexpr Row kRows[] = {
#define DECOMPOSE(Name, function) {Op::Name, decompositions::function},
#include "legalize/decompositions.def"
#undef DECOMPOSE
    {Op::Input, nullptr},
};

const Row* row_of(Op op) {
  const Row* row = std::ranges::find(kRows, op, &Row::op);
  return row == std::end(kRows) || !row->function ? nullptr : row;
}

}  // namespace

bool is_decomposed(Op op) { return row_of(op) != nullptr; }

graph::Graph decompose(const graph::Graph& source) {
  constexpr int kDepth = 4;  // of decompositions that use each other
  graph::Graph graph = source;
  bool changed = true;
  for (int round = 0; round < kDepth && changed; ++round) {
    changed = false;
    graph = rebuild(graph, [&](graph::Graph& g, const graph::Node& node,
                               std::span<const graph::Value> operands) {
      std::vector<graph::Value> results;
      if (const Row* row = row_of(node.op())) results = row->function(g, node, operands);
      changed = changed || !results.empty();
      return results;
    });
  }
  return graph;
}

namespace decompositions {

Value integer(Graph& g, const Dim& value) { return g.dims({value}, true); }

Value iota(Graph& g, const Dim& count) {
  return g.apply(Op::Range, {integer(g, 0), integer(g, count), integer(g, 1)},
                 {{"shape", std::vector<Dim>{count}}});
}

Value along(Graph& g, Value vector, int axis, int rank) {
  std::vector<Dim> dims(static_cast<size_t>(rank), 1);
  dims[static_cast<size_t>(axis)] = vector.shape().elements();
  return g.reshape(vector, std::move(dims));
}

Value where(Graph& g, Value condition, Value then, Value otherwise) {
  return g.apply(Op::Where, {condition, then, otherwise});
}

namespace {

// By an input's extents.
bool is_given(const Graph& g, const Symbol& symbol) {
  return std::ranges::any_of(g.inputs(), [&](const Value& input) {
    return std::ranges::any_of(input.shape(), [&](const Dim& dim) { return dim.uses(symbol); });
  });
}

// The symbols that a value is computed from, by name: they have their values before it.
std::unordered_set<std::string> named_before(Value value) {
  std::unordered_set<std::string> names;
  std::unordered_set<const Node*> seen{value.node};
  std::vector<const Node*> pending{value.node};
  const auto note = [&](std::span<const Dim> dims) {
    for (const Dim& dim : dims) {
      for (const Symbol& symbol : dim.symbols()) names.insert(symbol.name());
    }
  };
  while (!pending.empty()) {
    const Node* node = pending.back();
    pending.pop_back();
    for (const TensorType& type : node->types()) note(type.shape.dims());
    if (node->op() == Op::Dims) note(node->attributes().dims("values"));
    for (const Value& operand : node->operands()) {
      if (seen.insert(operand.node).second) pending.push_back(operand.node);
    }
  }
  return names;
}

}  // namespace

std::vector<Dim> define(Graph& g, Value vector, const char* stem, int64_t most) {
  std::vector<Dim> symbols;
  for (int64_t i = 0; i < vector.shape()[0].const_value(); ++i) {
    symbols.emplace_back(g.fresh_symbol(stem, {0, most}));
  }
  g.apply(Op::Define, {vector}, {{"symbols", symbols}});
  return symbols;
}

bool define_own(Graph& g, Value vector, const std::vector<Dim>& dims) {
  std::vector<Dim> symbols;
  std::vector<int64_t> places;
  const std::unordered_set<std::string> before = named_before(vector);
  for (size_t i = 0; i < dims.size(); ++i) {
    const std::optional<Symbol> symbol = dims[i].as_symbol();
    const bool repeated = std::ranges::count(symbols, dims[i]) > 0;
    if (!symbol || repeated || is_given(g, *symbol) || before.contains(symbol->name())) continue;
    symbols.push_back(dims[i]);
    places.push_back(static_cast<int64_t>(i));
  }
  if (symbols.empty()) return false;
  if (symbols.size() < dims.size()) vector = g.gather(vector, g.integers(std::move(places)), 0);
  g.apply(Op::Define, {vector}, {{"symbols", std::move(symbols)}});
  return true;
}

}  // namespace decompositions
}  // namespace tenon::legalize
