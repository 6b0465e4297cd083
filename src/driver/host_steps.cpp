// ProgramBuilder: what the executor does itself, and the symbols that a body has from around it.
#include <algorithm>

#include "base/error.h"
#include "driver/program_builder.h"
#include "graph/host_ops.h"

namespace tenon::driver {

using graph::Value;

namespace {

struct HostRow {
  graph::Op op;
  program::HostKind kind;
  std::vector<const char*> bodies;
};
const HostRow kHostRows[] = {{graph::Op::Define, program::HostKind::Define, {}},
                             {graph::Op::If, program::HostKind::If, {"then", "else"}},
                             {graph::Op::Loop, program::HostKind::Loop, {"body"}},
                             {graph::Op::Custom, program::HostKind::Custom, {}}};

const HostRow& host_row(graph::Op op) { return *std::ranges::find(kHostRows, op, &HostRow::op); }

}  // namespace

void ProgramBuilder::host_step(const graph::Node& node) {
  const HostRow& row = host_row(node.op());
  program::HostStep step;
  step.kind = row.kind;
  step.before = static_cast<int>(program_.steps.size());
  step.origin = graph_.origin(&node);
  if (step.origin.empty()) step.origin = fmt::format("[{}]", graph::info(node.op()).text);
  for (const Value& operand : node.operands()) {
    step.operands.push_back({buffer_of(operand), operand.type()});
  }
  const std::set<std::string> before = known_;
  if (row.kind == program::HostKind::Define) {
    buffers_[{&node, 0}] = buffer_of(node.operand(0));
  } else {
    for (int i = 0; i < node.result_count(); ++i) {
      const Value result{&node, i};
      step.results.push_back({buffer_of(result), result.type()});
    }
  }
  for (const Dim& extent : graph::defining_dims(node)) {
    const auto symbol = extent.as_symbol();
    if (symbol && known_.insert(symbol->name()).second) step.symbols.push_back(*symbol);
  }
  for (const char* body : row.bodies) {
    step.bodies.push_back(compile_body_(node.attributes().graph(body), before));
  }
  if (row.kind == program::HostKind::Loop)
    step.carried = static_cast<int>(node.attributes().integer("carried"));
  if (row.kind == program::HostKind::Custom) {
    step.function = node.attributes().function("function");
    step.dims = node.attributes().dims("dims");
  }
  program_.host_steps.push_back(std::move(step));
}

// Symbols that are neither of the inputs nor defined here come from around a body.
void ProgramBuilder::note_given() {
  std::map<std::string, Symbol> given;
  auto note = [&](const Dim& dim) {
    for (const Symbol& symbol : dim.symbols()) {
      const bool here = known_.contains(symbol.name()) && !outer_.contains(symbol.name());
      if (!here && !capacities_.contains(symbol.name())) given.emplace(symbol.name(), symbol);
    }
  };
  for (const program::Step& step : program_.steps) {
    for (const Dim& dim : step.dims) note(dim);
    note(step.grid);
    note(step.bytes);
  }
  for (const program::ArenaBuffer& buffer : program_.arena) {
    note(buffer.bytes);
    if (buffer.view) note(buffer.view->offset);
  }
  for (const program::HostStep& step : program_.host_steps) {
    for (const auto* tensors : {&step.operands, &step.results}) {
      for (const auto& tensor : *tensors) {
        for (const Dim& extent : tensor.type.shape) note(extent);
      }
    }
    for (const Dim& dim : step.dims) note(dim);
    for (const auto& body : step.bodies) {
      for (const Symbol& symbol : body->given) note(symbol);
    }
  }
  for (const auto* slots : {&program_.inputs, &program_.outputs}) {
    for (const program::IoSlot& slot : *slots) {
      for (const Dim& extent : slot.type.shape) note(extent);
    }
  }
  for (const auto& [name, symbol] : given) {
    if (!outer_.contains(name)) {
      throw unsupported_error("extent {} is not an axis of any input", name);
    }
    program_.given.push_back(symbol);
  }
  // A constraint on what no step names any more decides nothing.
  for (const Constraint& constraint : graph_.constraints()) {
    auto known = [&](const Dim& dim) {
      return std::ranges::all_of(dim.symbols(), [&](const Symbol& symbol) {
        return given.contains(symbol.name()) ||
               (known_.contains(symbol.name()) && !outer_.contains(symbol.name()));
      });
    };
    if (known(constraint.left) && known(constraint.right))
      program_.constraints.push_back(constraint);
  }
}

}  // namespace tenon::driver
