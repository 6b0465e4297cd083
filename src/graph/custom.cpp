// Custom functions in the tensor IR: how one is applied, what its rule of shapes may say, and what
// it means to the interpreter.
#include <algorithm>

#include "graph/context.h"
#include "graph/evaluate.h"
#include "graph/graph.h"
#include "graph/infer.h"

namespace tenon::graph {

namespace {

std::vector<TensorType> types_of(std::span<const Value> operands) {
  std::vector<TensorType> types;
  types.reserve(operands.size());
  for (const Value& operand : operands) types.push_back(operand.type());
  return types;
}

// A symbol that only the rule knows would never have a value.
void check_known(const Inference& op, const Dim& extent) {
  for (const Symbol& symbol : extent.symbols()) {
    const auto names_it = [&](const Dim& dim) { return dim.uses(symbol); };
    bool known = std::ranges::any_of(op.attributes().dims("dims"), names_it);
    for (int i = 0; i < op.operand_count(); ++i)
      known = known || std::ranges::any_of(op.operand(i).shape.dims(), names_it);
    if (!known)
      throw op.fail(fmt::format("its rule gives an extent of {}, which is in no operand and no dim",
                                symbol.name()));
  }
}

}  // namespace

std::vector<Value> Graph::custom(const CustomFunction& function, std::vector<Value> operands,
                                 std::vector<Dim> dims) {
  check_operands(Op::Custom, operands);
  const auto results = static_cast<int64_t>(function.infer(types_of(operands), dims).size());
  return apply_all(Op::Custom, std::move(operands),
                   {{"function", function},
                    {"dims", std::move(dims)},
                    {"results", results},
                    {"token", context_->next_token()}});
}

void rules::custom(Inference& op) {
  const Attributes& attributes = op.attributes();
  std::vector<TensorType> operands;
  for (int i = 0; i < op.operand_count(); ++i) operands.push_back(op.operand(i));
  const std::vector<TensorType> results =
      attributes.function("function").infer(operands, attributes.dims("dims"));
  if (results.empty()) throw op.fail("its rule gives no result");
  if (static_cast<int64_t>(results.size()) != attributes.integer("results"))
    throw op.fail(fmt::format("its rule gives {} results here, and {} where it was applied",
                              results.size(), attributes.integer("results")));
  for (const TensorType& result : results) {
    op.check_extents(result.shape.dims());
    for (const Dim& extent : result.shape) check_known(op, extent);
    op.result(result.shape, result.dtype);
  }
}

evaluators::Results evaluators::custom(const Evaluation& e) {
  std::vector<TensorView> inputs;
  for (const Tensor* operand : e.operands)
    inputs.emplace_back(operand->bytes.data(), operand->dtype, operand->shape);
  Results results;
  for (const TensorType& type : e.node.types())
    results.push_back(make_tensor(type.dtype, e.values_of(type.shape.dims())));
  std::vector<MutableTensorView> outputs;
  for (Tensor& result : results)
    outputs.push_back({result.bytes.data(), result.dtype, result.shape});
  const std::vector<int64_t> dims = e.values_of(e.attributes().dims("dims"));
  e.attributes().function("function").run({inputs, outputs, dims});
  return results;
}

}  // namespace tenon::graph
