// The verifier: everything the builder guarantees, checked again from the finished graph, so that a
// pass which breaks it is found where it did. Failures are Internal errors: user input was checked
// when the graph was built.
#include <algorithm>
#include <unordered_set>

#include "base/error.h"
#include "graph/attribute_schema.h"
#include "graph/context.h"
#include "graph/graph.h"
#include "graph/infer.h"
#include "graph/shape_value.h"
#include "graph/state.h"

namespace tenon::graph {

namespace {

void check_leaf(const Node& node, const std::unordered_set<const Node*>& registered) {
  TENON_CHECK(node.operand_count() == 0 && node.result_count() == 1, "[{}] is no leaf",
              info(node.op()).text);
  if (node.op() == Op::Input || node.op() == Op::Param) {
    TENON_CHECK(registered.contains(&node), "[{}] \"{}\" is not in the graph's list",
                info(node.op()).text, node.name());
  }
  if (node.op() == Op::Constant) {
    TENON_CHECK(node.types()[0].bytes().is_const(static_cast<int64_t>(node.bytes().size())),
                "[constant] has {} bytes: {}", node.bytes().size(), node.types()[0].to_string());
  }
}

void check_types(const Node& node) {
  Attributes attributes = node.attributes();
  canonicalize(node.op(), node.operands(), attributes);
  TENON_CHECK(attributes == node.attributes(), "[{}] attributes are not canonical",
              info(node.op()).text);
  Inference inference(node.op(), node.operands(), attributes);
  infer(inference);
  const std::vector<TensorType>& types = inference.results();
  TENON_CHECK(static_cast<int>(types.size()) == node.result_count(), "[{}] has {} results, not {}",
              info(node.op()).text, node.result_count(), types.size());
  for (size_t i = 0; i < types.size(); ++i) {
    TENON_CHECK(types[i] == node.types()[i], "[{}] result {} is {}, inferred {}",
                info(node.op()).text, i, node.types()[i].to_string(), types[i].to_string());
  }
}

// What is used inside a body comes in through its inputs: it has no parameters of its own.
void check_bodies(const Node& node) {
  for (const auto& [name, value] : node.attributes().items()) {
    const auto* body = std::get_if<Subgraph>(&value);
    if (body == nullptr) continue;
    TENON_CHECK((*body)->params().empty(), "[{}] its graph \"{}\" has parameters",
                info(node.op()).text, name);
    for (const Value& input : (*body)->inputs())
      TENON_CHECK(!state_of(input), "[{}] its graph \"{}\" has a state", info(node.op()).text,
                  name);
    verify(**body);
  }
}

// The values of a state are a chain that ends in an output of its name: see state.h.
void check_update(const Node& update, const UseLists& uses, std::span<const Output> outputs) {
  const auto is_update = [](const UseLists::Use& use) {
    return use.user->op() == Op::Update && use.operand == 0;
  };
  const std::string& name = state_of({&update})->node->name();
  TENON_CHECK(std::ranges::count_if(uses.uses(update.operand(0)), is_update) == 1,
              "[update] the state \"{}\" is updated twice", name);
  const bool last = std::ranges::none_of(uses.uses({&update}), is_update);
  const Output needed{name, {&update}};
  const auto is_needed = [&](const Output& output) {
    return output.name == needed.name && output.value == needed.value;
  };
  TENON_CHECK(!last || std::ranges::any_of(outputs, is_needed),
              "[update] the last value of the state \"{}\" is no output of that name", name);
}

void check_node(const Graph& graph, const Node& node,
                const std::unordered_set<const Node*>& before) {
  const OpInfo& row = info(node.op());
  TENON_CHECK(graph.context()->owns(&node), "[{}] belongs to another context", row.text);
  TENON_CHECK(
      node.operand_count() >= row.least && (row.most < 0 || node.operand_count() <= row.most),
      "[{}] has {} operands", row.text, node.operand_count());
  for (const Value& operand : node.operands()) {
    TENON_CHECK(operand && before.contains(operand.node), "[{}] an operand does not precede it",
                row.text);
    TENON_CHECK(operand.result >= 0 && operand.result < operand.node->result_count(),
                "[{}] an operand names result {} of {}", row.text, operand.result,
                operand.node->result_count());
  }
}

}  // namespace

void verify(const Graph& graph) {
  TENON_CHECK(!graph.outputs().empty(), "the graph has no outputs");
  std::unordered_set<const Node*> registered, before;
  for (const Value& input : graph.inputs()) registered.insert(input.node);
  for (const Value& param : graph.params()) registered.insert(param.node);
  const UseLists uses(graph);
  try {
    for (const Node* node : graph.topological()) {
      check_node(graph, *node, before);
      if (has(node->op(), kLeaf)) {
        check_leaf(*node, registered);
      } else {
        check_types(*node);
        check_bodies(*node);
        if (node->op() == Op::Update) check_update(*node, uses, graph.outputs());
      }
      before.insert(node);
    }
  } catch (const Error& error) {
    throw internal_error("verify: {}", error.what());
  }
  for (const Output& output : graph.outputs()) {
    TENON_CHECK(output.value.result >= 0 && output.value.result < output.value.node->result_count(),
                "output \"{}\" names a result that its node does not have", output.name);
  }
}

}  // namespace tenon::graph
