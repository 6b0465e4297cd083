// CompiledGraph: what it is, its parameters, and what can be asked about it. Runs are in runs.cpp.
#include "tenon/compiled_graph.h"

#include "base/error.h"
#include "base/thread_pool.h"
#include "compiled/as_f32.h"
#include "compiled/device_id.h"
#include "compiled/impl.h"
#include "compiled/known_dtype.h"
#include "types/active_extent.h"

namespace tenon {

namespace {

// With all rows of a bucket.
TensorInfo describe(const std::string& name, const TensorType& type) {
  TensorInfo info{name, type.dtype, {}};
  for (const Dim& dim : type.shape) {
    const auto active = find_active_extent(dim.symbols());
    info.shape.push_back((active ? dim.substitute(*active, active->bounds().hi) : dim).to_string());
  }
  return info;
}

template <typename Slots>
std::vector<TensorInfo> describe(const Slots& slots) {
  std::vector<TensorInfo> infos;
  for (const auto& slot : slots) infos.push_back(describe(slot.name, slot.type));
  return infos;
}

// `extents`: of its memory.
MemoryUse memory_of(const char* role, const program::IoSlot& slot,
                    std::span<const int64_t> extents) {
  return {fmt::format("{} \"{}\"", role, slot.name),
          runtime::dense_bytes(slot.type.dtype, extents).take()};
}

const program::ParamSlot& param_slot(const program::Program& program, const std::string& name) {
  for (const program::ParamSlot& slot : program.params) {
    if (slot.name == name) return slot;
  }
  throw user_error("the model has no parameter \"{}\"", name);
}

std::vector<int64_t> extents_of(const program::ParamSlot& slot) {
  std::vector<int64_t> extents;
  for (const Dim& dim : slot.type.shape) extents.push_back(dim.is_const() ? dim.const_value() : -1);
  return extents;
}

}  // namespace

compiled::Exclusive::Exclusive(std::atomic<Use>& use) : use_(use) {
  Use seen = Use::None;
  while (!use_.compare_exchange_weak(seen, Use::Call, std::memory_order_acquire)) {
    if (seen == Use::Call)
      throw user_error(
          "[run] this CompiledGraph is in use by another thread: one thread at a time may use it; "
          "clone() it for others");
    if (seen == Use::Drain) use_.wait(Use::Drain, std::memory_order_acquire);
    seen = Use::None;
  }
}

CompiledGraph::Impl::Impl(std::shared_ptr<const program::Program> of, Device on,
                          std::unique_ptr<runtime::Executor> executor)
    : program(std::move(of)),
      device(on),
      block(*program),
      loaded(std::move(executor)),
      inputs(program->inputs.size()),
      outputs(program->outputs.size()),
      rows(*program) {
  serve_rows({});
}

runtime::Executor& CompiledGraph::Impl::executor() {
  if (!loaded && is_available(device))
    throw user_error("[run] the graph was compiled for compute capability {}.{}, which {} has not",
                     program->cuda_arch / 10, program->cuda_arch % 10, to_string(device));
  if (!loaded)
    throw user_error("[run] {} is not available: {}", to_string(device), why_unavailable(device));
  return *loaded;
}

CompiledGraph::CompiledGraph(std::unique_ptr<Impl> impl) : impl_(std::move(impl)) {}
CompiledGraph::~CompiledGraph() = default;
CompiledGraph::CompiledGraph(CompiledGraph&&) noexcept = default;
CompiledGraph& CompiledGraph::operator=(CompiledGraph&&) noexcept = default;

CompiledGraph::Impl& CompiledGraph::impl() const {
  if (!impl_) throw user_error("this CompiledGraph was moved from: there is nothing in it");
  return *impl_;
}

CompiledGraph CompiledGraph::clone() const {
  Impl& from = impl();
  const Impl::Settled settled(from);
  std::unique_ptr<runtime::Executor> executor;
  if (from.loaded) {
    auto stream = runtime::open_stream(device_id(from.device), thread_pool()).take();
    executor = from.loaded->clone(std::move(stream)).take();
  }
  auto copy = std::make_unique<Impl>(from.program, from.device, std::move(executor));
  copy->name = from.name;
  copy->stats = from.stats;
  copy->fusion = from.fusion;
  copy->dispatch = from.dispatch;
  copy->extents = from.extents;
  copy->specializer = from.specializer;
  copy->asked_to_specialize = from.asked_to_specialize;
  copy->rows = from.rows;
  copy->active = from.active;
  copy->make_active = from.make_active;
  copy->shared_params = from.shared_params;
  return CompiledGraph(std::move(copy));
}

void CompiledGraph::set_threads(int threads) {
  Impl& impl = this->impl();
  const Impl::Settled settled(impl);
  if (threads < 1) throw user_error("[set_threads] {} threads: at least 1 is needed", threads);
  impl.executor().set_threads(threads);
}

void CompiledGraph::set_param(const std::string& name, const TensorView& value) {
  Impl& impl = this->impl();
  compiled::check_known(value.dtype, "parameter", name);
  if (value.elements >= 0) return set_elements(name, value);
  const Impl::Settled settled(impl);
  if (!value.capacity.empty() && value.capacity != value.shape) {
    throw user_error("[set_param] \"{}\": the value must be dense", name);
  }
  impl.set_param(name, value.dtype, value.shape, value.data);
}

void CompiledGraph::set_elements(const std::string& name, const TensorView& value) {
  const DType dtype = param_slot(*impl().program, name).type.dtype;
  if (!value.data && value.elements > 0)
    throw user_error("parameter \"{}\": the value has no data", name);
  const std::span<const std::byte> given(
      static_cast<const std::byte*>(value.data),
      static_cast<size_t>(value.elements * size_of(value.dtype)));
  if (value.dtype != DType::F32 || dtype == DType::F32)
    return set_param_typed(name, given, value.dtype);
  const std::span<const float> floats(static_cast<const float*>(value.data),
                                      static_cast<size_t>(value.elements));
  set_param_typed(name, compiled::from_f32(dtype, floats), dtype);
}

void CompiledGraph::set_param_typed(const std::string& name, std::span<const std::byte> bytes,
                                    DType dtype) {
  Impl& impl = this->impl();
  const Impl::Settled settled(impl);
  compiled::check_known(dtype, "parameter", name);
  const program::ParamSlot& slot = param_slot(*impl.program, name);
  const Dim needed = slot.type.bytes();
  if (dtype == slot.type.dtype && !needed.is_const(static_cast<int64_t>(bytes.size()))) {
    throw user_error("parameter \"{}\" is {} and needs {} bytes ({} elements), but {} are given",
                     name, slot.type.to_string(), needed.to_string(),
                     slot.type.shape.elements().to_string(), bytes.size());
  }
  impl.set_param(name, dtype, extents_of(slot), bytes.data());
}

int64_t CompiledGraph::peak_bytes(const DimBinding& extents) {
  Impl& impl = this->impl();
  const Impl::Settled settled(impl);
  auto values = extents.values();
  if (find_active_extent(impl.program->symbols))
    values.insert_or_assign(std::string(kActiveExtent), impl.rows.computed());
  return impl.executor().peak_bytes(values).take();
}

std::vector<MemoryUse> CompiledGraph::memory_of(const NamedInputs& inputs) {
  Impl& impl = this->impl();
  const Impl::Settled settled(impl);
  runtime::Executor& executor = impl.executor();
  compiled::collect_inputs(impl.program->inputs, impl.rows.input_shapes(), inputs,
                           executor.handles(), impl.inputs);
  for (size_t i = 0; i < impl.inputs.size(); ++i) {
    impl.inputs[i].data = nullptr;  // nobody reads it
    impl.inputs[i] = impl.rows.input(i, impl.inputs[i]);
    impl.inputs[i].data = &impl;
  }
  executor.bind(impl.inputs).throw_if_error();
  impl.rows.resolve(impl.inputs);
  std::vector<MemoryUse> uses;
  for (size_t i = 0; i < impl.inputs.size(); ++i) {
    const bool held = impl.program->inputs[i].state.has_value();
    uses.push_back(tenon::memory_of("input", impl.program->inputs[i],
                                    held ? impl.inputs[i].capacity : impl.inputs[i].shape));
  }
  for (size_t i = 0; i < impl.outputs.size(); ++i) {
    if (impl.program->outputs[i].late >= 0) continue;  // only the run knows
    const auto all_rows = impl.rows.full_extents(i);
    uses.push_back(tenon::memory_of(
        "output", impl.program->outputs[i],
        all_rows.empty() ? executor.output_extents(static_cast<int>(i)) : all_rows));
  }
  uses.push_back({"the arena", executor.measure_arena().take()});
  return uses;
}

std::vector<TensorInfo> CompiledGraph::inputs() const { return describe(impl().program->inputs); }
std::vector<TensorInfo> CompiledGraph::outputs() const { return describe(impl().program->outputs); }
std::vector<TensorInfo> CompiledGraph::params() const { return describe(impl().program->params); }

std::vector<DimInfo> CompiledGraph::dims() const {
  std::vector<DimInfo> infos;
  for (const Symbol& symbol : impl().program->symbols) {
    if (symbol.name() == kActiveExtent) continue;
    infos.push_back({symbol.name(), symbol.bounds().lo, symbol.bounds().hi});
  }
  return infos;
}

Device CompiledGraph::device() const { return impl().device; }
int CompiledGraph::threads() const { return impl().executor().threads(); }
const CompileStats& CompiledGraph::stats() const { return impl().stats; }
const FusionReport& CompiledGraph::fusion_report() const { return impl().fusion; }
const DispatchReport& CompiledGraph::dispatch_report() const { return impl().dispatch; }

SpecializationStats CompiledGraph::specialization_stats() const {
  const Impl& impl = this->impl();
  if (impl.specializer) return impl.specializer->stats();
  if (!impl.asked_to_specialize) return {.off = "it was not asked for"};
  return {.off = compiled::why_not_special(*impl.program)};
}

void CompiledGraph::wait_for_specialization() const {
  if (impl().specializer) impl().specializer->wait();
}

double CompiledGraph::flops_of_last_run() const {
  return static_cast<double>(impl().executor().flops());
}
int64_t CompiledGraph::arena_bytes() const { return impl().executor().arena_bytes(); }

}  // namespace tenon
