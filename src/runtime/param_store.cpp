// See param_store.h.
#include "runtime/param_store.h"

#include <fmt/ranges.h>

#include "program/check_params.h"
#include "runtime/cpu/release_pages.h"

namespace tenon::runtime {
namespace {

// Of a value that came with a program. Who holds what is made of it holds its owner: where it has
// none, the program.
Digest recipe_of(const program::Program& program, const program::ParamSlot& slot) {
  const auto number = [](const void* address) {
    return static_cast<int64_t>(reinterpret_cast<uintptr_t>(address));
  };
  return Hasher()
      .text("value")
      .number(number(slot.initial.data()))
      .number(static_cast<int64_t>(slot.initial.size()))
      .number(number(slot.owner ? slot.owner.get() : &program))
      .finish();
}

// Values that are to be copied to a device.
struct Uploads {
  std::vector<std::span<const std::byte>> sources;
  std::vector<WeightRecipe> recipes;

  void add(const Digest& value, std::span<const std::byte> bytes,
           std::shared_ptr<const void> owner) {
    const Digest recipe =
        Hasher().text("upload").bytes(std::as_bytes(std::span(value.bytes))).finish();
    sources.push_back(bytes);
    recipes.push_back({recipe, static_cast<int64_t>(bytes.size()), {std::move(owner)}});
  }

  Result<WeightBuffers> perform(DeviceStream& stream, const std::shared_ptr<Memory>& memory) const {
    WeightBuffers buffers;
    if (Status status = obtain_weights(recipes, memory, buffers); !status.ok())
      return status.error();
    const Status status = fill_weights(buffers, [&](const std::vector<bool>& empty) -> Status {
      for (size_t i = 0; i < sources.size(); ++i) {
        const auto bytes = static_cast<int64_t>(sources[i].size());
        if (!empty[i]) continue;
        if (Status copied = stream.copy_in(buffers[i]->data(), sources[i].data(), bytes);
            !copied.ok())
          return copied;
      }
      return stream.synchronize();  // other streams may read them from here on
    });
    if (!status.ok()) return status.error();
    return buffers;
  }
};

}  // namespace

Result<ParamStore> ParamStore::make(const program::Program& program, DeviceStream& stream,
                                    std::shared_ptr<const LoadedCode> code) {
  ParamStore store(program, stream, std::move(code));
  if (Status status = store.add_params(); !status.ok()) return status.error();
  for (const program::ConstantSlot& slot : program.constants) {
    store.constants_.push_back(stream.shares_host_memory() ? slot.bytes.data() : nullptr);
  }
  store.find_readers();
  return store;
}

Status ParamStore::add_params() {
  for (const program::ParamSlot& slot : program_->params) {
    const Dim bytes = slot.type.bytes();
    if (!bytes.is_const()) {
      return unsupported_error("parameter \"{}\" has a symbolic shape: {}", slot.name,
                               slot.type.to_string());
    }
    if (!slot.initial.empty() && static_cast<int64_t>(slot.initial.size()) != bytes.const_value()) {
      return user_error("parameter \"{}\" is {} and needs {} bytes, but its data has {}", slot.name,
                        slot.type.to_string(), bytes.const_value(), slot.initial.size());
    }
    const bool in_place = stream_->shares_host_memory() && !slot.initial.empty();
    params_.push_back({.value = {.data = in_place ? slot.initial.data() : nullptr,
                                 .recipe = recipe_of(*program_, slot),
                                 .source = slot.initial,
                                 .owner = slot.owner,
                                 .is_initial = true},
                       .bytes = bytes.const_value()});
    param_bytes_ += bytes.const_value();
  }
  return {};
}

void ParamStore::find_readers() {
  const auto read_by_a_run = [&](const program::BufferRef& ref) {
    const program::BufferRef root = root_of(*program_, ref);
    if (root.kind != program::BufferKind::Param) return;
    Param& param = params_[static_cast<size_t>(root.index)];
    param.is_read = true;
    param.prologue_only = false;
  };
  for (const program::Step& step : program_->steps) {
    for (const program::BufferRef& ref : step.buffers) read_by_a_run(ref);
  }
  for (const program::HostStep& step : program_->host_steps) {
    for (const auto& operand : step.operands) read_by_a_run(operand.buffer);
  }
  for (const program::IoSlot& output : program_->outputs) {
    if (output.late >= 0) read_by_a_run({program::BufferKind::Arena, output.late});
  }
  const std::vector<bool> packed = params_of(program_->prologue);
  for (size_t i = 0; i < params_.size(); ++i) params_[i].is_read |= packed[i];
}

std::vector<bool> ParamStore::params_of(std::span<const program::Step> steps) const {
  std::vector<bool> read(params_.size());
  for (const program::Step& step : steps) {
    for (const program::BufferRef& ref : step.buffers) {
      const program::BufferRef root = root_of(*program_, ref);
      if (root.kind == program::BufferKind::Param) read[static_cast<size_t>(root.index)] = true;
    }
  }
  return read;
}

Status ParamStore::check_sources(const std::vector<bool>& params, int threads) const {
  std::vector<const program::ParamSlot*> slots;
  for (size_t i = 0; i < params_.size(); ++i) {
    if (params[i] && params_[i].value.is_initial) slots.push_back(&program_->params[i]);
  }
  return program::check_params(slots, threads);
}

ParamStore ParamStore::share(DeviceStream& stream) {
  for (Param& param : params_) param.value.shared = true;
  ParamStore other = *this;
  other.stream_ = &stream;
  return other;
}

Result<size_t> ParamStore::find(std::string_view name) const {
  for (size_t i = 0; i < params_.size(); ++i) {
    if (program_->params[i].name == name) return i;
  }
  return user_error("the model has no parameter \"{}\"", name);
}

Status ParamStore::check(std::string_view name, DType dtype, std::span<const int64_t> shape) const {
  const auto index = find(name);
  if (!index) return index.error();
  const TensorType& type = program_->params[index.value()].type;
  bool same = dtype == type.dtype && static_cast<int>(shape.size()) == type.shape.rank();
  for (size_t axis = 0; same && axis < shape.size(); ++axis) {
    same = type.shape[static_cast<int>(axis)].is_const(shape[axis]);
  }
  if (same) return {};
  return user_error("parameter \"{}\" is {}, but the value is {}[{}]", name, type.to_string(),
                    to_string(dtype), fmt::join(shape, ", "));
}

Status ParamStore::hold(std::string_view name, const HostValue& given) {
  const auto index = find(name);
  if (!index) return index.error();
  Value& value = params_[index.value()].value;
  if (value.recipe == given.recipe) return {};
  const void* data = stream_->shares_host_memory() ? given.bytes.data() : nullptr;
  value = {.data = data,
           .recipe = given.recipe,
           .source = given.bytes,
           .owner = given.owner,
           .was_set = true};
  ++version_;
  return {};
}

Status ParamStore::set(std::string_view name, DType dtype, std::span<const int64_t> shape,
                       const void* data) {
  if (Status status = check(name, dtype, shape); !status.ok()) return status;
  const size_t index = find(name).value();
  if (!data && params_[index].bytes > 0)
    return user_error("parameter \"{}\": the value has no data", name);
  Param& param = params_[index];
  std::shared_ptr<MemoryBlock> copy = param.value.copy;
  if (!copy || param.value.shared) copy = std::make_shared<MemoryBlock>(*memory_);
  if (Status status = copy->reserve(param.bytes, "a parameter"); !status.ok()) return status;
  if (Status status = stream_->copy_in(copy->data(), data, param.bytes); !status.ok())
    return status;
  const std::byte* at = copy->data();
  param.value = {.data = at, .recipe = unique_recipe(), .copy = std::move(copy), .was_set = true};
  ++version_;
  return {};
}

void ParamStore::take_set(ParamStore& other) {
  for (size_t i = 0; i < params_.size(); ++i) {
    const program::ParamSlot& slot = program_->params[i];
    for (size_t from = 0; from < other.params_.size(); ++from) {
      const program::ParamSlot& its = other.program_->params[from];
      Value& given = other.params_[from].value;
      if (!given.was_set || its.name != slot.name || its.type != slot.type) continue;
      given.shared = true;
      params_[i].value = given;
      ++version_;
    }
  }
}

Status ParamStore::upload(int threads) {
  Uploads params, constants;
  std::vector<Value*> wanted;
  std::vector<bool> checked(params_.size());
  for (size_t i = 0; i < params_.size(); ++i) {
    Value& value = params_[i].value;
    if (!params_[i].is_read || value.data || value.source.empty()) continue;
    params.add(value.recipe, value.source, value.owner);
    wanted.push_back(&value);
    checked[i] = true;
  }
  if (Status status = check_sources(checked, threads); !status.ok()) return status;
  auto buffers = params.perform(*stream_, memory_);
  if (!buffers) return buffers.error();
  for (size_t i = 0; i < wanted.size(); ++i) {
    wanted[i]->uploaded = std::move(buffers.value()[i]);
    wanted[i]->data = wanted[i]->uploaded->data();
  }
  if (!params.sources.empty()) cpu::release_file_pages(params.sources);
  if (!uploaded_constants_.empty()) return {};
  for (const program::ConstantSlot& slot : program_->constants)
    constants.add(Hasher().bytes(slot.bytes).finish(), slot.bytes, nullptr);
  buffers = constants.perform(*stream_, memory_);
  if (!buffers) return buffers.error();
  uploaded_constants_ = std::move(buffers.value());
  for (size_t i = 0; i < constants_.size(); ++i) constants_[i] = uploaded_constants_[i]->data();
  return {};
}

Status ParamStore::make_ready(int threads, Prologue prologue) {
  if (!stream_->shares_host_memory()) {
    if (Status status = upload(threads); !status.ok()) return status;
  }
  if (Status status = check_set(); !status.ok()) return status;
  std::vector<bool> read_by_runs;
  for (const Param& param : params_) read_by_runs.push_back(!param.prologue_only);
  if (Status status = check_sources(read_by_runs, threads); !status.ok()) return status;
  if (packed_version_ != version_) {
    packed_version_ = 0;
    std::vector<Digest> values;
    for (const Param& param : params_) values.push_back(param.value.recipe);
    const auto recipes = packing_->recipes(*code_, values);
    if (Status status = obtain_weights(recipes, memory_, packed_); !status.ok()) return status;
    packed_version_ = version_;
  }
  return fill_weights(packed_, [&](const std::vector<bool>& empty) {
    const std::vector<program::Step> steps = packing_->steps_for(empty);
    if (Status status = check_sources(params_of(steps), threads); !status.ok()) return status;
    Status status = prologue(steps);
    if (status.ok()) release_sources();
    return status;
  });
}

Status ParamStore::check_set() const {
  for (size_t i = 0; i < params_.size(); ++i) {
    const Value& value = params_[i].value;
    if (!value.data && value.source.empty() && params_[i].bytes > 0) {
      return user_error("parameter \"{}\" is not set: call set_param before the first run",
                        program_->params[i].name);
    }
  }
  return {};
}

void ParamStore::release_sources() {
  if (!stream_->shares_host_memory()) return;  // the upload did
  std::vector<std::span<const std::byte>> unneeded;
  for (const Param& param : params_) {
    if (param.prologue_only && !param.value.source.empty()) unneeded.push_back(param.value.source);
  }
  if (!unneeded.empty()) cpu::release_file_pages(unneeded);
}

}  // namespace tenon::runtime
