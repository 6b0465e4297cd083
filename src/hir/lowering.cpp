// The values of a lowering, leaves and single ops.
#include "hir/lowering.h"

#include "hir/module.h"

namespace tenon::hir {

std::vector<graph::Value> Lowering::add(const Block& block) {
  Results results = std::visit([&](const auto& each) { return lower_block(*this, each); }, block);
  values_.insert(values_.end(), results.begin(), results.end());
  return results;
}

graph::Value Lowering::operator[](const HirValue& value) const {
  return value ? values_[static_cast<size_t>(Module::index(value))] : Value{};
}

graph::Value Lowering::part(Value x, int axis, const Dim& start, const Dim& extent) {
  std::vector<Dim> extents = x.shape().dims();
  std::vector<Dim> starts(extents.size(), Dim(0));
  starts[static_cast<size_t>(axis)] = start;
  extents[static_cast<size_t>(axis)] = extent;
  std::vector<int64_t> steps(extents.size(), 1);
  return g.slice(x, std::move(starts), std::move(extents), std::move(steps));
}

graph::Value Lowering::positions(const Dim& first, const Dim& count) {
  return g.apply(graph::Op::Range,
                 {g.dims({first}, true), g.dims({first + count}, true), g.dims({1}, true)},
                 {{"shape", std::vector<Dim>{count}}});
}

Results lower_block(Lowering& to, const Input& block) {
  return {to.g.input(block.name, block.type)};
}

Results lower_block(Lowering& to, const State& block) {
  return {to.g.state(block.name, block.type, {block.options.axis, block.options.capacity})};
}

Results lower_block(Lowering& to, const Param& block) {
  return {to.g.param(block.name, block.type, block.data)};
}

Results lower_block(Lowering& to, const Constant& block) {
  return {to.g.constant(block.type, block.data)};
}

Results lower_block(Lowering& to, const TensorOp& block) {
  Results operands;
  for (const HirValue& operand : block.operands) operands.push_back(to[operand]);
  return to.g.apply_all(block.op, std::move(operands), block.attributes);
}

}  // namespace tenon::hir
