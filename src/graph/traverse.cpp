// Walking a graph: topological order, use-lists, and the bottom-up rebuild that every rewriting
// pass is made of. All three are loops with an explicit stack and linear in nodes and edges, so
// depth does not matter.
#include <algorithm>

#include "base/error.h"
#include "base/flat_map.h"
#include "graph/context.h"
#include "graph/graph.h"

namespace tenon::graph {

namespace {

using Definers = std::unordered_map<std::string, const Node*>;

// A step not seen yet that defines a symbol which `node` names; null where there is none.
const Node* awaited(const Node& node, const Definers& definers, const FlatSet<const Node*>& seen) {
  for (const auto& [name, value] : node.attributes().items()) {
    const auto* dims = std::get_if<std::vector<Dim>>(&value);
    if (dims == nullptr) continue;
    for (const Dim& dim : *dims) {
      for (const Symbol& symbol : dim.symbols()) {
        const auto found = definers.find(symbol.name());
        if (found == definers.end() || found->second == nullptr) continue;
        if (!seen.contains(found->second)) return found->second;
      }
    }
  }
  return nullptr;
}

// Steps not seen that define what a constraint binds to symbols of steps seen: nothing needs their
// values, but what the data says must fit all the same.
std::vector<const Node*> bound_steps(const Definers& definers,
                                     std::span<const Constraint> constraints,
                                     const FlatSet<const Node*>& seen) {
  std::vector<const Node*> result;
  for (const Constraint& constraint : constraints) {
    std::vector<const Node*> steps;
    for (const Dim* side : {&constraint.left, &constraint.right}) {
      for (const Symbol& symbol : side->symbols()) {
        const auto found = definers.find(symbol.name());
        if (found != definers.end() && found->second != nullptr) steps.push_back(found->second);
      }
    }
    const auto is_seen = [&](const Node* step) { return seen.contains(step); };
    if (std::ranges::none_of(steps, is_seen)) continue;
    std::ranges::copy_if(steps, std::back_inserter(result), std::not_fn(is_seen));
  }
  return result;
}

}  // namespace

std::vector<const Node*> Graph::topological() const {
  OrderMemo::Order order = order_.get();
  if (!order) {
    order = std::make_shared<const std::vector<const Node*>>(find_order());
    order_.set(order);
  }
  return *order;
}

bool Graph::has_steps() const {
  return std::ranges::any_of(definers_,
                             [](const auto& definer) { return definer.second != nullptr; });
}

// What custom functions are applied to was there before them, so that any order by tokens is one of
// operands before users.
std::vector<const Node*> Graph::find_order() const {
  std::vector<const Node*> order = order_from({});
  std::vector<const Node*> customs;
  std::ranges::copy_if(order, std::back_inserter(customs),
                       [](const Node* node) { return node->op() == Op::Custom; });
  const auto token = [](const Node* node) { return node->attributes().integer("token"); };
  if (std::ranges::is_sorted(customs, {}, token)) return order;
  std::ranges::sort(customs, {}, token);
  return order_from(customs);
}

std::vector<const Node*> Graph::order_from(std::span<const Node* const> first) const {
  const bool steps = has_steps();
  struct Frame {
    const Node* node;
    int next;  // operand to visit next
  };
  std::vector<const Node*> order;
  FlatSet<const Node*> seen(nodes_.size());
  order.reserve(nodes_.size());
  std::vector<Frame> stack;
  const auto visit = [&](const Node* root) {
    if (seen.insert(root)) stack.push_back({root, 0});
    while (!stack.empty()) {
      Frame& top = stack.back();
      if (top.next == top.node->operand_count()) {
        const Node* before = steps ? awaited(*top.node, definers_, seen) : nullptr;
        if (before != nullptr) {
          seen.insert(before);
          stack.push_back({before, 0});
          continue;
        }
        order.push_back(top.node);
        stack.pop_back();
        continue;
      }
      const Node* operand = top.node->operand(top.next++).node;
      if (seen.insert(operand)) stack.push_back({operand, 0});
    }
  };
  for (const Node* node : first) visit(node);
  for (const Output& output : outputs_) visit(output.value.node);
  while (steps) {
    const std::vector<const Node*> more = bound_steps(definers_, constraints_, seen);
    if (more.empty()) break;
    for (const Node* step : more) visit(step);
  }
  return order;
}

// Counted first, so that the uses of a value lie side by side.
UseLists::UseLists(const Graph& graph) {
  const std::vector<const Node*> order = graph.topological();
  places_ = FlatMap<Value, Place>(order.size());
  size_t total = 0;
  for (const Node* node : order) {
    total += node->operands().size();
    for (const Value& operand : node->operands()) ++places_[operand].count;
  }
  uses_.resize(total);
  uint32_t next = 0;
  for (const Node* node : order) {
    for (int i = 0; i < node->operand_count(); ++i) {
      Place& place = places_[node->operand(i)];
      if (place.filled == 0) place.first = std::exchange(next, next + place.count);
      uses_[place.first + place.filled++] = {node, i};
    }
  }
  for (const Output& output : graph.outputs()) outputs_.insert(output.value);
}

std::span<const UseLists::Use> UseLists::uses(Value value) const {
  const Place* place = places_.find(value);
  if (place == nullptr) return {};
  return std::span(uses_).subspan(place->first, place->count);
}

bool UseLists::is_output(Value value) const { return outputs_.contains(value); }

const Node* UseLists::only_user(Value value) const {
  const std::span<const Use> all = uses(value);
  if (all.empty() || is_output(value)) return nullptr;
  const Node* user = all[0].user;
  const bool one = std::ranges::all_of(all, [&](const Use& use) { return use.user == user; });
  return one ? user : nullptr;
}

namespace {

void check_replacement(const Node& node, std::span<const Value> results) {
  TENON_CHECK(static_cast<int>(results.size()) == node.result_count(),
              "[{}] is replaced by {} values instead of {}", info(node.op()).text, results.size(),
              node.result_count());
  for (int i = 0; i < node.result_count(); ++i) {
    const Value& result = results[static_cast<size_t>(i)];
    const TensorType& type = node.types()[static_cast<size_t>(i)];
    TENON_CHECK(
        result && result.dtype() == type.dtype && result.shape().rank() == type.shape.rank(),
        "[{}] {} is replaced by {}", info(node.op()).text, type.to_string(),
        result ? result.type().to_string() : "nothing");
  }
}

}  // namespace

void Graph::drop_unused_params() {
  FlatSet<const Node*> used(params_.size());
  for (const Node* node : topological()) {
    if (node->op() == Op::Param) used.insert(node);
  }
  std::erase_if(params_, [&](const Value& param) {
    if (used.contains(param.node)) return false;
    names_.erase(param.node->name());
    param_data_.erase(param.node->name());
    return true;
  });
}

Graph rebuild(const Graph& graph, const NodeRewrite& rewrite) {
  Graph result(graph.context());
  result.inputs_ = graph.inputs_;
  result.params_ = graph.params_;
  for (const Value& input : graph.inputs_) result.nodes_.emplace_back(input.node);  // used or not
  result.names_ = graph.names_;
  result.param_data_ = graph.param_data_;
  result.symbols_ = graph.symbols_;
  for (const auto& [name, definer] : graph.definers_) {
    if (definer == nullptr) result.definers_.emplace(name, nullptr);
  }
  result.constraints_ = graph.constraints_;
  result.constraint_keys_ = graph.constraint_keys_;
  const std::vector<const Node*> order = graph.topological();
  FlatMap<Value, Value> replaced;  // what is not in it stays
  const auto now = [&](const Value& value) {
    const Value* found = replaced.find(value);
    return found == nullptr ? value : *found;
  };
  std::vector<Value> operands;
  for (const Node* node : order) {
    operands.clear();
    for (const Value& operand : node->operands()) operands.push_back(now(operand));
    const std::string_view origin = graph.origin(node);
    result.current_origin_ = origin;
    std::vector<Value> results = rewrite(result, *node, operands);
    if (!results.empty()) {
      check_replacement(*node, results);
    } else if (!std::ranges::equal(operands, node->operands())) {
      results = result.apply_all(node->op(), operands, node->attributes());
    }
    if (!origin.empty()) result.origins_.emplace(results.empty() ? node : results[0].node, origin);
    for (size_t i = 0; i < results.size(); ++i) {
      const Value old{node, static_cast<int>(i)};
      if (results[i] != old) replaced[old] = results[i];
    }
  }
  result.set_current_origin({});
  const bool steps = graph.has_steps();
  FlatSet<const Node*> visited;
  if (steps) {
    for (const Node* node : order) visited.insert(node);
  }
  for (const auto& [name, definer] : graph.definers_) {
    // An input defines it, or a step that no output needs.
    if (definer == nullptr || !visited.contains(definer)) continue;
    const Value defined_by = now({definer, 0});
    const auto known = result.definers_.find(name);
    const bool defined = known != result.definers_.end() && known->second != nullptr &&
                         known->second->op() == Op::Define;
    if (defined) continue;  // by what replaces the step that did
    result.nodes_.emplace_back(defined_by.node);
    result.order_.reset();
    result.definers_.insert_or_assign(name, defined_by.node);
  }
  std::vector<Output> outputs;
  for (const Output& output : graph.outputs()) outputs.push_back({output.name, now(output.value)});
  result.set_outputs(std::move(outputs));
  if (replaced.size() == 0 && !steps) result.order_ = graph.order_;
  result.drop_unused_params();
  return result;
}

}  // namespace tenon::graph
