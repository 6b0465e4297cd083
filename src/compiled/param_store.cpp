// ParamStore: see tenon/param_store.h. Graphs look at its version when a run begins; values are
// taken where they lie, and what is made of them is shared like that of any weights.
#include "tenon/param_store.h"

#include <fmt/ranges.h>

#include <algorithm>
#include <cstring>

#include "base/error.h"
#include "compiled/impl.h"
#include "compiled/known_dtype.h"
#include "compiled/param_values.h"
#include "runtime/io_view.h"

namespace tenon {
namespace {

using compiled::StoredParam;

std::string type_text(const StoredParam& value) {
  if (value.shape)
    return fmt::format("{}[{}]", to_string(value.dtype), fmt::join(*value.shape, ", "));
  return fmt::format("{} bytes of {}", value.value.bytes.size(), to_string(value.dtype));
}

bool same_type(const StoredParam& a, const StoredParam& b) {
  return a.dtype == b.dtype && a.value.bytes.size() == b.value.bytes.size() &&
         (!a.shape || !b.shape || a.shape == b.shape);
}

bool fits(const StoredParam& value, const TensorType& type) {
  if (value.dtype != type.dtype) return false;
  if (!type.bytes().is_const(static_cast<int64_t>(value.value.bytes.size()))) return false;
  if (!value.shape) return true;
  const auto same = [](const Dim& dim, int64_t extent) { return dim.is_const(extent); };
  return std::ranges::equal(type.shape, *value.shape, same);
}

runtime::HostValue copied(std::span<const std::byte> bytes) {
  auto block = std::make_shared<runtime::MemoryBlock>();
  block->reserve(static_cast<int64_t>(bytes.size()), "a parameter").throw_if_error();
  if (!bytes.empty()) std::memcpy(block->data(), bytes.data(), bytes.size());
  return {{block->data(), bytes.size()}, block, runtime::unique_recipe()};
}

}  // namespace

void ParamStore::Impl::set(const std::string& name, DType dtype,
                           std::optional<std::vector<int64_t>> shape,
                           std::span<const std::byte> bytes) {
  if (!bytes.data() && !bytes.empty())
    throw user_error("parameter \"{}\": the value has no data", name);
  StoredParam fresh{dtype, std::move(shape), copied(bytes)};
  const std::lock_guard lock(mutex);
  const auto [at, absent] = values.try_emplace(name);
  if (!absent && !same_type(at->second, fresh)) {
    throw user_error("[ParamStore] \"{}\" is {}, but the value is {}", name, type_text(at->second),
                     type_text(fresh));
  }
  if (!absent && !fresh.shape) fresh.shape = std::move(at->second.shape);
  at->second = std::move(fresh);
  version.fetch_add(1, std::memory_order_release);
}

void ParamStore::Impl::check_fits(const std::vector<program::ParamSlot>& slots) const {
  for (const auto& [name, value] : values) {
    const auto slot = std::ranges::find(slots, name, &program::ParamSlot::name);
    if (slot == slots.end())
      throw user_error("[use_params] the model has no parameter \"{}\"", name);
    if (!fits(value, slot->type)) {
      throw user_error("[use_params] parameter \"{}\" is {}, but the store's is {}", name,
                       slot->type.to_string(), type_text(value));
    }
  }
}

ParamStore::ParamStore() : impl_(std::make_shared<Impl>()) {}

ParamStore::ParamStore(const NamedInputs& values) : ParamStore() {
  for (const auto& [name, value] : values) set(name, value);
}

void ParamStore::set(const std::string& name, const TensorView& value) {
  if (!value.capacity.empty() && value.capacity != value.shape)
    throw user_error("[ParamStore] \"{}\": the value must be dense", name);
  compiled::check_known(value.dtype, "parameter", name);
  const bool has_shape = value.elements < 0;
  const int64_t bytes = has_shape ? runtime::dense_bytes(value.dtype, value.shape).take()
                                  : value.elements * size_of(value.dtype);
  impl_->set(name, value.dtype, has_shape ? std::optional(value.shape) : std::nullopt,
             {static_cast<const std::byte*>(value.data), static_cast<size_t>(bytes)});
}

void ParamStore::set_typed(const std::string& name, std::span<const std::byte> bytes, DType dtype) {
  compiled::check_known(dtype, "parameter", name);
  impl_->set(name, dtype, std::nullopt, bytes);
}

bool ParamStore::contains(const std::string& name) const {
  const std::lock_guard lock(impl_->mutex);
  return impl_->values.contains(name);
}

std::vector<std::string> ParamStore::names() const {
  const std::lock_guard lock(impl_->mutex);
  std::vector<std::string> names;
  for (const auto& [name, value] : impl_->values) names.push_back(name);
  return names;
}

size_t ParamStore::bytes() const {
  const std::lock_guard lock(impl_->mutex);
  size_t sum = 0;
  for (const auto& [name, value] : impl_->values) sum += value.value.bytes.size();
  return sum;
}

void CompiledGraph::use_params(const ParamStore& store) {
  Impl& impl = this->impl();
  const Impl::Settled settled(impl);
  static_cast<void>(impl.executor());
  Impl::SharedParams shared{store, {}, 0};
  {
    const std::lock_guard lock(store.impl_->mutex);
    store.impl_->check_fits(impl.program->params);
    for (const auto& [name, value] : store.impl_->values) shared.names.push_back(name);
  }
  impl.shared_params = std::move(shared);
  impl.take_shared_params();
}

void CompiledGraph::Impl::take_shared_params() {
  if (!shared_params) return;
  const ParamStore::Impl& store = *shared_params->store.impl_;
  if (store.version.load(std::memory_order_acquire) == shared_params->version) return;
  executor().wait().throw_if_error();  // what is under way reads the values before
  const std::lock_guard lock(store.mutex);
  for (const std::string& name : shared_params->names)
    executor().hold_param(name, store.values.at(name).value).throw_if_error();
  shared_params->version = store.version.load(std::memory_order_relaxed);
}

void CompiledGraph::Impl::set_param(const std::string& name, DType dtype,
                                    const std::vector<int64_t>& shape, const void* data) {
  const bool is_shared =
      shared_params && std::ranges::find(shared_params->names, name) != shared_params->names.end();
  if (!is_shared) return executor().set_param(name, dtype, shape, data).throw_if_error();
  executor().check_param(name, dtype, shape).throw_if_error();
  const int64_t bytes = runtime::dense_bytes(dtype, shape).take();
  shared_params->store.impl_->set(
      name, dtype, shape, {static_cast<const std::byte*>(data), static_cast<size_t>(bytes)});
}

}  // namespace tenon
