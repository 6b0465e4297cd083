// A node whose elements are known Dims becomes a leaf that says them: the arithmetic which an
// exported model does on shapes disappears from the graph.
#include <algorithm>

#include "simplify/simplify.h"

namespace tenon::simplify {

using graph::Graph;
using graph::Node;
using graph::Op;
using graph::Value;

namespace {

bool is_folded(const Node& node) {
  if (graph::has(node.op(), graph::kLeaf)) return true;
  const bool wrapper = node.op() == Op::Cast || node.op() == Op::Reshape;
  return wrapper && node.operand(0).op() == Op::Dims;
}

Value constant_of(Graph& g, const TensorType& type, const std::vector<Dim>& elements) {
  const auto size = static_cast<size_t>(size_of(type.dtype));
  std::vector<std::byte> bytes(elements.size() * size);
  for (size_t i = 0; i < elements.size(); ++i) {
    store_from_i64(type.dtype, bytes.data() + i * size, elements[i].const_value());
  }
  return g.constant(type, {bytes, nullptr});
}

// dims, cast and reshaped where the tensor is no i64 vector or scalar. Empty: better left alone.
Value leaf_of(Graph& g, const TensorType& type, const std::vector<Dim>& elements) {
  if (std::ranges::all_of(elements, [](const Dim& d) { return d.is_const(); })) {
    return constant_of(g, type, elements);
  }
  if (type.dtype == DType::Bool) return {};
  const bool wide = type.dtype == DType::I64;
  if (type.shape.rank() > 1) return wide ? g.reshape(g.dims(elements), type.shape.dims()) : Value();
  const Value leaf = g.dims(elements, type.shape.rank() == 0);
  return wide ? leaf : g.cast(leaf, type.dtype);
}

}  // namespace

Graph fold_shape_values(const Graph& source) {
  return graph::rebuild(source, [](Graph& g, const Node& node, std::span<const Value> operands) {
    std::vector<Value> results;
    if (is_folded(node)) return results;
    bool found = false;
    for (int i = 0; i < node.result_count(); ++i) {
      const auto& elements = node.shape_value(i);
      const Value leaf =
          elements ? leaf_of(g, node.types()[static_cast<size_t>(i)], *elements) : Value();
      found = found || leaf;
      results.push_back(leaf);
    }
    if (!found) return std::vector<Value>();
    if (std::ranges::all_of(results, [](const Value& v) { return static_cast<bool>(v); }))
      return results;
    const std::vector<Value> copied =
        g.apply_all(node.op(), {operands.begin(), operands.end()}, node.attributes());
    for (size_t i = 0; i < results.size(); ++i) {
      if (!results[i]) results[i] = copied[i];
    }
    return results;
  });
}

}  // namespace tenon::simplify
