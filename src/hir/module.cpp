// Adding blocks to a module, and lowering all of it.
#include "hir/module.h"

#include <unordered_set>

#include "base/error.h"

namespace tenon {

const TensorType& HirValue::type() const {
  if (!type_) throw user_error("this HirValue is no tensor: it was never given one");
  return *type_;
}

namespace hir {
namespace {

bool is_leaf_or_op(const Block& block) {
  return std::holds_alternative<Input>(block) || std::holds_alternative<State>(block) ||
         std::holds_alternative<Param>(block) || std::holds_alternative<Constant>(block) ||
         std::holds_alternative<TensorOp>(block);
}

// What went wrong in an op of the block, told of the block.
Error of_block(const Error& error, const Block& block) {
  if (is_leaf_or_op(block)) return error;
  const std::string prefix = fmt::format("[{}]", name_of(block));
  const std::string what = error.what();
  const bool told = what.starts_with(prefix);
  return {error.kind(),
          fmt::format("{}{}{}; in {}", told ? "" : prefix, told ? "" : " ", what, describe(block))};
}

// Of the fields that are operands.
struct CheckOperand {
  const Module& module;
  std::string_view block;

  void operator()(std::string_view name, const HirValue& value) const {
    if (!value) throw user_error("[{}] {} is left out, but needed", block, name);
    (*this)(name, Optional{value});
  }
  void operator()(std::string_view name, const Optional& operand) const {
    if (operand.value && !module.owns(operand.value)) {
      throw user_error("[{}] {} is a value of another module: {}", block,
                       name.empty() ? "an operand" : name, operand.value.type().to_string());
    }
  }
  void operator()(std::string_view, const auto&) const {}
};

}  // namespace

bool Module::owns(const HirValue& value) const {
  const auto index = static_cast<size_t>(value.index_);
  return index < types_.size() && types_[index] == value.type_;
}

// A block that failed may have updated a state before.
void Module::infer_anew() {
  inferred_ = {};
  for (const Entry& entry : entries_) {
    inferred_.g.set_current_origin(entry.origin);
    inferred_.add(entry.block);
  }
}

std::vector<HirValue> Module::add(Block block) {
  std::visit([&](const auto& each) { each.fields(CheckOperand{*this, each.kName}); }, block);
  inferred_.g.set_current_origin(origin_);
  std::vector<graph::Value> lowered;
  try {
    lowered = inferred_.add(block);
  } catch (const Error& error) {
    infer_anew();
    throw of_block(error, block);
  }
  std::vector<HirValue> results;
  for (const graph::Value& value : lowered) {
    HirValue& result = results.emplace_back();
    result.type_ = std::make_shared<const TensorType>(value.type());
    result.index_ = static_cast<int>(types_.size());
    types_.push_back(result.type_);
  }
  entries_.push_back({std::move(block), origin_, results});
  return results;
}

void Module::set_outputs(std::vector<NamedValue> outputs) {
  if (outputs.empty()) throw user_error("[set_outputs] a module needs an output");
  std::unordered_set<std::string> names;
  for (const NamedValue& output : outputs) {
    if (!output.value) throw user_error("[set_outputs] output \"{}\" is no tensor", output.name);
    if (!owns(output.value))
      throw user_error("[set_outputs] output \"{}\" is a value of another module", output.name);
    if (!names.insert(output.name).second)
      throw user_error("[set_outputs] there are two outputs \"{}\"", output.name);
  }
  outputs_ = std::move(outputs);
}

graph::Graph lower(const Module& module, FusionPolicy policy) {
  if (module.outputs_.empty())
    throw user_error("[lower_hir] the module has no outputs: call set_outputs before");
  Lowering to;
  for (const Entry& entry : module.entries_) {
    to.g.set_current_origin(entry.origin);
    to.add(entry.block);
  }
  std::vector<graph::Output> outputs;
  for (const NamedValue& output : module.outputs_)
    outputs.push_back({output.name, to[output.value]});
  to.g.set_outputs(std::move(outputs));
  return policy == FusionPolicy::Direct ? std::move(to.g) : as_primitives(to.g);
}

}  // namespace hir
}  // namespace tenon
