// The ways of running a CompiledGraph: names to slots, views to the runtime's views, its errors to
// exceptions. Everything else is the executor's.
#include "base/error.h"
#include "compiled/as_f32.h"
#include "compiled/impl.h"

namespace tenon {

using compiled::check;
using compiled::Exclusive;
using compiled::runtime_options;
using runtime::IoView;

namespace {

std::vector<float> read(const compiled::OutputBlock& block, size_t output) {
  const OutputSlot& slot = block.slots()[output];
  return compiled::as_f32(block.views()[output].dtype,
                          {block.data() + slot.offset, static_cast<size_t>(slot.length)});
}

}  // namespace

runtime::RunOptions compiled::runtime_options(const RunOptions& options) {
  if (options.memory_limit < 0)
    throw user_error("[run] a memory limit of {} bytes makes no sense", options.memory_limit);
  return {.stop = options.stop, .memory_limit = options.memory_limit};
}

std::vector<OwnedTensor> compiled::named(const program::Program& program,
                                         std::vector<runtime::OwnedOutput> outputs) {
  std::vector<OwnedTensor> results;
  for (size_t i = 0; i < outputs.size(); ++i) {
    const program::IoSlot& slot = program.outputs[i];
    results.push_back(
        {slot.name, slot.type.dtype, std::move(outputs[i].shape), std::move(outputs[i].bytes)});
  }
  return results;
}

std::vector<OwnedTensor> compiled::copy_of(const compiled::OutputBlock& block,
                                           const std::vector<program::IoSlot>& outputs) {
  std::vector<OwnedTensor> results;
  for (size_t i = 0; i < outputs.size(); ++i) {
    const TensorView& view = block.views()[i];
    const OutputSlot& slot = block.slots()[i];
    const std::byte* first = block.data() + slot.offset;
    results.push_back({outputs[i].name, view.dtype, view.shape, {first, first + slot.length}});
  }
  return results;
}

void compiled::check(const Status& status, const runtime::Executor& executor) {
  if (!status.ok() && executor.cancelled()) throw Cancelled();
  status.throw_if_error();
}

void CompiledGraph::Impl::show(const NamedInputs& given) {
  executor().handles().own_states().throw_if_error();
  compiled::collect_inputs(program->inputs, rows.input_shapes(), given, executor().handles(),
                           inputs);
  for (size_t i = 0; i < inputs.size(); ++i) inputs[i] = rows.input(i, inputs[i]);
}

runtime::Executor& CompiledGraph::Impl::bind(const NamedInputs& given, const RunOptions& options) {
  show(given);
  return bind_shown(options);
}

// What is refused here leaves the outputs of the last run where they are.
runtime::Executor& CompiledGraph::Impl::bind_shown(const RunOptions& options) {
  runtime::Executor& bound = executor();
  take_shared_params();
  bound.bind(inputs).throw_if_error();
  bound.check_limit(runtime_options(options)).throw_if_error();
  rows.resolve(inputs);
  block.forget();
  return bound;
}

void CompiledGraph::Impl::run_into_block(runtime::Executor& bound, const RunOptions& options) {
  const compiled::RunLog log;
  check(block.run(bound, rows, runtime_options(options)), bound);
  log.done(name, bound);
}

std::vector<std::vector<float>> CompiledGraph::run(const NamedInputs& inputs,
                                                   const RunOptions& options) {
  return run_read_outputs(inputs, std::nullopt, options);
}

std::vector<std::vector<float>> CompiledGraph::run_read_outputs(
    const NamedInputs& inputs, const std::optional<std::vector<int>>& indices,
    const RunOptions& options) {
  Impl& impl = this->impl();
  const Impl::Settled settled(impl);
  const auto count = static_cast<int>(impl.outputs.size());
  std::vector<int> wanted = indices.value_or(std::vector<int>());
  for (const int index : wanted) {
    if (index < 0 || index >= count)
      throw user_error("[run] there is no output {}: the model has {}", index, count);
  }
  if (!indices) {
    for (int i = 0; i < count; ++i) wanted.push_back(i);
  }
  impl.run_into_block(impl.bind(inputs, options), options);
  std::vector<std::vector<float>> results;
  for (const int index : wanted) results.push_back(read(impl.block, static_cast<size_t>(index)));
  return results;
}

std::vector<OwnedTensor> CompiledGraph::run_typed(const NamedInputs& inputs,
                                                  const RunOptions& options) {
  Impl& impl = this->impl();
  const Impl::Settled settled(impl);
  runtime::Executor& executor = impl.bind(inputs, options);
  if (impl.rows.is_set()) {  // what is kept of rows past the active ones lies in the block
    impl.run_into_block(executor, options);
    return compiled::copy_of(impl.block, impl.program->outputs);
  }
  const compiled::RunLog log;
  auto ran = runtime::run_owned(executor, impl.inputs, runtime_options(options));
  if (!ran && executor.cancelled()) throw Cancelled();
  if (ran) log.done(impl.name, executor);
  return compiled::named(*impl.program, ran.take());
}

void CompiledGraph::Impl::run_into(const NamedInputs& given, const NamedOutputs& to,
                                   const RunOptions& options) {
  compiled::collect_outputs(program->outputs, to, executor().handles(), outputs);
  runtime::Executor& bound = bind(given, options);
  for (size_t i = 0; i < outputs.size(); ++i) outputs[i] = rows.output(i, outputs[i]);
  const compiled::RunLog log;
  check(bound.execute(outputs, runtime_options(options)), bound);
  log.done(name, bound);
}

void CompiledGraph::run_into(const NamedInputs& inputs, const NamedOutputs& outputs,
                             const RunOptions& options) {
  Impl& impl = this->impl();
  const Impl::Settled settled(impl);
  impl.run_into(inputs, outputs, options);
}

const std::vector<TensorView>& CompiledGraph::run_raw(const NamedInputs& inputs,
                                                      const RunOptions& options) {
  Impl& impl = this->impl();
  const Impl::Settled settled(impl);
  impl.run_into_block(impl.bind(inputs, options), options);
  return impl.block.views();
}

void CompiledGraph::set_extents(const DimBinding& extents) {
  Impl& impl = this->impl();
  const Exclusive exclusive(impl.use);
  impl.extents = compiled::SlotExtents(*impl.program, extents);
}

std::span<const OutputSlot> CompiledGraph::run_slots(
    std::span<const std::span<const std::byte>> inputs, const RunOptions& options) {
  Impl& impl = this->impl();
  const Impl::Settled settled(impl);
  const auto& slots = impl.program->inputs;
  if (!impl.extents) {
    if (compiled::needs_extents(*impl.program))
      throw user_error("[run_slots] the model has dims without values: call set_extents before");
    impl.extents = compiled::SlotExtents(*impl.program, {});
  }
  runtime::Handles& handles = impl.executor().handles();
  size_t missing = slots.size();
  for (size_t i = 0; i < slots.size(); ++i) {
    const bool is_bound = handles.is_bound(static_cast<int>(i));
    if (slots[i].state && !is_bound) compiled::report_unbound(slots[i]);
    missing -= is_bound ? 1 : 0;
  }
  if (inputs.size() != missing)
    throw user_error("[run_slots] {} inputs are given, the model has {}", inputs.size(), missing);
  size_t next = 0;
  for (size_t i = 0; i < slots.size(); ++i) {
    if (handles.is_bound(static_cast<int>(i))) {
      const IoView bound = handles.view(static_cast<int>(i)).take();
      if (slots[i].state) impl.extents->check_state(slots[i], i, bound.shape);
      impl.inputs[i] = impl.rows.input(i, bound);
      continue;
    }
    const std::span<const std::byte> bytes = inputs[next++];
    IoView view{const_cast<std::byte*>(bytes.data()), slots[i].type.dtype, impl.extents->of(i), {}};
    const auto given = static_cast<int64_t>(bytes.size());
    const auto needed = runtime::dense_bytes(view.dtype, view.shape).take();
    if (given != needed) view.shape = impl.rows.active_shape(i, view.shape);
    if (given != runtime::dense_bytes(view.dtype, view.shape).take())
      throw user_error(
          "[run_slots] input \"{}\" {} has {} bytes at these extents, but {} are given",
          slots[i].name, slots[i].type.to_string(), needed, bytes.size());
    impl.inputs[i] = impl.rows.input(i, view);
  }
  impl.run_into_block(impl.bind_shown(options), options);
  return impl.block.slots();
}

const std::byte* CompiledGraph::arena_ptr() const { return impl().block.data(); }

std::optional<std::vector<float>> CompiledGraph::read_output_row(int output, int64_t row,
                                                                 int64_t inner) const {
  Impl& impl = this->impl();
  const Exclusive exclusive(impl.use);
  const compiled::OutputBlock& block = impl.block;
  if (!block.filled() || output < 0 || output >= static_cast<int>(block.slots().size()) ||
      row < 0 || inner <= 0)
    return std::nullopt;
  const auto at = static_cast<size_t>(output);
  const DType dtype = block.views()[at].dtype;
  const int64_t elements = block.slots()[at].length / size_of(dtype);
  if (inner > elements || row >= elements / inner) return std::nullopt;
  const std::byte* first = block.data() + block.slots()[at].offset + row * inner * size_of(dtype);
  return compiled::as_f32(dtype, {first, static_cast<size_t>(inner * size_of(dtype))});
}

}  // namespace tenon
