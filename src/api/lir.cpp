// LirModule: the driver's LIR as the public API shows it.
#include "tenon/lir.h"

#include <algorithm>

#include "api/driver_options.h"
#include "api/graph_state.h"
#include "api/lir_state.h"
#include "api/planned_by.h"
#include "base/error.h"
#include "graph/specialize.h"
#include "plan/plan_arena.h"
#include "program/print.h"

namespace tenon {
namespace {

BufferPlan::Step describe(const program::Program& program, const program::Step& step, Phase phase) {
  BufferPlan::Step result{step.kind, step.origin, phase, {}, {}};
  for (size_t i = 0; i < step.buffers.size(); ++i) {
    auto& list = step.writes[i] ? result.writes : result.reads;
    list.push_back(program::describe(program, step.buffers[i]));
  }
  return result;
}

BufferPlan plan_of(const program::Program& program);

BufferPlan::Step describe(const program::Program& program, const program::HostStep& step) {
  constexpr const char* kKinds[] = {"define", "if", "loop"};
  BufferPlan::Step result{kKinds[static_cast<int>(step.kind)], step.origin, Phase::Steady, {}, {}};
  for (const auto& operand : step.operands)
    result.reads.push_back(program::describe(program, operand.buffer));
  for (const auto& given : step.results)
    result.writes.push_back(program::describe(program, given.buffer));
  for (const auto& body : step.bodies) result.bodies.push_back(plan_of(*body));
  return result;
}

// An output's own memory, or the arena's where its extents are known late.
bool is_of_output(const program::Program& program, const program::BufferRef& root) {
  using enum program::BufferKind;
  return root.kind == Output || std::ranges::any_of(program.outputs, [&](const auto& slot) {
           return slot.late >= 0 && program::root_of(program, {Arena, slot.late}) == root;
         });
}

bool is_read_after(const program::Program& program, size_t step, const program::BufferRef& root) {
  const auto is_it = [&](const program::BufferRef& ref) {
    return program::root_of(program, ref) == root;
  };
  for (size_t i = step + 1; i < program.steps.size(); ++i) {
    const program::Step& later = program.steps[i];
    for (size_t at = 0; at < later.buffers.size(); ++at) {
      if (!later.writes[at] && is_it(later.buffers[at])) return true;
    }
  }
  return std::ranges::any_of(program.host_steps, [&](const program::HostStep& host) {
    return host.before > static_cast<int>(step) &&
           std::ranges::any_of(host.operands, is_it, &program::HostStep::Tensor::buffer);
  });
}

// What nothing but an output needs comes last.
Phase phase_of(const program::Program& program, size_t at) {
  const program::Step& step = program.steps[at];
  for (size_t i = 0; i < step.buffers.size(); ++i) {
    if (!step.writes[i]) continue;
    const program::BufferRef root = program::root_of(program, step.buffers[i]);
    if (!is_of_output(program, root) || is_read_after(program, at, root)) return Phase::Steady;
  }
  return Phase::Epilogue;
}

BufferPlan plan_of(const program::Program& program) {
  const plan::Figures figures = plan::figures(program);
  BufferPlan result;
  result.alignment = program.plan.alignment;
  result.arena_size = figures.arena_size;
  result.total_unshared_bytes = figures.total_unshared_bytes;
  result.bytes_saved = figures.bytes_saved;
  result.buffers_reused = figures.buffers_reused;
  for (size_t i = 0; i < program.plan.slot_bytes.size(); ++i) {
    result.slots.push_back(
        {program.plan.slot_offsets[i], program.plan.slot_bytes[i], program.plan.slot_stages[i]});
  }
  for (size_t i = 0; i < program.arena.size(); ++i) {
    const program::ArenaBuffer& buffer = program.arena[i];
    result.buffers.push_back({buffer.bytes, buffer.view ? -1 : buffer.slot, buffer.offset});
    if (!buffer.view) continue;
    result.views.push_back(
        {static_cast<int>(i), program::describe(program, buffer.view->root), buffer.view->offset});
  }
  for (const program::Step& step : program.prologue)
    result.order.push_back(describe(program, step, Phase::Prologue));
  for (size_t i = 0; i <= program.steps.size(); ++i) {
    for (const program::HostStep& step : program.host_steps) {
      if (step.before == static_cast<int>(i)) result.order.push_back(describe(program, step));
    }
    if (i == program.steps.size()) break;
    result.order.push_back(describe(program, program.steps[i], phase_of(program, i)));
  }
  for (const auto& slot : program.inputs) result.inputs.push_back({slot.name, slot.type});
  for (const auto& slot : program.params) result.params.push_back({slot.name, slot.type});
  for (const auto& slot : program.outputs) result.outputs.push_back({slot.name, slot.type});
  for (const Symbol& symbol : program.symbols) result.dynamic_symbols.push_back(symbol.name());
  return result;
}

// What changes numbers, beside what the graph says itself.
std::string numerics_of(const CompileOptions& options, const driver::Lir& lir) {
  return fmt::format("device {} precision {}", name_of(lir.program.device), options.precision);
}

}  // namespace

LirModule LirState::plan_of(const graph::Graph& optimized, const CompileOptions& options) {
  driver::Pipeline pipeline(driver_options(options));
  return plan_of(optimized, options, pipeline);
}

LirModule LirState::wrap(LirState state) {
  LirModule result;
  result.state_ = std::make_shared<const LirState>(std::move(state));
  return result;
}

LirModule LirState::plan_of(const graph::Graph& optimized, const CompileOptions& options,
                            driver::Pipeline& pipeline) {
  return wrap({optimized, options, pipeline});
}

LirState::LirState(const graph::Graph& optimized, const CompileOptions& given,
                   driver::Pipeline& pipeline)
    : options(planned_by(given, pipeline.options())),
      lir(pipeline.plan(optimized)),
      plan(tenon::plan_of(lir.program)) {}

const LirState& LirState::of(const LirModule& module) {
  if (!module.state_) throw user_error("this LirModule is empty, or was moved from");
  return *module.state_;
}

Graph LirModule::graph() const { return GraphState::wrap(LirState::of(*this).lir.graph); }
const BufferPlan& LirModule::plan() const { return LirState::of(*this).plan; }
Device LirModule::device() const { return device_of(LirState::of(*this).options); }

std::vector<LirModule::Node> LirModule::nodes() const {
  const graph::Graph& graph = LirState::of(*this).lir.graph;
  const auto phases = phases_of(graph);
  std::vector<Node> result;
  for (const graph::Node* node : graph.topological()) {
    result.push_back({std::string(graph::info(node->op()).text), std::string(graph.origin(node)),
                      node->types()[0], phases.at(node)});
  }
  return result;
}

Phase LirModule::phase(size_t node) const {
  const std::vector<Node> all = nodes();
  if (node >= all.size())
    throw user_error("[phase] there is no node {}: the module has {}", node, all.size());
  return all[node].phase;
}

std::string LirModule::fingerprint() const {
  const LirState& state = LirState::of(*this);
  Hasher hasher;
  hasher.text("lir").text(state.lir.digest.hex());
  return hasher.text(numerics_of(state.options, state.lir)).finish().hex();
}

LirModule LirModule::specialize(const DimBinding& binding) const {
  const LirState& state = LirState::of(*this);
  const graph::Graph special = graph::specialize(state.lir.graph, binding.values());
  if (binding.empty()) return *this;
  driver::Pipeline pipeline(driver_options(state.options));
  LirState planned(special, state.options, pipeline);
  planned.template_of = state_;
  planned.binding = binding;
  return LirState::wrap(std::move(planned));
}

}  // namespace tenon
