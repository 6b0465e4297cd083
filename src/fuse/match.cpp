// Small questions about values that several fusion patterns ask, and the bookkeeping of a rebuild.
// None of them walks further than a node's own operands, so a pattern's cost is what its own file
// shows.
#include "fuse/match.h"

#include <algorithm>

#include "base/error.h"

namespace tenon::fuse {

using graph::Node;
using graph::Op;
using graph::Value;

std::optional<double> scalar_constant(Value value) {
  if (value.op() != Op::Constant || !is_float(value.dtype())) return std::nullopt;
  if (!value.shape().elements().is_const(1)) return std::nullopt;
  return load_as_f64(value.dtype(), value.node->bytes().data());
}

std::optional<Scaled> as_scaled(Value value) {
  if (value.op() != Op::Mul && value.op() != Op::Div) return std::nullopt;
  Value a = value.node->operand(0);
  Value b = value.node->operand(1);
  std::optional<double> factor = scalar_constant(b);
  if (!factor && value.op() == Op::Mul) {
    std::swap(a, b);
    factor = scalar_constant(b);
  }
  if (!factor || !(a.type() == value.type())) return std::nullopt;
  return Scaled{a, value.op() == Op::Div ? 1 / *factor : *factor};
}

Value other_operand(const Node& node, Value value) {
  if (node.operand(0) == node.operand(1)) return {};
  return node.operand(0) == value ? node.operand(1) : node.operand(0);
}

bool same_shape(const Shape& a, const Shape& b) {
  if (a.rank() != b.rank()) return false;
  for (int i = 0; i < a.rank(); ++i) {
    if (prove_equal(a[i], b[i]) != Proof::Yes) return false;
  }
  return true;
}

bool reduces_last_axis(const Node& node) {
  const std::vector<int64_t>& axes = node.attributes().integers("axes");
  return axes.size() == 1 && axes[0] == node.operand(0).shape().rank() - 1;
}

bool is_row_vector(Value value, const Dim& n) {
  const Shape& shape = value.shape();
  int rank = shape.rank();
  if (rank == 0 || prove_equal(shape[rank - 1], n) != Proof::Yes) return false;
  return std::all_of(shape.begin(), shape.end() - 1, [](const Dim& d) { return d.is_const(1); });
}

bool is_widened(Value value) {
  if (value.op() != Op::Cast || value.dtype() != DType::F32) return false;
  const DType from = value.node->operand(0).dtype();
  return from == DType::F16 || from == DType::BF16;
}

Value uncast(Value value, DType dtype) {
  if (value.dtype() == dtype) return value;
  if (!is_widened(value) || value.node->operand(0).dtype() != dtype) return {};
  return value.node->operand(0);
}

Narrowed narrowed(Value x, const Node* last, const graph::UseLists& uses) {
  if (!is_widened(x)) return {x, last};
  const Value source = x.node->operand(0);
  const Node* user = uses.only_user(Value{last});
  const bool back = user && user->op() == Op::Cast && user->types()[0].dtype == source.dtype();
  return back ? Narrowed{source, user} : Narrowed{x, last};
}

std::unordered_set<const Node*> needed_after(
    const graph::Graph& graph,
    const std::unordered_map<const Node*, std::vector<Value>>& replaced) {
  std::unordered_set<const Node*> seen;
  std::vector<const Node*> work;
  auto need = [&](Value value) {
    if (seen.insert(value.node).second) work.push_back(value.node);
  };
  for (const graph::Output& output : graph.outputs()) need(output.value);
  while (!work.empty()) {
    const Node* node = work.back();
    work.pop_back();
    const auto found = replaced.find(node);
    const std::span<const Value> inputs =
        found != replaced.end() ? std::span<const Value>(found->second) : node->operands();
    for (Value value : inputs) need(value);
  }
  return seen;
}

void Moved::note(const Node& node, std::span<const Value> operands) {
  for (size_t i = 0; i < operands.size(); ++i) values_[node.operands()[i]] = operands[i];
}

Value Moved::operator()(Value old) const {
  if (!old) return {};
  const Value* found = values_.find(old);
  TENON_CHECK(found, "[fuse] a replacement uses a value that was not visited yet");
  return *found;
}

Value Site::vector(Value old) const {
  Value value = moved(old);
  int rank = value.shape().rank();
  return rank == 1 ? value : g.reshape(value, {value.shape()[rank - 1]});
}

}  // namespace tenon::fuse
