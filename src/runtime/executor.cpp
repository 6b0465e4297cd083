// See executor.h. New extents cost one linear pass over a stage's expressions; known ones cost a
// comparison.
#include "runtime/executor.h"

#include <algorithm>
#include <utility>

#include "program/verify.h"
#include "runtime/cpu/cpu_stream.h"
#include "runtime/trace_of_steps.h"

namespace tenon::runtime {

using program::BufferKind;

Executor::Executor(std::shared_ptr<const program::Program> program,
                   std::shared_ptr<DeviceStream> stream, std::shared_ptr<const LoadedCode> code,
                   ShapeBinder binder, ParamStore params, Arena arena)
    : program_(std::move(program)),
      stream_(std::move(stream)),
      code_(std::move(code)),
      binder_(std::move(binder)),
      params_(std::move(params)),
      arena_(std::move(arena)),
      scratch_(*stream_),
      ports_(*program_, *stream_),
      handles_(*program_, *stream_),
      threads_(stream_->max_threads()) {}

// What was begun may still use code and memory that goes now, and write to the caller's.
Executor::~Executor() { static_cast<void>(stream_->synchronize()); }

Result<std::unique_ptr<Executor>> Executor::load(std::shared_ptr<const program::Program> program,
                                                 ThreadPool& pool) {
  return load(std::move(program), std::make_shared<cpu::CpuStream>(pool));
}

Result<std::unique_ptr<Executor>> Executor::with_functions(
    std::shared_ptr<const program::Program> program, ThreadPool& pool,
    std::vector<program::KernelFunction> functions) {
  auto code = std::make_shared<const cpu::KernelFunctions>(std::move(functions));
  return load(std::move(program), std::make_shared<cpu::CpuStream>(pool, std::move(code)));
}

Result<std::unique_ptr<Executor>> Executor::load(std::shared_ptr<const program::Program> program,
                                                 std::shared_ptr<DeviceStream> stream) {
  auto code = stream->load(*program);
  if (!code) return code.error();
  if (Status status = program::verify(*program); !status.ok()) return status.error();
  Result<ParamStore> params = ParamStore::make(*program, *stream, code.value());
  if (!params) return params.error();
  return make(std::move(program), std::move(stream), std::move(code.value()),
              std::move(params.value()));
}

// The other stream may read what this one was asked to write.
Result<std::unique_ptr<Executor>> Executor::clone(std::shared_ptr<DeviceStream> stream) {
  if (Status status = stream_->synchronize(); !status.ok()) return status.error();
  ParamStore params = params_.share(*stream);
  auto copy = make(program_, std::move(stream), code_, std::move(params));
  if (!copy) return copy;
  copy.value()->set_threads(threads_);
  copy.value()->variant_ = ChosenVariant(variant_.all());
  copy.value()->handles_.copy_from(handles_);
  return copy;
}

Result<std::unique_ptr<Executor>> Executor::make(std::shared_ptr<const program::Program> program,
                                                 std::shared_ptr<DeviceStream> stream,
                                                 std::shared_ptr<const LoadedCode> code,
                                                 ParamStore params) {
  Result<ShapeBinder> binder = ShapeBinder::make(*program);
  if (!binder) return binder.error();
  Result<Arena> arena = Arena::make(*program, binder.value().variables(), *stream);
  if (!arena) return arena.error();
  std::unique_ptr<Executor> executor(new Executor(std::move(program), std::move(stream),
                                                  std::move(code), std::move(binder.value()),
                                                  std::move(params), std::move(arena.value())));
  if (Status status = executor->make_steps(); !status.ok()) return status.error();
  return executor;
}

Result<std::unique_ptr<StepRunner>> Executor::make_runner(std::span<const program::Step> steps) {
  Result<StepList> list = StepList::make(*program_, steps, binder_.variables());
  if (!list) return list.error();
  return stream_->prepare(std::move(list.value()), code_);
}

Status Executor::make_steps() {
  const std::span<const program::Step> all(program_->steps);
  size_t begin = 0;
  for (size_t stage = 0; stage <= program_->host_steps.size(); ++stage) {
    const bool last = stage == program_->host_steps.size();
    const size_t end = last ? all.size() : static_cast<size_t>(program_->host_steps[stage].before);
    auto steps = make_runner(all.subspan(begin, end - begin));
    if (!steps) return steps.error();
    stages_.push_back(std::move(steps.value()));
    begin = end;
  }
  for (size_t i = 0; i < program_->host_steps.size(); ++i) {
    const program::HostStep& step = program_->host_steps[i];
    operands_.emplace_back(step.operands.size());
    results_.emplace_back(step.results.size());
    controls_.emplace_back();
    customs_.emplace_back();
    defined_.resize(std::max(defined_.size(), step.symbols.size()));
    if (step.kind == program::HostKind::Define) continue;
    if (step.kind == program::HostKind::Custom) {
      auto custom = CustomStep::make(step, stream_, binder_.variables());
      if (!custom) return custom.error();
      customs_.back() = std::move(custom.value());
      continue;
    }
    auto control = ControlStep::make(*program_, static_cast<int>(i), stream_, binder_.variables());
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
  const int wanted = std::clamp(threads, 1, stream_->max_threads());
  if (wanted != threads_) forget_resolved();
  threads_ = wanted;
  for (const auto& control : controls_) {
    if (control) control->set_threads(wanted);
  }
}

void Executor::use_variants(std::shared_ptr<CodeVariants> variants) {
  variant_ = ChosenVariant(std::move(variants));
  forget_resolved();
}

int64_t Executor::flops() const {
  int64_t flops = 0;
  for (const auto& stage : stages_) flops += stage->steps().flops();
  return flops;
}

Result<std::vector<std::byte>> Executor::read_param(int index) {
  const Dim bytes = program_->params[static_cast<size_t>(index)].type.bytes();
  const std::span<const std::byte> source = params_.source(index);
  if (!source.empty()) return std::vector<std::byte>(source.begin(), source.end());
  std::vector<std::byte> value(static_cast<size_t>(bytes.const_value()));
  const Status status =
      stream_->read(value.data(), params_.param(index), static_cast<int64_t>(value.size()));
  if (!status.ok()) return status.error();
  return value;
}

// Runs write states, so they must lie where runs do.
Status Executor::check_states(std::span<const IoView> inputs) const {
  for (size_t i = 0; i < inputs.size(); ++i) {
    const bool reachable = inputs[i].on_device || stream_->shares_host_memory();
    if (program_->inputs[i].state && !reachable)
      return user_error("the state \"{}\" is not in memory of the device",
                        program_->inputs[i].name);
  }
  return {};
}

Status Executor::bind(std::span<const IoView> inputs) {
  if (Status status = binder_.bind_inputs(inputs); !status.ok()) return status;
  if (Status status = check_states(inputs); !status.ok()) return status;
  return ports_.bind_inputs(inputs);
}

void* Executor::address(const program::BufferRef& ref) const {
  switch (ref.kind) {
    case BufferKind::Input:
      return ports_.input(ref.index);
    case BufferKind::Output:
      return ports_.output(ref.index);
    case BufferKind::Param:
      return const_cast<void*>(params_.param(ref.index));
    case BufferKind::Constant:
      return const_cast<void*>(params_.constant(ref.index));
    case BufferKind::Packed:
      return params_.packed(ref.index);
    case BufferKind::Arena:
      if (const auto& view = program_->arena[static_cast<size_t>(ref.index)].view)
        return static_cast<std::byte*>(address(view->root)) + arena_.view_offset(ref.index);
      return arena_.at(ref.index);
  }
  return nullptr;
}

// All but inputs and outputs, which change from run to run.
void Executor::point(StepRunner& steps) {
  for (const BufferKind kind :
       {BufferKind::Param, BufferKind::Packed, BufferKind::Constant, BufferKind::Arena}) {
    steps.steps().point(kind, [&](const program::BufferRef& ref) { return address(ref); });
  }
}

Status Executor::walk(StepRunner& steps, const RunOptions& options) {
  StepObserver* observer = options.observer ? options.observer : trace_of_steps();
  if (observer) observer->begins(steps.steps(), binder_.variables(), binder_.values());
  Status status = observer ? steps.run_observed(scratch_.data(), options.stop, *observer)
                           : steps.run(scratch_.data(), options.stop);
  cancelled_ = !status.ok() && steps.was_stopped();
  return status;
}

// Before memory is reserved: whether the run may have what it needs up to this stage.
Status Executor::check_memory(const StepRunner& steps, int stage, const RunOptions& options) const {
  if (options.memory_limit <= 0) return {};
  const int64_t arena = arena_.bytes_through(stage), scratch = steps.scratch_bytes();
  const int64_t needed = options.memory_around + arena + scratch;
  if (needed <= options.memory_limit) return {};
  return user_error(
      "[run] {} bytes are needed (arena {}, scratch {}{}), but the limit is {}{}", needed, arena,
      scratch,
      options.memory_around > 0 ? fmt::format(", around this body {}", options.memory_around) : "",
      options.memory_limit, binder_.values_text(stage));
}

// Parameters were set or this is the first run: the packed buffers must be those of their values.
Status Executor::prepare_params(const RunOptions& options) {
  if (weights_version_ == params_.version()) return {};
  weights_version_ = 0;
  forget_resolved();  // weights may lie elsewhere, and the arena may move
  const auto prologue = [&](std::span<const program::Step> steps) {
    return run_prologue(steps, options);
  };
  if (Status status = params_.make_ready(threads_, prologue); !status.ok()) return status;
  weights_version_ = params_.version();
  return {};
}

Status Executor::run_prologue(std::span<const program::Step> steps, const RunOptions& options) {
  auto runner = make_prologue(steps, binder_.values());
  if (!runner) return runner.error();
  StepRunner& prologue = *runner.value();
  if (auto bytes = arena_.measure(0, binder_.values()); !bytes) return bytes.error();
  if (Status status = check_memory(prologue, 0, options); !status.ok()) return status;
  if (Status status = arena_.place(0); !status.ok()) return status;
  if (Status status = scratch_.reserve(prologue.scratch_bytes(), "scratch"); !status.ok())
    return status;
  point(prologue);
  Status status = walk(prologue, options);
  Status ended = stream_->synchronize();  // the runner goes, and others may read what it made
  return status.ok() ? ended : status;
}

Result<std::unique_ptr<StepRunner>> Executor::make_prologue(std::span<const program::Step> steps,
                                                            std::span<const int64_t> values) {
  auto runner = make_runner(steps);
  if (!runner) return runner;
  if (Status status = runner.value()->resolve(values, threads_); !status.ok())
    return status.error();
  return runner;
}

Result<int64_t> Executor::measure_arena() {
  forget_resolved();  // the arena may be too small for these extents
  if (Status status = stages_[0]->resolve(binder_.values(), threads_); !status.ok())
    return status.error();
  return arena_.measure(0, binder_.values());
}

Status Executor::check_limit(const RunOptions& options) {
  if (options.memory_limit <= 0) return {};
  if (weights_version_ != params_.version()) {
    auto prologue = make_prologue(program_->prologue, binder_.values());
    if (!prologue) return prologue.error();
    if (auto bytes = arena_.measure(0, binder_.values()); !bytes) return bytes.error();
    if (Status status = check_memory(*prologue.value(), 0, options); !status.ok()) return status;
  }
  if (resolved_versions_[0] != binder_.version(0)) {
    if (auto bytes = measure_arena(); !bytes) return bytes.error();
  }
  return check_memory(*stages_[0], 0, options);
}

Result<int64_t> Executor::peak_bytes(const std::map<std::string, int64_t>& extents) {
  for (const auto& control : controls_) {
    if (control)
      return unsupported_error("[peak_bytes] the model has an if or a loop: only a run knows");
  }
  auto values = binder_.values_of(extents);
  if (!values) return values.error();
  forget_resolved();
  auto prologue = make_prologue(program_->prologue, values.value());
  if (!prologue) return prologue.error();
  int64_t scratch = prologue.value()->scratch_bytes(), arena = 0;
  for (size_t stage = 0; stage < stages_.size(); ++stage) {
    if (Status status = stages_[stage]->resolve(values.value(), threads_); !status.ok())
      return status.error();
    const auto bytes = arena_.measure(static_cast<int>(stage), values.value());
    if (!bytes) return bytes.error();
    arena += bytes.value();
    scratch = std::max(scratch, stages_[stage]->scratch_bytes());
  }
  return arena + scratch;
}

// A state that grows asks for a little more in each run: it gets twice that, or what the limit
// leaves.
int64_t Executor::scratch_to_hold(int64_t needed, int stage, const RunOptions& options) const {
  if (needed <= scratch_.size() || !handles_.change()) return needed;
  if (options.memory_limit <= 0) return 2 * needed;
  const int64_t left = options.memory_limit - options.memory_around - arena_.bytes_through(stage);
  return std::min(2 * needed, left);
}

Status Executor::resolve(int stage, const RunOptions& options) {
  uint64_t& resolved = resolved_versions_[static_cast<size_t>(stage)];
  StepRunner& steps = *stages_[static_cast<size_t>(stage)];
  const bool stale = resolved != binder_.version(stage) || variant_.is_stale();
  if (stale) {
    resolved = 0;
    steps.run_code(variant_.choose(binder_.values()));
    if (Status status = steps.resolve(binder_.values(), threads_); !status.ok()) return status;
    if (auto bytes = arena_.measure(stage, binder_.values()); !bytes) return bytes.error();
  }
  if (Status status = check_memory(steps, stage, options); !status.ok()) return status;
  if (!stale) return {};
  if (Status status = arena_.place(stage); !status.ok()) return status;
  const int64_t scratch = scratch_to_hold(steps.scratch_bytes(), stage, options);
  if (Status status = scratch_.reserve(scratch, "scratch"); !status.ok()) return status;
  point(steps);
  resolved = binder_.version(stage);
  return {};
}

Status Executor::run_host_step(int index, const RunOptions& options) {
  const program::HostStep& step = program_->host_steps[static_cast<size_t>(index)];
  if (step.kind == program::HostKind::Custom) return run_custom(index, options);
  if (step.kind != program::HostKind::Define) return run_control(index, options);
  const std::span<int64_t> values(defined_.data(), step.symbols.size());
  if (Status status = stream_->read(values.data(), address(step.operands[0].buffer),
                                    static_cast<int64_t>(values.size_bytes()));
      !status.ok())
    return status;
  return binder_.define(index, values);
}

Status Executor::run_control(int index, const RunOptions& options) {
  const auto at = static_cast<size_t>(index);
  const program::HostStep& step = program_->host_steps[at];
  for (size_t i = 0; i < step.operands.size(); ++i) {
    operands_[at][i] = address(step.operands[i].buffer);
  }
  ControlStep& control = *controls_[at];
  RunOptions inside = options;
  inside.memory_around += arena_.bytes_through(index) + stages_[at]->scratch_bytes();
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

// What the results will be is known before they are: it writes them where they belong. The null
// device computes nothing.
Status Executor::run_custom(int index, const RunOptions& options) {
  const auto at = static_cast<size_t>(index);
  if (Status status = binder_.define(index, {}); !status.ok()) return status;
  if (Status status = resolve(index + 1, options); !status.ok()) return status;
  if (program_->device == program::DeviceKind::Null) return {};
  const program::HostStep& step = program_->host_steps[at];
  for (size_t i = 0; i < step.operands.size(); ++i)
    operands_[at][i] = address(step.operands[i].buffer);
  for (size_t i = 0; i < step.results.size(); ++i)
    results_[at][i] = address(step.results[i].buffer);
  CustomStep& custom = *customs_[at];
  Status status = custom.run(operands_[at], results_[at], binder_.values(), options.stop);
  cancelled_ = custom.cancelled();
  return status;
}

const void* Executor::late_output(int output) const {
  return address({BufferKind::Arena, program_->outputs[static_cast<size_t>(output)].late});
}

Status Executor::read_late_output(int output, std::span<std::byte> to) {
  return stream_->read(to.data(), late_output(output), static_cast<int64_t>(to.size()));
}

Status Executor::copy_late(std::span<const IoView> outputs) {
  if (Status status = binder_.finish(); !status.ok()) return status;
  for (size_t i = 0; i < outputs.size(); ++i) {
    const auto index = static_cast<int>(i);
    if (program_->outputs[i].late < 0 || !outputs[i].data) continue;
    if (Status status = binder_.check_late(index, outputs[i]); !status.ok()) return status;
    if (Status status = ports_.copy_late(index, late_output(index), outputs[i]); !status.ok())
      return status;
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
      stages_[stage]->steps().point(kind,
                                    [&](const program::BufferRef& ref) { return address(ref); });
    }
    variant_.note_run(binder_.values(), stages_[stage]->steps());
    if (Status status = walk(*stages_[stage], options); !status.ok()) return status;
  }
  return {};
}

// What feeds a handle lies in the handle's memory, dense.
Status Executor::copy_fed(std::span<const IoView> outputs, std::span<const IoView> written) {
  for (size_t i = 0; i < outputs.size(); ++i) {
    if (outputs[i].data == written[i].data || !outputs[i].data) continue;
    const Status status = ports_.copy_late(static_cast<int>(i), written[i].data, outputs[i]);
    if (!status.ok()) return status;
  }
  return {};
}

Status Executor::begin(std::span<const IoView> given, const RunOptions& options) {
  std::span<const IoView> outputs = given;
  if (handles_.feeds() > 0) {
    for (size_t i = 0; i < given.size(); ++i) {
      const auto index = static_cast<int>(i);
      if (!handles_.is_fed_by(index) || !given[i].data) continue;
      if (Status status = binder_.check_late(index, given[i]); !status.ok()) return status;
    }
    const auto redirected =
        handles_.redirect(given, [&](int output) { return binder_.output_extents(output); });
    if (!redirected) return redirected.error();
    outputs = redirected.value();
  }
  if (Status status = binder_.bind_outputs(outputs); !status.ok()) return status;
  if (Status status = prepare_params(options); !status.ok()) return status;
  if (Status status = ports_.copy_in(); !status.ok()) return status;
  if (Status status = ports_.bind_outputs(outputs); !status.ok()) return status;
  if (Status status = run_stages(options); !status.ok()) return status;
  if (Status status = ports_.copy_out(); !status.ok()) return status;
  if (Status status = copy_fed(given, outputs); !status.ok()) return status;
  return copy_late(outputs);
}

// What a run that did not begin well has begun ends before the error is told.
Status Executor::commit(std::span<const IoView> outputs, const RunOptions& options) {
  cancelled_ = advanced_ = false;
  if (ports_.holds_outputs()) {
    if (Status status = wait(); !status.ok()) return status;
  }
  Status status = begin(outputs, options);
  if (!status.ok()) {
    static_cast<void>(stream_->synchronize());
    ports_.forget();
  }
  if (!status.ok() || !handles_.change()) return status;
  status = wait();
  advanced_ = status.ok();
  if (advanced_) handles_.advance([&](int input) { return binder_.state_length(input); });
  return status;
}

void Executor::take_back() {
  if (std::exchange(advanced_, false)) handles_.take_back();
}

Status Executor::wait() {
  Status status = stream_->synchronize();
  status.ok() ? ports_.finish() : ports_.forget();
  return status;
}

Status Executor::execute(std::span<const IoView> outputs, const RunOptions& options) {
  if (Status status = commit(outputs, options); !status.ok()) return status;
  return wait();
}

}  // namespace tenon::runtime
