// CompiledGraph: names to slots, views to the runtime's views, its errors to exceptions. Everything
// else is the executor's. One thread at a time: an atomic flag turns a concurrent call into an
// error instead of a race.
#include <fmt/ranges.h>

#include "base/error.h"
#include "compiled/impl.h"
#include "runtime/run_owned.h"

namespace tenon {
namespace {

using runtime::IoView;

// Held while a call uses the executor.
class Exclusive {
 public:
  explicit Exclusive(std::atomic<bool>& busy) : busy_(busy) {
    if (busy_.exchange(true, std::memory_order_acquire)) {
      throw user_error(
          "[run] this CompiledGraph is in use by another thread: one thread at a time may use it");
    }
  }
  ~Exclusive() { busy_.store(false, std::memory_order_release); }
  Exclusive(const Exclusive&) = delete;
  Exclusive& operator=(const Exclusive&) = delete;

 private:
  std::atomic<bool>& busy_;
};

template <typename Slots>
std::string names(const Slots& slots) {
  std::vector<std::string> list;
  for (const auto& slot : slots) list.push_back("\"" + slot.name + "\"");
  return fmt::format("{}", fmt::join(list, ", "));
}

template <typename View>
[[noreturn]] void report_names(const char* role, const std::vector<program::IoSlot>& slots,
                               const std::map<std::string, View>& given) {
  for (const auto& [name, view] : given) {
    const auto known = [&](const program::IoSlot& slot) { return slot.name == name; };
    if (std::none_of(slots.begin(), slots.end(), known)) {
      throw user_error("unknown {} \"{}\"; the model's {}s are {}", role, name, role, names(slots));
    }
  }
  for (const program::IoSlot& slot : slots) {
    if (!given.contains(slot.name)) {
      throw user_error("missing {} \"{}\" {}; the model's {}s are {}", role, slot.name,
                       slot.type.to_string(), role, names(slots));
    }
  }
  throw internal_error("[run] {} names do not match", role);
}

// The views in the order of the slots. Allocates nothing.
template <typename View>
void collect(const char* role, const std::vector<program::IoSlot>& slots,
             const std::map<std::string, View>& given, std::vector<IoView>& views) {
  bool complete = given.size() == slots.size();
  for (size_t i = 0; complete && i < slots.size(); ++i) {
    const auto found = given.find(slots[i].name);
    complete = found != given.end();
    if (!complete) break;
    const View& view = found->second;
    views[i] = {const_cast<void*>(static_cast<const void*>(view.data)), view.dtype, view.shape,
                view.capacity};
  }
  if (!complete) report_names(role, slots, given);
}

std::vector<TensorInfo> describe(const std::vector<program::IoSlot>& slots) {
  std::vector<TensorInfo> infos;
  for (const program::IoSlot& slot : slots) {
    TensorInfo& info = infos.emplace_back(TensorInfo{slot.name, slot.type.dtype, {}});
    for (const Dim& dim : slot.type.shape) info.shape.push_back(dim.to_string());
  }
  return infos;
}

runtime::RunOptions runtime_options(const RunOptions& options) {
  if (options.memory_limit < 0)
    throw user_error("[run] a memory limit of {} bytes makes no sense", options.memory_limit);
  return {.stop = options.stop, .memory_limit = options.memory_limit};
}

MemoryUse memory_of(const char* role, const program::IoSlot& slot,
                    std::span<const int64_t> extents) {
  return {fmt::format("{} \"{}\"", role, slot.name),
          runtime::dense_bytes(slot.type.dtype, extents).take()};
}

}  // namespace

runtime::Executor& CompiledGraph::Impl::executor() {
  if (!loaded)
    throw user_error("[run] {} is not available: {}", to_string(device), why_unavailable(device));
  return *loaded;
}

CompiledGraph::CompiledGraph(std::unique_ptr<Impl> impl) : impl_(std::move(impl)) {}
CompiledGraph::~CompiledGraph() = default;
CompiledGraph::CompiledGraph(CompiledGraph&&) noexcept = default;
CompiledGraph& CompiledGraph::operator=(CompiledGraph&&) noexcept = default;

std::vector<OwnedTensor> CompiledGraph::run(const NamedInputs& inputs, const RunOptions& options) {
  Impl& impl = *impl_;
  const Exclusive exclusive(impl.busy);
  runtime::Executor& executor = impl.executor();
  collect("input", impl.program->inputs, inputs, impl.inputs);
  auto ran = runtime::run_owned(executor, impl.inputs, runtime_options(options));
  if (!ran && executor.cancelled()) throw Cancelled();
  std::vector<runtime::OwnedOutput> outputs = ran.take();
  std::vector<OwnedTensor> results;
  for (size_t i = 0; i < outputs.size(); ++i) {
    const program::IoSlot& slot = impl.program->outputs[i];
    results.push_back(
        {slot.name, slot.type.dtype, std::move(outputs[i].shape), std::move(outputs[i].bytes)});
  }
  return results;
}

void CompiledGraph::run_into(const NamedInputs& inputs, const NamedOutputs& outputs,
                             const RunOptions& options) {
  Impl& impl = *impl_;
  const Exclusive exclusive(impl.busy);
  runtime::Executor& executor = impl.executor();
  collect("input", impl.program->inputs, inputs, impl.inputs);
  collect("output", impl.program->outputs, outputs, impl.outputs);
  executor.bind(impl.inputs).throw_if_error();
  const Status status = executor.execute(impl.outputs, runtime_options(options));
  if (!status.ok() && executor.cancelled()) throw Cancelled();
  status.throw_if_error();
}

int64_t CompiledGraph::peak_bytes(const std::map<std::string, int64_t>& extents) {
  const Exclusive exclusive(impl_->busy);
  return impl_->executor().peak_bytes(extents).take();
}

std::vector<MemoryUse> CompiledGraph::memory_of(const NamedInputs& inputs) {
  Impl& impl = *impl_;
  const Exclusive exclusive(impl.busy);
  runtime::Executor& executor = impl.executor();
  collect("input", impl.program->inputs, inputs, impl.inputs);
  for (IoView& view : impl.inputs) view.data = &impl;  // nobody reads it
  executor.bind(impl.inputs).throw_if_error();
  std::vector<MemoryUse> uses;
  for (size_t i = 0; i < impl.inputs.size(); ++i) {
    uses.push_back(tenon::memory_of("input", impl.program->inputs[i], impl.inputs[i].shape));
  }
  for (size_t i = 0; i < impl.outputs.size(); ++i) {
    if (impl.program->outputs[i].late >= 0) continue;  // only the run knows
    uses.push_back(tenon::memory_of("output", impl.program->outputs[i],
                                    executor.output_extents(static_cast<int>(i))));
  }
  uses.push_back({"the arena", executor.measure_arena().take()});
  return uses;
}

void CompiledGraph::set_threads(int threads) {
  const Exclusive exclusive(impl_->busy);
  if (threads < 1) throw user_error("[set_threads] {} threads: at least 1 is needed", threads);
  impl_->executor().set_threads(threads);
}

void CompiledGraph::set_param(const std::string& name, const TensorView& value) {
  const Exclusive exclusive(impl_->busy);
  if (!value.capacity.empty() && value.capacity != value.shape) {
    throw user_error("[set_param] \"{}\": the value must be dense", name);
  }
  impl_->executor().set_param(name, value.dtype, value.shape, value.data).throw_if_error();
}

std::vector<TensorInfo> CompiledGraph::inputs() const { return describe(impl_->program->inputs); }
std::vector<TensorInfo> CompiledGraph::outputs() const { return describe(impl_->program->outputs); }

std::vector<DimInfo> CompiledGraph::dims() const {
  std::vector<DimInfo> infos;
  for (const Symbol& symbol : impl_->program->symbols) {
    infos.push_back({symbol.name(), symbol.bounds().lo, symbol.bounds().hi});
  }
  return infos;
}

Device CompiledGraph::device() const { return impl_->device; }
int CompiledGraph::threads() const { return impl_->executor().threads(); }
const CompileStats& CompiledGraph::stats() const { return impl_->stats; }
double CompiledGraph::flops_of_last_run() const {
  return static_cast<double>(impl_->executor().flops());
}
int64_t CompiledGraph::arena_bytes() const { return impl_->executor().arena_bytes(); }

void OwnedTensor::check_dtype(DType wanted) const {
  if (wanted != dtype)
    throw user_error("\"{}\" is {}, not {}", name, to_string(dtype), to_string(wanted));
}

}  // namespace tenon
