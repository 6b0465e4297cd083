// Handles of a CompiledGraph: names to inputs, errors to exceptions. What they do is
// runtime/handles.h.
#include "base/error.h"
#include "compiled/impl.h"
#include "tenon/compiled_graph.h"

namespace tenon {

struct Handle::Impl {
  runtime::HandleValue value;
};

const Handle::Impl& Handle::impl() const {
  if (!impl_) throw user_error("this Handle was moved from: there is nothing in it");
  return *impl_;
}

DType Handle::dtype() const { return impl().value.dtype; }
const std::vector<int64_t>& Handle::shape() const { return impl().value.shape; }

namespace {

std::optional<int> find(const std::vector<program::IoSlot>& slots, const std::string& name) {
  for (size_t i = 0; i < slots.size(); ++i) {
    if (slots[i].name == name) return static_cast<int>(i);
  }
  return std::nullopt;
}

int input_of(const program::Program& program, const char* call, const std::string& name) {
  const auto input = find(program.inputs, name);
  if (!input) throw user_error("[{}] the model has no input \"{}\"", call, name);
  return *input;
}

int bound_input(const program::Program& program, const runtime::Handles& handles, const char* call,
                const std::string& name) {
  const int input = input_of(program, call, name);
  if (!handles.is_bound(input)) throw user_error("[{}] \"{}\" has no handle", call, name);
  return input;
}

}  // namespace

void CompiledGraph::bind_handle(const std::string& name, const TensorView& value) {
  Impl& impl = this->impl();
  const Impl::Settled settled(impl);
  const int input = input_of(*impl.program, "bind_handle", name);
  const auto at = static_cast<size_t>(input);
  const runtime::IoView view =
      compiled::input_view(value, impl.program->inputs[at], impl.rows.input_shapes()[at]);
  impl.executor().handles().bind(input, view).throw_if_error();
}

void CompiledGraph::bind_handle(const std::string& name, const Handle& value) {
  Impl& impl = this->impl();
  const Impl::Settled settled(impl);
  const int input = input_of(*impl.program, "bind_handle", name);
  impl.executor().handles().bind(input, value.impl().value).throw_if_error();
}

void CompiledGraph::unbind_handle(const std::string& name) {
  Impl& impl = this->impl();
  const Impl::Settled settled(impl);
  impl.executor().handles().unbind(input_of(*impl.program, "unbind_handle", name));
}

bool CompiledGraph::has_handle(const std::string& name) const {
  Impl& impl = this->impl();
  const Impl::Settled settled(impl);
  const auto input = find(impl.program->inputs, name);
  return input && impl.executor().handles().is_bound(*input);
}

std::optional<OwnedTensor> CompiledGraph::read_handle(const std::string& name) {
  Impl& impl = this->impl();
  const Impl::Settled settled(impl);
  runtime::Handles& handles = impl.executor().handles();
  const auto input = find(impl.program->inputs, name);
  if (!input || !handles.is_bound(*input)) return std::nullopt;
  OwnedTensor result{name, handles.value(*input).dtype, handles.value(*input).shape, {}};
  result.bytes = handles.read(*input).take();
  return result;
}

Handle CompiledGraph::fork_handle(const std::string& name) {
  Impl& impl = this->impl();
  const Impl::Settled settled(impl);
  runtime::Handles& handles = impl.executor().handles();
  const int input = bound_input(*impl.program, handles, "fork_handle", name);
  return Handle(std::make_shared<const Handle::Impl>(Handle::Impl{handles.value(input)}));
}

void CompiledGraph::trim_handle(const std::string& name, int64_t length) {
  Impl& impl = this->impl();
  const Impl::Settled settled(impl);
  runtime::Handles& handles = impl.executor().handles();
  const int input = bound_input(*impl.program, handles, "trim_handle", name);
  handles.trim(input, length).throw_if_error();
}

void CompiledGraph::set_handle_feed(const std::string& name,
                                    const std::optional<std::string>& output) {
  Impl& impl = this->impl();
  const Impl::Settled settled(impl);
  const int input = input_of(*impl.program, "set_handle_feed", name);
  std::optional<int> from = -1;
  if (output) from = find(impl.program->outputs, *output);
  if (!from) throw user_error("[set_handle_feed] the model has no output \"{}\"", *output);
  impl.executor().handles().feed(input, *from).throw_if_error();
}

std::vector<float> CompiledGraph::run_feed_handle(const NamedInputs& inputs,
                                                  const RunOptions& options) {
  std::vector<int> fed;
  {
    Impl& impl = this->impl();
    const Impl::Settled settled(impl);
    const runtime::Handles& handles = impl.executor().handles();
    for (size_t i = 0; i < impl.program->outputs.size(); ++i) {
      if (handles.is_fed_by(static_cast<int>(i))) fed.push_back(static_cast<int>(i));
    }
  }
  if (fed.size() != 1)
    throw user_error("[run_feed_handle] {} outputs feed handles, one is needed", fed.size());
  return run_read_outputs(inputs, fed, options)[0];
}

}  // namespace tenon
