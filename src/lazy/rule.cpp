#include "lazy/rule.h"

#include "base/error.h"
#include "graph/attribute_schema.h"
#include "graph/context.h"
#include "graph/infer.h"

namespace tenon::lazy {
namespace {

// Stays: tensors may outlive every static of the program.
graph::Context& context() {
  static auto& rules = *new graph::Context;
  return rules;
}

}  // namespace

Ref<graph::Node> stand_in_for(const TensorType& type) {
  return context().intern({graph::Op::Input, {}, {}, {type}, "x", {}});
}

Ref<graph::Node> make_rule(graph::Op op, std::vector<graph::Value> operands,
                           graph::Attributes attributes) {
  const graph::OpInfo& row = graph::info(op);
  const auto count = static_cast<int>(operands.size());
  if (count < row.least || (row.most >= 0 && count > row.most))
    throw user_error("[{}] does not take {} operands", row.text, count);
  graph::canonicalize(op, operands, attributes);
  graph::Inference inference(op, operands, attributes);
  graph::infer(inference);
  std::vector<TensorType> types = inference.results();
  return context().intern(
      {op, std::move(operands), std::move(attributes), std::move(types), "", {}});
}

Ref<graph::Node> constant_rule(TensorType type, std::span<const std::byte> bytes) {
  auto held = std::make_shared<std::vector<std::byte>>(bytes.begin(), bytes.end());
  const std::span<const std::byte> view = *held;
  return context().intern(
      {graph::Op::Constant, {}, {}, {std::move(type)}, "", {view, std::move(held)}});
}

Ref<graph::Node> dims_rule(std::vector<Dim> values, bool scalar) {
  TensorType type{scalar ? Shape{} : Shape{static_cast<int64_t>(values.size())}, DType::I64};
  graph::Attributes attributes{{"scalar", int64_t{scalar}}, {"values", std::move(values)}};
  return context().intern({graph::Op::Dims, {}, std::move(attributes), {std::move(type)}, "", {}});
}

}  // namespace tenon::lazy
