#include "lazy/plan.h"

#include <algorithm>

#include "base/error.h"
#include "lazy/apply.h"
#include "lazy/check_values.h"

namespace tenon::lazy {
namespace {

// Of those in the type only: what the elements of a tensor were computed with.
VariableValues values_in(const TensorType& type, const VariableValues& values) {
  VariableValues result;
  for (const Dim& dim : type.shape) {
    if (dim.is_const()) continue;
    for (const Symbol& symbol : dim.symbols()) result.insert(*values.find(symbol.name()));
  }
  return result;
}

void add_symbols(std::span<const Dim> dims, std::map<std::string, Symbol>& to) {
  for (const Dim& dim : dims) {
    if (dim.is_const()) continue;
    for (const Symbol& symbol : dim.symbols()) to.emplace(symbol.name(), symbol);
  }
}

// Of shapes and attributes, also where no kernel needs them in the end.
std::map<std::string, Symbol> symbols_of(const Trace& trace) {
  std::map<std::string, Symbol> symbols;
  for (const Trace::Leaf& leaf : trace.leaves) add_symbols(leaf.type.shape.dims(), symbols);
  for (const Trace::Step& step : trace.steps) {
    for (int i = 0; i < step.expression->results(); ++i)
      add_symbols(step.expression->type(i).shape.dims(), symbols);
    if (!step.operation->rule) continue;
    for (const auto& [name, value] : step.operation->rule->attributes().items()) {
      if (const auto* dims = std::get_if<std::vector<Dim>>(&value)) add_symbols(*dims, symbols);
    }
  }
  return symbols;
}

}  // namespace

Plan::Plan(Trace trace, const PrepareConfig& config, const Plan* like)
    : trace_(std::move(trace)), config_(config) {
  for (const Segment& segment : segments_of(trace_)) {
    if (like) {
      add_segment(segment, like->running_[running_.size()].compiled);
      continue;
    }
    CachedSegment found = compiled(trace_, segment, config_);
    from_cache_ = from_cache_ && found.was_there;
    add_segment(segment, std::move(found.segment));
  }
  add_asked_copies();
  std::ranges::stable_sort(parts_, {}, &Part::level);
  for (const TraceValue& target : trace_.targets) targets_.push_back(number(target));
  for (const Trace::Step& step : trace_.steps) {
    const auto& extreme = step.operation->extreme;
    if (extreme && !(extreme->elements.is_const() && extreme->results.is_const()))
      extremes_.push_back(step.operation.get());
  }
  symbols_ = symbols_of(trace_);
  for (const auto& [name, symbol] : symbols_) {
    if (!trace_.values.contains(name))
      throw user_error("[realize] the variable \"{}\" has no value: bind it", name);
  }
}

Plan::~Plan() {
  for (Running& running : running_) {
    if (running.executor) running.compiled->give_back(std::move(running.executor));
  }
}

int Plan::number(const TraceValue& value) {
  const auto [number, fresh] = numbers_.insert(value);
  if (!fresh) return number;
  number = static_cast<int>(values_.size());
  Value& added = values_.emplace_back();
  added.type = trace_.type(value);
  added.device = trace_.device(value);
  if (value.leaf >= 0) added.elements = trace_.leaves[static_cast<size_t>(value.leaf)].elements;
  return number;
}

// Files are read where they are mapped by whoever uses host memory.
int Plan::number_on(const Device& device, const TraceValue& value, int level) {
  const int from = number(value);
  if (values_[static_cast<size_t>(from)].device == device) return from;
  const auto [found, fresh] = copies_.try_emplace({from, to_string(device)}, -1);
  if (!fresh) return found->second;
  const int to = found->second = static_cast<int>(values_.size());
  values_.push_back(
      {.type = trace_.type(value), .elements = nullptr, .own = nullptr, .device = device});
  parts_.push_back({.from = from, .to = to, .device = device, .level = level});
  return to;
}

// Copies of what it reads come first, since they have its level and stand before it.
void Plan::add_segment(const Segment& segment, std::shared_ptr<CompiledSegment> compiled) {
  Running running{.compiled = std::move(compiled)};
  for (const TraceValue& input : segment.inputs)
    running.inputs.push_back(number_on(segment.device, input, 2 * segment.level));
  for (const TraceValue& output : segment.outputs) running.outputs.push_back(number(output));
  running.executor = running.compiled->take_executor();
  running.executor->set_threads(config_.threads > 0 ? config_.threads : 1 << 20);
  parts_.push_back({.segment = static_cast<int>(running_.size()),
                    .device = segment.device,
                    .level = 2 * segment.level});
  running_.push_back(std::move(running));
}

// Those of Tensor::to.
void Plan::add_asked_copies() {
  for (size_t i = 0; i < trace_.steps.size(); ++i) {
    const Trace::Step& step = trace_.steps[i];
    if (!step.operation->copy_to) continue;
    const int to = number({.step = static_cast<int>(i)});
    parts_.push_back({.from = number(step.operands[0]),
                      .to = to,
                      .device = *step.operation->copy_to,
                      .level = 2 * step.level - 1});
  }
}

Buffer& Plan::make_room(int value, std::span<const int64_t> extents, const VariableValues& values) {
  Value& to = values_[static_cast<size_t>(value)];
  if (to.own && std::ranges::equal(to.elements->extents, extents)) {
    const bool same = std::ranges::all_of(to.elements->values, [&](const auto& each) {
      return values.at(each.first) == each.second;
    });
    if (same) return *to.own;
  }
  const int64_t bytes = runtime::dense_bytes(to.type.dtype, extents).take();
  to.own = Buffer::allocate(to.device, bytes);
  to.elements = std::make_shared<const Elements>(
      Elements{to.own, {extents.begin(), extents.end()}, values_in(to.type, values)});
  return *to.own;
}

void Plan::give_values(Running& running, const VariableValues& values) {
  const auto& given = running.compiled->program().given;
  for (size_t i = 0; i < given.size(); ++i)
    running.executor->give(static_cast<int>(i), values.at(given[i].name()));
}

void Plan::run(Running& running, const VariableValues& values) {
  give_values(running, values);
  running.input_views.clear();
  for (const int input : running.inputs) {
    const Value& value = values_[static_cast<size_t>(input)];
    const Elements& elements = *value.elements;
    running.input_views.push_back({.data = elements.buffer->data(),
                                   .dtype = value.type.dtype,
                                   .shape = elements.extents,
                                   .capacity = {},
                                   .on_device = !elements.buffer->on_host()});
  }
  running.executor->bind(running.input_views).throw_if_error();
  running.output_views.clear();
  for (size_t i = 0; i < running.outputs.size(); ++i) {
    const int output = running.outputs[i];
    const auto extents = running.executor->output_extents(static_cast<int>(i));
    Buffer& to = make_room(output, extents, values);
    const Value& value = values_[static_cast<size_t>(output)];
    running.output_views.push_back({.data = to.data(),
                                    .dtype = value.type.dtype,
                                    .shape = value.elements->extents,
                                    .capacity = {},
                                    .on_device = !to.on_host()});
  }
  running.executor->execute(running.output_views).throw_if_error();
}

void Plan::copy(const Part& part) {
  const std::shared_ptr<const Elements> from = values_[static_cast<size_t>(part.from)].elements;
  VariableValues values = from->values;
  lazy::copy(*from->buffer, make_room(part.to, from->extents, values));
}

// An input that another plan computes is what that made last, at the values it was made with.
void Plan::take_outputs_of_plans(VariableValues& values) {
  VariableValues newest;
  for (size_t i = 0; i < trace_.leaves.size(); ++i) {
    const Trace::Leaf& leaf = trace_.leaves[i];
    if (!leaf.expression->is_plan_output()) continue;
    const auto elements = leaf.expression->elements(0);
    merge(newest, elements->values, "execute");
    const int* number = numbers_.find({.leaf = static_cast<int>(i)});
    if (number) values_[static_cast<size_t>(*number)].elements = elements;
  }
  for (const auto& [name, value] : newest) values[name] = value;
}

void Plan::execute(VariableValues values) {
  take_outputs_of_plans(values);
  for (const Trace::Leaf& leaf : trace_.leaves) {
    if (leaf.elements->buffer->is_file()) leaf.elements->buffer->check();
  }
  for (const Operation* operation : extremes_) check_extreme(*operation, values);
  for (const Part& part : parts_) {
    if (part.segment >= 0)
      run(running_[static_cast<size_t>(part.segment)], values);
    else
      copy(part);
  }
}

const std::shared_ptr<const Elements>& Plan::output(int target) const {
  return values_[static_cast<size_t>(targets_[static_cast<size_t>(target)])].elements;
}

const Device& Plan::device(int target) const {
  return values_[static_cast<size_t>(targets_[static_cast<size_t>(target)])].device;
}

VariableValues Plan::with(const VariableValues& given) const {
  VariableValues values = trace_.values;
  for (const auto& [name, value] : given) {
    const auto found = symbols_.find(name);
    if (found == symbols_.end())
      throw user_error("[execute] there is no variable \"{}\" in the plan", name);
    const Bounds bounds = found->second.bounds();
    if (!bounds.contains(value))
      throw user_error("[execute] \"{}\" = {} is outside of its bounds {}..{}", name, value,
                       bounds.lo, bounds.hi);
    for (const Trace::Leaf& leaf : trace_.leaves) {
      const auto now = leaf.expression->elements(leaf.result);
      const auto fixed = now->values.find(name);
      if (fixed != now->values.end() && fixed->second != value)
        throw user_error("[execute] \"{}\" is {}, an extent of an input {}: it cannot be {}", name,
                         fixed->second, leaf.type.to_string(), value);
    }
    values[name] = value;
  }
  return values;
}

// Kernels and what the host does between them, in order.
static void add_steps(const program::Program& program, const Device& device,
                      std::vector<PlanStep>& to) {
  auto host = program.host_steps.begin();
  for (size_t i = 0; i <= program.steps.size(); ++i) {
    for (; host != program.host_steps.end() && host->before == static_cast<int>(i); ++host) {
      if (host->kind == program::HostKind::Custom)
        to.push_back({PlanStep::Kind::Custom, host->function->name(), device});
    }
    if (i < program.steps.size())
      to.push_back({PlanStep::Kind::Kernel, program.steps[i].kind, device});
  }
}

std::vector<PlanStep> Plan::steps() const {
  std::vector<PlanStep> steps;
  for (const Part& part : parts_) {
    if (part.segment < 0) {
      steps.push_back({PlanStep::Kind::Copy, "copy", part.device});
      continue;
    }
    const program::Program& program =
        running_[static_cast<size_t>(part.segment)].compiled->program();
    for (const program::ArenaBuffer& buffer : program.arena) {
      if (buffer.view) steps.push_back({PlanStep::Kind::View, "view", part.device});
    }
    add_steps(program, part.device, steps);
  }
  return steps;
}

PlanStats Plan::stats() const {
  PlanStats stats{.from_cache = from_cache_};
  for (const PlanStep& step : steps()) {
    int* const counts[] = {&stats.kernels, &stats.copies, &stats.views, &stats.custom_functions};
    ++*counts[static_cast<int>(step.kind)];
  }
  for (const Running& running : running_) {
    const program::ArenaPlan& plan = running.compiled->program().plan;
    stats.arena_bytes += evaluate(plan.bytes, trace_.values).value_or(0);
    stats.unshared_bytes += evaluate(plan.unshared_bytes, trace_.values).value_or(0);
  }
  return stats;
}

}  // namespace tenon::lazy
