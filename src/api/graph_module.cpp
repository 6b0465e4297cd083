// See graph_module.h.
#include "tenon/graph_module.h"

#include "base/error.h"

namespace tenon {

std::string_view to_string(GraphModule::Stage stage) {
  constexpr std::string_view kNames[] = {"HIR", "MIR", "LIR"};
  return kNames[static_cast<int>(stage)];
}

namespace {

void check_stage(const GraphModule& module, GraphModule::Stage wanted) {
  if (module.stage() == wanted) return;
  throw user_error("the module \"{}\" is {}, not {}", module.name(), to_string(module.stage()),
                   to_string(wanted));
}

}  // namespace

GraphModule::GraphModule(std::string name, HirModule module)
    : name_(std::move(name)), module_(std::move(module)) {}
GraphModule::GraphModule(std::string name, Graph graph)
    : name_(std::move(name)), module_(std::move(graph)) {}
GraphModule::GraphModule(std::string name, LirModule module)
    : name_(std::move(name)), module_(std::move(module)) {}

const HirModule& GraphModule::hir() const {
  check_stage(*this, Stage::Hir);
  return std::get<HirModule>(module_);
}

const Graph& GraphModule::mir() const {
  check_stage(*this, Stage::Mir);
  return std::get<Graph>(module_);
}

const LirModule& GraphModule::lir() const {
  check_stage(*this, Stage::Lir);
  return std::get<LirModule>(module_);
}

}  // namespace tenon
