// See executor.h. New extents cost one linear pass over the program's expressions; known ones cost
// a comparison.
#include "runtime/executor.h"

#include <algorithm>
#include <utility>

#include "program/verify.h"

namespace tenon::runtime {

using program::BufferKind;

Executor::Executor(std::shared_ptr<const program::Program> program, ThreadPool& pool,
                   ShapeBinder binder, ParamStore params, StepList prologue, StepList steps)
    : program_(std::move(program)),
      pool_(&pool),
      binder_(std::move(binder)),
      params_(std::move(params)),
      prologue_(std::move(prologue)),
      steps_(std::move(steps)),
      inputs_(program_->inputs.size()),
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
  const Variables& variables = binder.value().variables();
  Result<StepList> prologue = StepList::make(*program, program->prologue, functions, variables);
  if (!prologue) return prologue.error();
  Result<StepList> steps = StepList::make(*program, program->steps, functions, variables);
  if (!steps) return steps.error();
  return std::unique_ptr<Executor>(
      new Executor(std::move(program), pool, std::move(binder.value()), std::move(params.value()),
                   std::move(prologue.value()), std::move(steps.value())));
}

void Executor::set_threads(int threads) {
  const int wanted = std::clamp(threads, 1, pool_->max_threads());
  if (wanted != threads_) resolved_version_ = 0;
  threads_ = wanted;
}

Status Executor::bind(std::span<const IoView> inputs) {
  if (Status status = binder_.bind_inputs(inputs); !status.ok()) return status;
  for (size_t i = 0; i < inputs.size(); ++i) inputs_[i] = inputs[i].data;
  return {};
}

Status Executor::reserve(const StepList& list) {
  if (Status status = arena_.reserve(list.arena_bytes(), "the arena"); !status.ok()) return status;
  return scratch_.reserve(list.scratch_bytes() * list.workers(), "scratch");
}

void Executor::point_weights(StepList& list) {
  list.point(BufferKind::Param, [&](int index) { return const_cast<void*>(params_.param(index)); });
  list.point(BufferKind::Packed, [&](int index) { return params_.packed(index); });
  list.point(BufferKind::Constant, [&](int index) -> void* {
    return const_cast<std::byte*>(program_->constants[static_cast<size_t>(index)].bytes.data());
  });
}

// Parameters were set or this is the first run: the prologue makes the packed buffers anew.
Status Executor::prepare_params() {
  if (weights_version_ == params_.version()) return {};
  weights_version_ = 0;
  if (Status status = params_.check_all_set(); !status.ok()) return status;
  if (Status status = prologue_.resolve(binder_.values(), threads_); !status.ok()) return status;
  resolved_version_ = 0;  // the arena may move
  if (Status status = reserve(prologue_); !status.ok()) return status;
  point_weights(prologue_);
  prologue_.point_arena(arena_.data());
  if (Status status = prologue_.run(*pool_, scratch_.data()); !status.ok()) return status;
  params_.release_sources();
  point_weights(steps_);
  weights_version_ = params_.version();
  return {};
}

Result<int64_t> Executor::measure_arena() {
  resolved_version_ = 0;  // the arena may be too small for these extents
  if (Status status = steps_.resolve(binder_.values(), threads_); !status.ok())
    return status.error();
  return steps_.arena_bytes();
}

Status Executor::resolve() {
  if (resolved_version_ == binder_.version()) return {};
  resolved_version_ = 0;
  if (Status status = steps_.resolve(binder_.values(), threads_); !status.ok()) return status;
  if (Status status = reserve(steps_); !status.ok()) return status;
  steps_.point_arena(arena_.data());
  resolved_version_ = binder_.version();
  return {};
}

Status Executor::execute(std::span<const IoView> outputs) {
  if (Status status = binder_.bind_outputs(outputs); !status.ok()) return status;
  if (Status status = prepare_params(); !status.ok()) return status;
  if (Status status = resolve(); !status.ok()) return status;
  steps_.point(BufferKind::Input, [&](int index) { return inputs_[static_cast<size_t>(index)]; });
  steps_.point(BufferKind::Output,
               [&](int index) { return outputs[static_cast<size_t>(index)].data; });
  return steps_.run(*pool_, scratch_.data());
}

}  // namespace tenon::runtime
