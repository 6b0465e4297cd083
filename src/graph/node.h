// Node: one op of the tensor IR, immutable and interned: two nodes with the same op, operands,
// attributes and name are the same node. It lives as long as a graph that made it, or a node that
// uses it. Value: one result of a node, not counted; what operands are.
#pragma once

#include <cstddef>
#include <memory>
#include <optional>
#include <span>
#include <string>
#include <vector>

#include "base/hash.h"
#include "base/interner.h"
#include "graph/attributes.h"
#include "graph/op.h"
#include "tenon/shape.h"

namespace tenon::graph {

class Context;
class Node;

struct Value {
  const Node* node = nullptr;
  int result = 0;

  explicit operator bool() const { return node != nullptr; }
  const TensorType& type() const;
  const Shape& shape() const { return type().shape; }
  DType dtype() const { return type().dtype; }
  Op op() const;
  const std::optional<std::vector<Dim>>& shape_value() const;
  bool operator==(const Value&) const = default;
};

// Bytes of a constant or of a parameter's initial data; `owner` keeps them alive (a mapped file, a
// vector).
struct Data {
  std::span<const std::byte> bytes;
  std::shared_ptr<const void> owner;
};

class Node : public Interned<Node> {
 public:
  Op op() const { return op_; }
  std::span<const Value> operands() const { return operands_; }
  Value operand(int i) const { return operands_[static_cast<size_t>(i)]; }
  int operand_count() const { return static_cast<int>(operands_.size()); }
  const Attributes& attributes() const { return attributes_; }
  std::span<const TensorType> types() const { return types_; }
  int result_count() const { return static_cast<int>(types_.size()); }
  const std::string& name() const { return name_; }                 // of an input or parameter
  std::span<const std::byte> bytes() const { return data_.bytes; }  // of a constant
  // The symbolic elements of a small integer tensor that holds shapes, where they are known
  // (row-major).
  const std::optional<std::vector<Dim>>& shape_value(int result = 0) const {
    static const std::optional<std::vector<Dim>> kNone;
    return shape_values_.empty() ? kNone : shape_values_[static_cast<size_t>(result)];
  }
  // Structural: equal across processes, machines and builds. Parameters count by name and type.
  const Digest& digest() const { return digest_; }

  // For the interner.
  size_t structural_hash() const { return digest_.prefix(); }
  bool same_structure(const Node& other) const;
  void take_children(std::vector<Ref<Node>>& out);

 private:
  friend class Context;
  Op op_{};
  std::vector<Value> operands_;
  std::vector<Ref<Node>> held_;  // the operands' nodes, kept alive
  Attributes attributes_;
  std::vector<TensorType> types_;
  std::string name_;
  Data data_;
  std::vector<std::optional<std::vector<Dim>>> shape_values_;  // one per result, or empty
  Digest digest_;
  const Context* context_ = nullptr;
};

inline const TensorType& Value::type() const { return node->types()[static_cast<size_t>(result)]; }
inline Op Value::op() const { return node->op(); }
inline const std::optional<std::vector<Dim>>& Value::shape_value() const {
  return node->shape_value(result);
}

}  // namespace tenon::graph

template <>
struct std::hash<tenon::graph::Value> {
  size_t operator()(const tenon::graph::Value& value) const noexcept {
    return std::hash<const void*>()(value.node) * 31 + static_cast<size_t>(value.result);
  }
};
