#include "lazy/rule.h"

#include <algorithm>
#include <array>

#include "base/error.h"
#include "graph/attribute_schema.h"
#include "graph/context.h"
#include "graph/infer.h"
#include "lazy/check_values.h"

namespace tenon::lazy {
namespace {

// Stays: tensors may outlive every static of the program.
graph::Context& context() {
  static auto& rules = *new graph::Context;
  return rules;
}

// What a thread made last, by a hash: the same few rules are asked for again and again, and finding
// one here costs no inference.
class Recent {
 public:
  template <typename IsIt, typename Make>
  Ref<graph::Node> get(size_t hash, const IsIt& is_it, const Make& make) {
    Ref<graph::Node>& slot = slots_[hash * 0x9E3779B97F4A7C15u >> 56];
    if (!slot || !is_it(*slot)) slot = make();
    return slot;
  }

 private:
  std::array<Ref<graph::Node>, 256> slots_;
};

// Symbols are equal by name; here their bounds count too, since they decide what may be compiled.
bool same_bounds(const TensorType& a, const TensorType& b) {
  for (int i = 0; i < a.shape.rank(); ++i) {
    if (a.shape[i].is_const()) continue;
    const std::vector<Symbol> of_a = a.shape[i].symbols(), of_b = b.shape[i].symbols();
    for (size_t k = 0; k < of_a.size(); ++k) {
      if (of_a[k].bounds() != of_b[k].bounds()) return false;
    }
  }
  return true;
}

size_t hash_of(const TensorType& type) {
  size_t hash = static_cast<size_t>(type.dtype);
  for (const Dim& dim : type.shape) hash = hash * 31 + dim.hash();
  return hash;
}

}  // namespace

Ref<graph::Node> stand_in_for(const TensorType& type) {
  thread_local Recent recent;
  return recent.get(
      hash_of(type),
      [&](const graph::Node& node) {
        return node.types()[0] == type && same_bounds(node.types()[0], type);
      },
      [&] { return context().intern({graph::Op::Input, {}, {}, {type}, "x", {}}); });
}

static Ref<graph::Node> infer_rule(graph::Op op, std::vector<graph::Value> operands,
                                   graph::Attributes attributes) {
  graph::canonicalize(op, operands, attributes);
  graph::Inference inference(op, operands, attributes);
  graph::infer(inference);
  std::vector<TensorType> types = inference.results();
  Ref<graph::Node> rule =
      context().intern({op, std::move(operands), std::move(attributes), std::move(types), "", {}});
  check_sizes(*rule);
  return rule;
}

Ref<graph::Node> make_rule(graph::Op op, std::vector<graph::Value> operands,
                           graph::Attributes attributes) {
  const graph::OpInfo& row = graph::info(op);
  const auto count = static_cast<int>(operands.size());
  if (count < row.least || (row.most >= 0 && count > row.most))
    throw user_error("[{}] does not take {} operands", row.text, count);
  if (!attributes.items().empty())
    return infer_rule(op, std::move(operands), std::move(attributes));
  size_t hash = static_cast<size_t>(op);
  for (const graph::Value& operand : operands)
    hash = hash * 31 + std::hash<graph::Value>()(operand);
  thread_local Recent recent;
  return recent.get(
      hash,
      [&](const graph::Node& node) {
        return node.op() == op && std::ranges::equal(node.operands(), operands);
      },
      [&] { return infer_rule(op, operands, {}); });
}

static Ref<graph::Node> intern_constant(TensorType type, std::span<const std::byte> bytes) {
  auto held = std::make_shared<std::vector<std::byte>>(bytes.begin(), bytes.end());
  const std::span<const std::byte> view = *held;
  return context().intern(
      {graph::Op::Constant, {}, {}, {std::move(type)}, "", {view, std::move(held)}});
}

Ref<graph::Node> constant_rule(TensorType type, std::span<const std::byte> bytes) {
  if (bytes.size() > sizeof(uint64_t)) return intern_constant(std::move(type), bytes);
  uint64_t word = 0;
  std::ranges::copy(bytes, reinterpret_cast<std::byte*>(&word));
  thread_local Recent recent;
  return recent.get(
      word + hash_of(type),
      [&](const graph::Node& node) {
        return node.types()[0] == type && std::ranges::equal(node.bytes(), bytes);
      },
      [&] { return intern_constant(type, bytes); });
}

Ref<graph::Node> dims_rule(std::vector<Dim> values, bool scalar) {
  TensorType type{scalar ? Shape{} : Shape{static_cast<int64_t>(values.size())}, DType::I64};
  graph::Attributes attributes{{"scalar", int64_t{scalar}}, {"values", std::move(values)}};
  return context().intern({graph::Op::Dims, {}, std::move(attributes), {std::move(type)}, "", {}});
}

}  // namespace tenon::lazy
