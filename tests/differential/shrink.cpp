// See shrink.h. Each round tries every cut once and ends with the first that still fails.
#include "tests/differential/shrink.h"

#include <unordered_set>

#include "base/error.h"

namespace tenon::differential {

using graph::Graph;
using graph::Node;
using graph::Value;
using replay::Case;

namespace {

size_t size_of_case(const Case& given) { return given.graph.topological().size(); }

// Inputs that nothing uses are gone where the symbols allow it.
Graph without_unused_inputs(const Graph& source) {
  std::unordered_set<const Node*> used;
  for (const Node* node : source.topological()) used.insert(node);
  Graph result(source.context());
  for (const Value& input : source.inputs()) {
    if (used.contains(input.node)) result.input(input.node->name(), input.type());
  }
  for (const Value& param : source.params()) {
    if (used.contains(param.node)) result.param(param.node->name(), param.type());
  }
  std::unordered_map<Value, Value> copies;
  for (const Node* node : source.topological()) {
    if (has(node->op(), graph::kLeaf)) {
      copies[{node, 0}] = {node, 0};
      continue;
    }
    std::vector<Value> operands;
    for (const Value& operand : node->operands()) operands.push_back(copies.at(operand));
    const std::vector<Value> results = result.apply_all(node->op(), operands, node->attributes());
    for (int i = 0; i < node->result_count(); ++i) {
      copies[{node, i}] = results[static_cast<size_t>(i)];
    }
  }
  std::vector<graph::Output> outputs;
  for (const graph::Output& output : source.outputs()) {
    outputs.push_back({output.name, copies.at(output.value)});
  }
  result.set_outputs(std::move(outputs));
  return result;
}

class Shrinker {
 public:
  Shrinker(Case failing, const std::function<bool(const Case&)>& fails)
      : best_(std::move(failing)), fails_(fails) {}

  Case run() {
    constexpr int kRounds = 60;
    for (int round = 0; round < kRounds; ++round) {
      if (!one_output() && !cut_operand() && !smaller_extents() && !fewer_inputs()) break;
    }
    return best_;
  }

 private:
  bool accept(const std::function<Case()>& make) {
    try {
      Case smaller = make();
      if (!fails_(smaller)) return false;
      best_ = std::move(smaller);
      return true;
    } catch (const Error&) {  // no graph any more
      return false;
    }
  }

  // The first node that fails as the only output.
  bool one_output() {
    const std::vector<const Node*> order = best_.graph.topological();
    for (const Node* node : order) {
      if (has(node->op(), graph::kLeaf)) continue;
      const bool now =
          best_.graph.outputs().size() == 1 && best_.graph.outputs()[0].value.node == node;
      if (now) return false;
      for (int i = 0; i < node->result_count(); ++i) {
        const bool found = accept([&] {
          Case smaller = best_;
          smaller.graph.set_outputs({{"y", Value{node, i}}});
          return smaller;
        });
        if (found) return true;
      }
    }
    return false;
  }

  // A node becomes an input of its type.
  bool cut_operand() {
    const std::vector<const Node*> order = best_.graph.topological();
    for (size_t i = order.size(); i-- > 0;) {
      const Node* cut = order[i];
      if (has(cut->op(), graph::kLeaf) || cut->op() == graph::Op::Define) continue;
      if (cut == best_.graph.outputs()[0].value.node) continue;
      const bool found = accept([&] {
        Case smaller = best_;
        const std::string name = "cut" + std::to_string(cuts_++);
        smaller.graph =
            rebuild(best_.graph, [&](Graph& g, const Node& node, std::span<const Value>) {
              if (&node != cut) return std::vector<Value>();
              std::vector<Value> inputs;
              for (const TensorType& type : node.types()) {
                inputs.push_back(g.input(name + "." + std::to_string(inputs.size()), type));
              }
              return inputs;
            });
        if (size_of_case(smaller) >= size_of_case(best_)) throw user_error("no smaller");
        return smaller;
      });
      if (found) return true;
    }
    return false;
  }

  bool smaller_extents() {
    for (const auto& [name, extent] : best_.extents) {
      for (const int64_t less : {int64_t{1}, extent / 2, extent - 1}) {
        if (less < 1 || less >= extent) continue;
        const bool found = accept([&] {
          Case smaller = best_;
          smaller.extents[name] = less;
          return smaller;
        });
        if (found) return true;
      }
    }
    return false;
  }

  bool fewer_inputs() {
    const size_t before = best_.graph.inputs().size();
    return accept([&] {
      Case smaller = best_;
      smaller.graph = without_unused_inputs(best_.graph);
      if (smaller.graph.inputs().size() == before) throw user_error("no smaller");
      return smaller;
    });
  }

  Case best_;
  const std::function<bool(const Case&)>& fails_;
  int cuts_ = 0;
};

}  // namespace

Case shrink(Case failing, const std::function<bool(const Case&)>& fails) {
  return Shrinker(std::move(failing), fails).run();
}

}  // namespace tenon::differential
