// See executor.h. New extents cost one linear pass over a stage's expressions; known ones cost a
// comparison.
#include "runtime/executor.h"

#include <algorithm>
#include <cstring>
#include <utility>

#include "program/verify.h"

namespace tenon::runtime {

using program::BufferKind;

Executor::Executor(std::shared_ptr<const program::Program> program, ThreadPool& pool,
                   ShapeBinder binder, ParamStore params, Arena arena)
    : program_(std::move(program)),
      pool_(&pool),
      binder_(std::move(binder)),
      params_(std::move(params)),
      arena_(std::move(arena)),
      inputs_(program_->inputs.size()),
      outputs_(program_->outputs.size()),
      threads_(pool.max_threads()) {}

Result<std::unique_ptr<Executor>> Executor::load(std::shared_ptr<const program::Program> program,
                                                 ThreadPool& pool) {
  std::vector<cpu::ExecutableCode> mapped;
  std::vector<program::KernelFunction> functions;
  for (const auto& code : program->code) {
    if (!code) return internal_error("[program] a kernel has no code");
    Result<cpu::ExecutableCode> result = cpu::ExecutableCode::map(*code);
    if (!result) return result.error();
    functions.push_back(result.value().function());
    mapped.push_back(std::move(result.value()));
  }
  auto executor = with_functions(std::move(program), pool, std::move(functions));
  if (executor) executor.value()->code_ = std::move(mapped);
  return executor;
}

Result<std::unique_ptr<Executor>> Executor::with_functions(
    std::shared_ptr<const program::Program> program, ThreadPool& pool,
    std::vector<program::KernelFunction> functions) {
  if (Status status = program::verify(*program); !status.ok()) return status.error();
  Result<ShapeBinder> binder = ShapeBinder::make(*program);
  if (!binder) return binder.error();
  Result<ParamStore> params = ParamStore::make(*program);
  if (!params) return params.error();
  Result<Arena> arena = Arena::make(*program, binder.value().variables());
  if (!arena) return arena.error();
  std::unique_ptr<Executor> executor(
      new Executor(std::move(program), pool, std::move(binder.value()), std::move(params.value()),
                   std::move(arena.value())));
  if (Status status = executor->make_steps(functions); !status.ok()) return status.error();
  return executor;
}

Status Executor::make_steps(std::span<const program::KernelFunction> functions) {
  const Variables& variables = binder_.variables();
  Result<StepList> prologue = StepList::make(*program_, program_->prologue, functions, variables);
  if (!prologue) return prologue.error();
  prologue_ = std::move(prologue.value());
  const std::span<const program::Step> all(program_->steps);
  size_t begin = 0;
  for (size_t stage = 0; stage <= program_->host_steps.size(); ++stage) {
    const bool last = stage == program_->host_steps.size();
    const size_t end = last ? all.size() : static_cast<size_t>(program_->host_steps[stage].before);
    Result<StepList> list =
        StepList::make(*program_, all.subspan(begin, end - begin), functions, variables);
    if (!list) return list.error();
    stages_.push_back(std::move(list.value()));
    begin = end;
  }
  for (size_t i = 0; i < program_->host_steps.size(); ++i) {
    const program::HostStep& step = program_->host_steps[i];
    operands_.emplace_back(step.operands.size());
    results_.emplace_back(step.results.size());
    controls_.emplace_back();
    if (step.kind == program::HostKind::Define) continue;
    auto control = ControlStep::make(*program_, static_cast<int>(i), *pool_, variables);
    if (!control) return control.error();
    controls_.back() = std::move(control.value());
  }
  resolved_versions_.assign(stages_.size(), 0);
  return {};
}

void Executor::forget_resolved() {
  std::fill(resolved_versions_.begin(), resolved_versions_.end(), 0);
}

void Executor::set_threads(int threads) {
  const int wanted = std::clamp(threads, 1, pool_->max_threads());
  if (wanted != threads_) forget_resolved();
  threads_ = wanted;
  for (const auto& control : controls_) {
    if (control) control->set_threads(wanted);
  }
}

int64_t Executor::flops() const {
  int64_t flops = 0;
  for (const StepList& stage : stages_) flops += stage.flops();
  return flops;
}

Status Executor::bind(std::span<const IoView> inputs) {
  if (Status status = binder_.bind_inputs(inputs); !status.ok()) return status;
  for (size_t i = 0; i < inputs.size(); ++i) inputs_[i] = inputs[i].data;
  return {};
}

void* Executor::address(const program::BufferRef& ref) const {
  const auto index = static_cast<size_t>(ref.index);
  switch (ref.kind) {
    case BufferKind::Input:
      return inputs_[index];
    case BufferKind::Output:
      return outputs_[index];
    case BufferKind::Param:
      return const_cast<void*>(params_.param(ref.index));
    case BufferKind::Constant:
      return const_cast<std::byte*>(program_->constants[index].bytes.data());
    case BufferKind::Packed:
      return params_.packed(ref.index);
    case BufferKind::Arena:
      if (const auto& view = program_->arena[index].view)
        return static_cast<std::byte*>(address(view->root)) + arena_.view_offset(ref.index);
      return arena_.at(ref.index);
  }
  return nullptr;
}

// All but inputs and outputs, which change from run to run.
void Executor::point(StepList& list) {
  for (const BufferKind kind :
       {BufferKind::Param, BufferKind::Packed, BufferKind::Constant, BufferKind::Arena}) {
    list.point(kind, [&](const program::BufferRef& ref) { return address(ref); });
  }
}

Status Executor::walk(StepList& list, const RunOptions& options) {
  Status status = list.run(*pool_, scratch_.data(), options.stop);
  cancelled_ = !status.ok() && list.was_stopped();
  return status;
}

// Before memory is reserved: whether the run may have what it needs up to this stage.
Status Executor::check_memory(const StepList& list, int stage, const RunOptions& options) const {
  if (options.memory_limit <= 0) return {};
  const int64_t arena = arena_.bytes_through(stage), scratch = scratch_of(list);
  const int64_t needed = options.memory_around + arena + scratch;
  if (needed <= options.memory_limit) return {};
  return user_error(
      "[run] {} bytes are needed (arena {}, scratch {}{}), but the limit is {}{}", needed, arena,
      scratch,
      options.memory_around > 0 ? fmt::format(", around this body {}", options.memory_around) : "",
      options.memory_limit, binder_.values_text(stage));
}

// Parameters were set or this is the first run: the prologue makes the packed buffers anew.
Status Executor::prepare_params(const RunOptions& options) {
  if (weights_version_ == params_.version()) return {};
  weights_version_ = 0;
  if (Status status = params_.check_all_set(); !status.ok()) return status;
  if (Status status = prologue_.resolve(binder_.values(), threads_); !status.ok()) return status;
  forget_resolved();  // the arena may move
  if (auto bytes = arena_.measure(0, binder_.values()); !bytes) return bytes.error();
  if (Status status = check_memory(prologue_, 0, options); !status.ok()) return status;
  if (Status status = arena_.place(0); !status.ok()) return status;
  if (Status status = scratch_.reserve(scratch_of(prologue_), "scratch"); !status.ok())
    return status;
  point(prologue_);
  if (Status status = walk(prologue_, options); !status.ok()) return status;
  params_.release_sources();
  weights_version_ = params_.version();
  return {};
}

Result<int64_t> Executor::measure_arena() {
  forget_resolved();  // the arena may be too small for these extents
  if (Status status = stages_[0].resolve(binder_.values(), threads_); !status.ok())
    return status.error();
  return arena_.measure(0, binder_.values());
}

Result<int64_t> Executor::peak_bytes(const std::map<std::string, int64_t>& extents) {
  for (const auto& control : controls_) {
    if (control)
      return unsupported_error("[peak_bytes] the model has an if or a loop: only a run knows");
  }
  auto values = binder_.values_of(extents);
  if (!values) return values.error();
  forget_resolved();
  if (Status status = prologue_.resolve(values.value(), threads_); !status.ok())
    return status.error();
  int64_t scratch = scratch_of(prologue_), arena = 0;
  for (size_t stage = 0; stage < stages_.size(); ++stage) {
    if (Status status = stages_[stage].resolve(values.value(), threads_); !status.ok())
      return status.error();
    const auto bytes = arena_.measure(static_cast<int>(stage), values.value());
    if (!bytes) return bytes.error();
    arena += bytes.value();
    scratch = std::max(scratch, scratch_of(stages_[stage]));
  }
  return arena + scratch;
}

Status Executor::resolve(int stage, const RunOptions& options) {
  uint64_t& resolved = resolved_versions_[static_cast<size_t>(stage)];
  StepList& list = stages_[static_cast<size_t>(stage)];
  const bool stale = resolved != binder_.version(stage);
  if (stale) {
    resolved = 0;
    if (Status status = list.resolve(binder_.values(), threads_); !status.ok()) return status;
    if (auto bytes = arena_.measure(stage, binder_.values()); !bytes) return bytes.error();
  }
  if (Status status = check_memory(list, stage, options); !status.ok()) return status;
  if (!stale) return {};
  if (Status status = arena_.place(stage); !status.ok()) return status;
  if (Status status = scratch_.reserve(scratch_of(list), "scratch"); !status.ok()) return status;
  point(list);
  resolved = binder_.version(stage);
  return {};
}

Status Executor::run_host_step(int index, const RunOptions& options) {
  const program::HostStep& step = program_->host_steps[static_cast<size_t>(index)];
  if (step.kind != program::HostKind::Define) return run_control(index, options);
  const auto* values = static_cast<const int64_t*>(address(step.operands[0].buffer));
  return binder_.define(index, {values, step.symbols.size()});
}

Status Executor::run_control(int index, const RunOptions& options) {
  const auto at = static_cast<size_t>(index);
  const program::HostStep& step = program_->host_steps[at];
  for (size_t i = 0; i < step.operands.size(); ++i) {
    operands_[at][i] = address(step.operands[i].buffer);
  }
  ControlStep& control = *controls_[at];
  RunOptions inside = options;
  inside.memory_around += arena_.bytes_through(index) + scratch_of(stages_[at]);
  if (Status status = control.run(operands_[at], binder_.values(), inside); !status.ok()) {
    cancelled_ = control.cancelled();
    return status;
  }
  if (Status status = binder_.define(index, control.symbol_values()); !status.ok()) return status;
  if (Status status = resolve(index + 1, options); !status.ok()) return status;
  for (size_t i = 0; i < step.results.size(); ++i) {
    results_[at][i] = address(step.results[i].buffer);
  }
  return control.deliver(results_[at], binder_.values());
}

const void* Executor::late_output(int output) const {
  return address({BufferKind::Arena, program_->outputs[static_cast<size_t>(output)].late});
}

Status Executor::copy_late(std::span<const IoView> outputs) {
  if (Status status = binder_.finish(); !status.ok()) return status;
  for (size_t i = 0; i < outputs.size(); ++i) {
    const auto index = static_cast<int>(i);
    if (program_->outputs[i].late < 0 || !outputs[i].data) continue;
    if (Status status = binder_.check_late(index, outputs[i]); !status.ok()) return status;
    copy_dense(late_output(index), outputs[i]);
  }
  return {};
}

Status Executor::run_stages(const RunOptions& options) {
  for (size_t stage = 0; stage < stages_.size(); ++stage) {
    const auto index = static_cast<int>(stage);
    if (stage > 0) {
      if (Status status = run_host_step(index - 1, options); !status.ok()) return status;
    }
    if (Status status = resolve(index, options); !status.ok()) return status;
    for (const BufferKind kind : {BufferKind::Input, BufferKind::Output}) {
      stages_[stage].point(kind, [&](const program::BufferRef& ref) { return address(ref); });
    }
    if (Status status = walk(stages_[stage], options); !status.ok()) return status;
  }
  return {};
}

Status Executor::execute(std::span<const IoView> outputs, const RunOptions& options) {
  cancelled_ = false;
  if (Status status = binder_.bind_outputs(outputs); !status.ok()) return status;
  if (Status status = prepare_params(options); !status.ok()) return status;
  for (size_t i = 0; i < outputs.size(); ++i) outputs_[i] = outputs[i].data;
  if (Status status = run_stages(options); !status.ok()) return status;
  return copy_late(outputs);
}

}  // namespace tenon::runtime
