#include "lazy/apply.h"

#include <unordered_map>

#include "base/error.h"
#include "lazy/check_values.h"
#include "lazy/rule.h"

namespace tenon::lazy {

std::vector<Tensor> apply_all(graph::Op op, const std::vector<Tensor>& operands,
                              graph::Attributes attributes, const VariableValues& values,
                              std::optional<Extreme> extreme) {
  Operation operation;
  operation.extreme = std::move(extreme);
  std::vector<graph::Value> stand_ins;
  VariableValues known;  // of the operands, then what the call adds
  for (const Tensor& operand : operands) {
    if (!operand) throw user_error("[{}] an operand is no tensor", graph::info(op).text);
    operation.operands.push_back(Access::operand(operand));
    stand_ins.push_back(Access::expression(operand).stand_in(Access::result(operand)));
    merge(known, Access::expression(operand).values(), graph::info(op).text);
  }
  merge(known, values, graph::info(op).text);
  operation.rule = make_rule(op, std::move(stand_ins), std::move(attributes));
  if (!known.empty()) check_values(*operation.rule, known);
  check_extreme(operation, known);
  const auto types = operation.rule->types();
  const auto expression = std::make_shared<const Expression>(
      std::vector<TensorType>(types.begin(), types.end()), std::move(operation), std::move(known));
  std::vector<Tensor> results;
  for (int i = 0; i < expression->results(); ++i) results.push_back(Access::tensor(expression, i));
  return results;
}

// Its rule has no token: each application gets one when a graph is made of it.
std::vector<Tensor> apply_custom(const CustomFunction& function,
                                 const std::vector<Tensor>& operands, const Extents& dims) {
  std::vector<TensorType> types;
  for (const Tensor& operand : operands) types.push_back(operand.type());
  const auto results = static_cast<int64_t>(function.infer(types, dims_of(dims)).size());
  return apply_all(graph::Op::Custom, operands,
                   {{"function", function},
                    {"dims", dims_of(dims)},
                    {"results", results},
                    {"token", int64_t{0}}},
                   values_of(dims));
}

Tensor apply(graph::Op op, const std::vector<Tensor>& operands, graph::Attributes attributes,
             const VariableValues& values, std::optional<Extreme> extreme) {
  std::vector<Tensor> results =
      apply_all(op, operands, std::move(attributes), values, std::move(extreme));
  if (results.size() != 1)
    throw user_error("[{}] it has {} results: use op()", graph::info(op).text, results.size());
  return results[0];
}

static Tensor leaf(Ref<graph::Node> rule, VariableValues values) {
  TensorType type = rule->types()[0];
  Operation operation;
  operation.rule = std::move(rule);
  return Access::tensor(std::make_shared<const Expression>(
      std::vector<TensorType>{std::move(type)}, std::move(operation), std::move(values)));
}

Tensor constant(TensorType type, std::span<const std::byte> bytes) {
  return leaf(constant_rule(std::move(type), bytes), {});
}

Tensor constant(const Scalar& value, DType dtype) {
  std::byte element[8] = {};
  const auto bytes = std::span(element, static_cast<size_t>(size_of(dtype)));
  const bool has_64_bits = dtype == DType::I64 || (dtype == DType::U64 && value.number() >= 0);
  if (value.is_integer() && has_64_bits) {
    const int64_t integer = value.integer();
    return constant({{}, dtype}, std::as_bytes(std::span(&integer, 1)));
  }
  store_from_f64(dtype, element, value.number());
  return constant({{}, dtype}, bytes);
}

Tensor integers(const std::vector<int64_t>& values) {
  return constant({{static_cast<int64_t>(values.size())}, DType::I64},
                  std::as_bytes(std::span(values)));
}

Tensor dims(const Extents& values) {
  std::vector<int64_t> numbers;
  for (const Extent& value : values) {
    if (value.dim().is_const()) numbers.push_back(value.dim().const_value());
  }
  if (numbers.size() == values.size()) return integers(numbers);
  return leaf(dims_rule(dims_of(values), false), values_of(values));
}

Tensor dim(const Extent& value) {
  if (value.dim().is_const()) return constant(value.dim().const_value(), DType::I64);
  return leaf(dims_rule({value.dim()}, true), value.values());
}

Tensor compose(const std::vector<Tensor>& operands,
               FunctionRef<graph::Value(graph::Graph& g, const std::vector<graph::Value>&)> build) {
  graph::Graph g;
  std::vector<graph::Value> inputs;
  std::unordered_map<graph::Value, Tensor> tensors;
  for (const Tensor& operand : operands) {
    inputs.push_back(g.input(fmt::format("in{}", inputs.size()), operand.type()));
    tensors[inputs.back()] = operand;
  }
  const graph::Value result = build(g, inputs);
  g.set_outputs({{"out", result}});
  for (const graph::Node* node : g.topological()) {
    if (node->op() == graph::Op::Input) continue;
    std::vector<Tensor> made;
    if (node->op() == graph::Op::Constant) {
      made = {constant(node->types()[0], node->bytes())};
    } else if (node->op() == graph::Op::Dims) {
      const bool scalar = node->types()[0].shape.rank() == 0;
      made = {leaf(dims_rule(node->attributes().dims("values"), scalar), {})};
    } else {
      std::vector<Tensor> from;
      for (const graph::Value& operand : node->operands()) from.push_back(tensors.at(operand));
      made = apply_all(node->op(), from, node->attributes());
    }
    for (size_t i = 0; i < made.size(); ++i)
      tensors[{node, static_cast<int>(i)}] = std::move(made[i]);
  }
  return tensors.at(result);
}

std::vector<Dim> dims_of(const Extents& extents) {
  std::vector<Dim> result;
  result.reserve(extents.size());
  for (const Extent& extent : extents) result.push_back(extent.dim());
  return result;
}

VariableValues values_of(const Extents& extents) {
  VariableValues result;
  for (const Extent& extent : extents) merge(result, extent.values(), "shape");
  return result;
}

std::optional<int64_t> evaluate(const Dim& dim, const VariableValues& values) {
  return dim.evaluate([&](const Symbol& symbol) -> std::optional<int64_t> {
    const auto found = values.find(symbol.name());
    return found == values.end() ? std::nullopt : std::optional(found->second);
  });
}

Error renamed(std::string_view call, const Error& error) {
  std::string_view what = error.what();
  if (what.starts_with('[')) what.remove_prefix(std::min(what.find("] ") + 2, what.size()));
  return {error.kind(), fmt::format("[{}] {}", call, what)};
}

void merge(VariableValues& into, const VariableValues& values, std::string_view call) {
  for (const auto& [name, value] : values) {
    const auto [at, inserted] = into.emplace(name, value);
    if (!inserted && at->second != value)
      throw user_error("[{}] the variable \"{}\" is bound to {} and to {}", call, name, at->second,
                       value);
  }
}

int64_t wrap_axis(const char* call, int64_t axis, const Tensor& x) {
  const int rank = x.rank();
  if (axis < -rank || axis >= rank)
    throw user_error("[{}] axis {} is out of range: {}", call, axis, x.type().to_string());
  return axis < 0 ? axis + rank : axis;
}

}  // namespace tenon::lazy

std::vector<tenon::Tensor> tenon::Tensor::custom(const CustomFunction& function,
                                                 const std::vector<Tensor>& operands,
                                                 const Extents& dims) {
  return lazy::apply_custom(function, operands, dims);
}
