// Interning: the digest of a node is computed from its fields and the digests of its operands,
// never by walking the graph; a hash match is followed by a full comparison of one level, since
// operands are interned already.
#include "graph/context.h"

#include <algorithm>
#include <bit>
#include <iterator>
#include <memory>

#include "graph/shape_value.h"

namespace tenon::graph {

namespace {

// A symbol's bounds are part of what a leaf means (they decide what may be compiled), though not of
// its name.
void hash_dims(Hasher& hasher, std::span<const Dim> dims) {
  hasher.number(static_cast<int64_t>(dims.size()));
  for (const Dim& dim : dims) {
    if (dim.is_const()) {
      hasher.number(0).number(dim.const_value());
      continue;
    }
    hasher.number(1).text(dim.to_string());
    for (const Symbol& symbol : dim.symbols()) {
      hasher.number(symbol.bounds().lo).number(symbol.bounds().hi);
    }
  }
}

struct HashAttribute {
  Hasher& hasher;
  void operator()(int64_t value) const { hasher.number(value); }
  void operator()(double value) const { hasher.number(std::bit_cast<int64_t>(value)); }
  void operator()(const std::string& value) const { hasher.text(value); }
  void operator()(DType value) const { hasher.text(to_string(value)); }
  void operator()(const std::vector<int64_t>& values) const {
    hasher.number(static_cast<int64_t>(values.size()));
    for (const int64_t value : values) hasher.number(value);
  }
  void operator()(const std::vector<double>& values) const {
    hasher.number(static_cast<int64_t>(values.size()));
    for (const double value : values) hasher.number(std::bit_cast<int64_t>(value));
  }
  void operator()(const std::vector<Dim>& values) const { hash_dims(hasher, values); }
  void operator()(const Subgraph& graph) const {
    hasher.bytes(std::as_bytes(std::span(graph.digest().bytes)));
  }
  // Of this process: what has one is never kept on disk.
  void operator()(const CustomFunction& function) const {
    hasher.text(function.name()).number(static_cast<int64_t>(function.id()));
  }
};

Digest digest_of_fields(const Context::Fields& fields) {
  Hasher hasher;
  hasher.text(info(fields.op).text).text(fields.name);
  hasher.number(static_cast<int64_t>(fields.operands.size()));
  for (const Value& operand : fields.operands) {
    hasher.bytes(std::as_bytes(std::span(operand.node->digest().bytes))).number(operand.result);
  }
  for (const auto& [name, value] : fields.attributes.items()) {
    hasher.text(name).number(static_cast<int64_t>(value.index()));
    std::visit(HashAttribute{hasher}, value);
  }
  if (has(fields.op, kLeaf)) {  // the types of other nodes follow from what is hashed already
    hasher.text(to_string(fields.types[0].dtype));
    hash_dims(hasher, fields.types[0].shape.dims());
    hasher.number(static_cast<int64_t>(fields.data.bytes.size())).bytes(fields.data.bytes);
  }
  return hasher.finish();
}

}  // namespace

bool Node::same_structure(const Node& other) const {
  return digest_ == other.digest_ && op_ == other.op_ && operands_ == other.operands_ &&
         name_ == other.name_ && attributes_ == other.attributes_ && types_ == other.types_ &&
         std::ranges::equal(bytes(), other.bytes());
}

void Node::take_children(std::vector<Ref<Node>>& out) {
  std::ranges::move(held_, std::back_inserter(out));
  held_.clear();
}

Ref<Node> Context::intern(Fields fields) {
  auto node = std::make_unique<Node>();
  node->digest_ = digest_of_fields(fields);
  node->context_ = this;
  node->op_ = fields.op;
  node->operands_ = std::move(fields.operands);
  for (const Value& operand : node->operands_) node->held_.emplace_back(operand.node);
  node->attributes_ = std::move(fields.attributes);
  node->types_ = std::move(fields.types);
  node->name_ = std::move(fields.name);
  node->data_ = std::move(fields.data);
  node->shape_values_ = compute_shape_values(*node);
  return interner_.intern(std::move(node));
}

}  // namespace tenon::graph
