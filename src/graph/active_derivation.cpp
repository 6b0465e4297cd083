// The walk: leaves with their new extents, every op on its new operands, inference for the rest.
#include "graph/active_derivation.h"

#include <algorithm>

#include "base/error.h"
#include "graph/state.h"
#include "types/active_extent.h"

namespace tenon::graph {

Derivation::Derivation(const Graph& source, const Symbol& active, const std::set<Place>& bucket)
    : source_(source), active_(active), upper_(active.bounds().hi), bucket_(bucket) {}

bool Derivation::fail(std::string why) {
  attempt_.why_not = std::move(why);
  return false;
}

bool Derivation::unsure(std::string why) {
  attempt_.unknown = true;
  return fail(std::move(why));
}

const Dim& Derivation::extent_now(const Value& before, int axis) const {
  return now_.at(before).shape()[axis];
}

bool Derivation::changed(const Value& before, int axis) const {
  return extent_now(before, axis) != before.shape()[axis];
}

TensorType Derivation::leaf_type(const Value& leaf) const {
  std::vector<Dim> dims = leaf.shape().dims();
  for (int axis = 0; axis < leaf.shape().rank(); ++axis) {
    if (bucket_.contains({leaf.node, axis})) dims[static_cast<size_t>(axis)] = active_;
  }
  return {Shape(std::move(dims)), leaf.dtype()};
}

std::optional<std::vector<Value>> Derivation::build(const Node& node,
                                                    const std::vector<Value>& operands) {
  switch (node.op()) {
    case Op::Constant:
      return std::vector{result_.constant(node.types()[0], {node.bytes(), {}})};
    case Op::Dims:
      return std::vector{
          result_.dims(node.attributes().dims("values"), node.types()[0].shape.rank() == 0)};
    default:
      break;
  }
  if (!operands_fit(node, operands) || !numbers_fit(node, operands)) return std::nullopt;
  std::vector<Value> given = operands;
  Attributes attributes = node.attributes();
  if (!set_extents(node, given, attributes)) return std::nullopt;
  return result_.apply_all(node.op(), std::move(given), std::move(attributes));
}

bool Derivation::derive(const Node& node) {
  std::vector<Value> operands;
  bool had = false;
  for (const Value& operand : node.operands()) {
    operands.push_back(now_.at(operand));
    had = had || is_active(operands.back().shape()) || lost_.contains(operand.node);
  }
  result_.set_current_origin(std::string(source_.origin(&node)));
  const auto results = build(node, operands);
  if (!results) return false;
  bool has = false;
  for (size_t i = 0; i < results->size(); ++i) {
    now_[{&node, static_cast<int>(i)}] = (*results)[i];
    has = has || is_active((*results)[i].shape());
  }
  if (had && !has) lost_.insert(&node);
  return true;
}

// What fewer rows need is less than what the source needs, and stands in its place: a run is
// checked for it. What the source had no need to say does not hold for every extent.
bool Derivation::take_constraints() {
  const auto is_now = [&](const Constraint& before, const Constraint& now) {
    return now.kind == before.kind && now.left.substitute(active_, upper_) == before.left &&
           now.right.substitute(active_, upper_) == before.right;
  };
  const auto is_less = [&](const Constraint& before, const Constraint& now) {
    return now.kind == Constraint::Kind::AtMost && is_now(before, now) &&
           prove_le(now.left, before.left) == Proof::Yes &&
           prove_le(before.right, now.right) == Proof::Yes;
  };
  std::vector<Constraint> less;
  for (const Constraint& now : result_.constraints()) {
    if (!is_active(now.left) && !is_active(now.right)) continue;
    const auto is_needed = [&](const Constraint& before) { return is_less(before, now); };
    if (std::ranges::none_of(source_.constraints(), is_needed))
      return fail(fmt::format("{} does not hold for every extent", now.to_string()));
    less.push_back(now);
  }
  for (const Constraint& before : source_.constraints()) {
    const auto stands_for = [&](const Constraint& now) { return is_now(before, now); };
    if (std::ranges::none_of(less, stands_for)) result_.add_constraint(before);
  }
  return true;
}

// Inference refuses by throwing what does not fit: that is an answer here.
Attempt Derivation::run() {
  for (const Value& input : source_.inputs()) {
    const std::optional<StateLayout> state = state_layout(input);
    const std::string& name = input.node->name();
    now_[input] =
        state ? result_.state(name, input.type(), *state) : result_.input(name, leaf_type(input));
  }
  for (const Value& param : source_.params()) {
    const Data* data = source_.param_data(param.node->name());
    now_[param] = result_.param(param.node->name(), param.type(), data ? *data : Data{});
  }
  try {
    for (const Node* node : source_.topological()) {
      if (node->op() == Op::Input || node->op() == Op::Param) continue;
      if (!derive(*node)) return attempt_;
    }
    if (!take_constraints()) return attempt_;
  } catch (const Error& error) {
    if (error.kind() == ErrorKind::Internal) throw;
    attempt_.why_not = error.what();
    return attempt_;
  }
  result_.set_current_origin({});
  std::vector<Output> outputs;
  for (const Output& output : source_.outputs())
    outputs.push_back({output.name, now_.at(output.value)});
  result_.set_outputs(std::move(outputs));
  attempt_.graph = std::move(result_);
  return std::move(attempt_);
}

}  // namespace tenon::graph
