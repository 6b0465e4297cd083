// See param_store.h.
#include "runtime/param_store.h"

#include <fmt/ranges.h>

#include "runtime/cpu/release_pages.h"

namespace tenon::runtime {

Result<ParamStore> ParamStore::make(const program::Program& program, DeviceStream& stream) {
  ParamStore store(program, stream);
  const bool in_place = stream.shares_host_memory();
  for (const program::ParamSlot& slot : program.params) {
    const Dim bytes = slot.type.bytes();
    if (!bytes.is_const()) {
      return unsupported_error("parameter \"{}\" has a symbolic shape: {}", slot.name,
                               slot.type.to_string());
    }
    if (!slot.initial.empty() && static_cast<int64_t>(slot.initial.size()) != bytes.const_value()) {
      return user_error("parameter \"{}\" is {} and needs {} bytes, but its data has {}", slot.name,
                        slot.type.to_string(), bytes.const_value(), slot.initial.size());
    }
    Param& param = store.params_.emplace_back();
    param.data = in_place && !slot.initial.empty() ? slot.initial.data() : nullptr;
    param.bytes = bytes.const_value();
    store.param_bytes_ += param.bytes;
  }
  for (const program::ConstantSlot& slot : program.constants) {
    store.constants_.push_back(in_place ? slot.bytes.data() : nullptr);
  }
  const auto read_by_a_run = [&](const program::BufferRef& ref) {
    const program::BufferRef root = root_of(program, ref);
    if (root.kind == program::BufferKind::Param) store.params_[root.index].prologue_only = false;
  };
  for (const program::Step& step : program.steps) {
    for (const program::BufferRef& ref : step.buffers) read_by_a_run(ref);
  }
  for (const program::HostStep& step : program.host_steps) {
    for (const auto& operand : step.operands) read_by_a_run(operand.buffer);
  }
  for (const program::IoSlot& output : program.outputs) {
    if (output.late >= 0) read_by_a_run({program::BufferKind::Arena, output.late});
  }
  auto packed = PackedWeights::make(program, store.memory_);
  if (!packed) return packed.error();
  store.packed_ = std::move(packed.value());
  return store;
}

ParamStore ParamStore::share(DeviceStream& stream) {
  packed_shared_ = true;
  for (Param& param : params_) param.shared = true;
  ParamStore other = *this;
  other.stream_ = &stream;
  return other;
}

// Packed buffers that no other store reads.
Status ParamStore::own_packed() {
  if (!packed_shared_) {
    packed_->outdate();
    return {};
  }
  auto packed = PackedWeights::make(*program_, memory_);
  if (!packed) return packed.error();
  packed_ = std::move(packed.value());
  packed_shared_ = false;
  return {};
}

Status ParamStore::set(std::string_view name, DType dtype, std::span<const int64_t> shape,
                       const void* data) {
  size_t index = 0;
  while (index < params_.size() && program_->params[index].name != name) ++index;
  if (index == params_.size()) return user_error("the model has no parameter \"{}\"", name);
  const TensorType& type = program_->params[index].type;
  bool same = dtype == type.dtype && static_cast<int>(shape.size()) == type.shape.rank();
  for (size_t axis = 0; same && axis < shape.size(); ++axis) {
    same = type.shape[static_cast<int>(axis)].is_const(shape[axis]);
  }
  if (!same) {
    return user_error("parameter \"{}\" is {}, but the value is {}[{}]", name, type.to_string(),
                      to_string(dtype), fmt::join(shape, ", "));
  }
  if (!data && params_[index].bytes > 0)
    return user_error("parameter \"{}\": the value has no data", name);
  Param& param = params_[index];
  std::shared_ptr<MemoryBlock> copy = param.copy;
  if (!copy || param.shared) copy = std::make_shared<MemoryBlock>(*memory_);
  if (Status status = copy->reserve(param.bytes, "a parameter"); !status.ok()) return status;
  if (Status status = stream_->copy_in(copy->data(), data, param.bytes); !status.ok())
    return status;
  if (Status status = own_packed(); !status.ok()) return status;
  param.data = copy->data();
  param.copy = std::move(copy);
  param.shared = false;
  ++version_;
  return {};
}

Status ParamStore::upload() {
  auto weights = DeviceWeights::of(*program_, *stream_);
  if (!weights) return weights.error();
  uploaded_ = std::move(weights.value());
  for (size_t i = 0; i < params_.size(); ++i) {
    if (!params_[i].data) params_[i].data = uploaded_->param(static_cast<int>(i));
  }
  for (size_t i = 0; i < constants_.size(); ++i) {
    constants_[i] = uploaded_->constant(static_cast<int>(i));
  }
  return {};
}

Status ParamStore::make_ready(const std::function<Status()>& prologue) {
  if (!uploaded_ && !stream_->shares_host_memory()) {
    if (Status status = upload(); !status.ok()) return status;
  }
  if (Status status = check_set(); !status.ok()) return status;
  return packed_->make_once([&] {
    if (Status status = prologue(); !status.ok()) return status;
    release_sources();
    return stream_->synchronize();  // other streams may read them from now on
  });
}

Status ParamStore::check_set() const {
  for (size_t i = 0; i < params_.size(); ++i) {
    if (!params_[i].data && params_[i].bytes > 0) {
      return user_error("parameter \"{}\" is not set: call set_param before the first run",
                        program_->params[i].name);
    }
  }
  return {};
}

void ParamStore::release_sources() {
  if (!stream_->shares_host_memory()) return;  // the upload did
  std::vector<std::span<const std::byte>> unneeded;
  for (size_t i = 0; i < params_.size(); ++i) {
    if (params_[i].prologue_only && !params_[i].copy)
      unneeded.push_back(program_->params[i].initial);
  }
  if (!unneeded.empty()) cpu::release_file_pages(unneeded);
}

}  // namespace tenon::runtime
