// Ops whose operands are all constants are evaluated by the interpreter. A result that would be
// large, or larger than what it is made of (expand), stays an op; so does one that fails (an index
// out of range), to be reported by the run.
#include <algorithm>

#include "base/error.h"
#include "graph/host_ops.h"
#include "graph/interpret.h"
#include "simplify/simplify.h"

namespace tenon::simplify {

using graph::Graph;
using graph::Node;
using graph::Op;
using graph::Tensor;
using graph::Value;

namespace {

bool foldable(const Node& node, std::span<const Value> operands) {
  if (graph::has(node.op(), graph::kLeaf) || node.op() == Op::Define) return false;
  if (graph::calls_custom(node)) return false;  // every run calls it
  if (!std::ranges::all_of(operands, [](const Value& v) { return v.op() == Op::Constant; }))
    return false;
  if (node.op() == Op::Expand &&
      node.types()[0].shape.elements() != operands[0].shape().elements()) {
    return false;
  }
  return std::ranges::all_of(node.types(), [](const TensorType& type) {
    const Dim bytes = type.bytes();
    return bytes.is_const() && bytes.const_value() <= graph::kConstantLimit;
  });
}

Tensor tensor_of(const Value& constant) {
  Tensor tensor{constant.dtype(), {}, {}};
  for (const Dim& extent : constant.shape()) tensor.shape.push_back(extent.const_value());
  tensor.bytes.assign(constant.node->bytes().begin(), constant.node->bytes().end());
  return tensor;
}

}  // namespace

Graph fold_constants(const Graph& source) {
  return graph::rebuild(source, [](Graph& g, const Node& node, std::span<const Value> operands) {
    std::vector<Value> results;
    if (!foldable(node, operands)) return results;
    std::vector<Tensor> tensors;
    for (const Value& operand : operands) tensors.push_back(tensor_of(operand));
    std::vector<const Tensor*> pointers;
    pointers.reserve(tensors.size());
    for (const Tensor& tensor : tensors) pointers.push_back(&tensor);
    try {
      std::vector<Tensor> values =
          graph::evaluate(node, pointers, [](const Symbol&) { return std::nullopt; });
      for (int i = 0; i < node.result_count(); ++i) {
        results.push_back(g.constant(node.types()[static_cast<size_t>(i)],
                                     {values[static_cast<size_t>(i)].bytes, nullptr}));
      }
    } catch (const Error&) {
      return std::vector<Value>();
    }
    return results;
  });
}

}  // namespace tenon::simplify
