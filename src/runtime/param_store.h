// The weights of a program: parameters as given (in the mapped model file, on the device, or a copy
// of what the user set), constants, and the packed buffers that the prologue makes of them. Apart
// from the arena: it outlives runs and shapes. What is made of the same values is shared, also
// between programs (weight_pool.h); what a store sets, it alone has.
#pragma once

#include <memory>
#include <span>
#include <string_view>
#include <vector>

#include "base/result.h"
#include "program/program.h"
#include "runtime/device.h"
#include "runtime/memory_block.h"
#include "runtime/packing.h"
#include "runtime/weight_pool.h"

namespace tenon::runtime {

// A value in memory of the host's that stays as it is, and the recipe that no other value has.
struct HostValue {
  std::span<const std::byte> bytes;
  std::shared_ptr<const void> owner;
  Digest recipe;
};

class ParamStore {
 public:
  // `program` and `stream` must outlive the store.
  static Result<ParamStore> make(const program::Program& program, DeviceStream& stream,
                                 std::shared_ptr<const LoadedCode> code);
  // Another one of the same program and device, with the same values.
  ParamStore share(DeviceStream& stream);

  // Copies the value. Holds from the next run, which packs what is made of it.
  Status set(std::string_view name, DType dtype, std::span<const int64_t> shape, const void* data);
  // Likewise, without a copy where the device shares our memory. The value is of the right type.
  Status hold(std::string_view name, const HostValue& value);
  // An error where `set` would not take a value of this type.
  Status check(std::string_view name, DType dtype, std::span<const int64_t> shape) const;
  // From here on the values that were set in `other`, a store of the same device, for parameters
  // of the same name and type. Nothing is copied.
  void take_set(ParamStore& other);
  // Everything is where kernels can read it, or an error says which parameter was never set.
  // `prologue` has run the steps that it gets when it returns. What comes from a file and is read
  // for the first time is compared with its digests, by at most `threads` threads.
  using Prologue = FunctionRef<Status(std::span<const program::Step>)>;
  Status make_ready(int threads, Prologue prologue);

  // Addresses on the device, when ready.
  const void* param(int index) const { return params_[static_cast<size_t>(index)].value.data; }
  const void* constant(int index) const { return constants_[static_cast<size_t>(index)]; }
  void* packed(int index) const {
    const Packing::Place place = packing_->place(index);
    return packed_[static_cast<size_t>(place.unit)]->data() + place.offset;
  }
  bool was_set(int index) const { return params_[static_cast<size_t>(index)].value.was_set; }
  // The value where it lies in memory of the host; empty where only the device has it.
  std::span<const std::byte> source(int index) const {
    return params_[static_cast<size_t>(index)].value.source;
  }
  int64_t param_bytes() const { return param_bytes_; }
  int64_t packed_bytes() const { return packing_->bytes(); }

  // Grows with every set(): addresses taken before are stale.
  uint64_t version() const { return version_; }

 private:
  // In memory of the host (`source`) or set by copying: read there, or uploaded.
  struct Value {
    const void* data = nullptr;  // on the device; null: not there yet
    Digest recipe;
    std::span<const std::byte> source;
    std::shared_ptr<const void> owner;
    std::shared_ptr<WeightBuffer> uploaded = {};
    std::shared_ptr<MemoryBlock> copy = {};
    bool shared = false;  // another store may read the copy
    bool was_set = false;
    bool is_initial = false;  // the program's
  };
  struct Param {
    Value value;
    int64_t bytes = 0;
    bool is_read = false;  // by a step of the prologue or of a run
    bool prologue_only = true;
  };

  ParamStore(const program::Program& program, DeviceStream& stream,
             std::shared_ptr<const LoadedCode> code)
      : program_(&program),
        stream_(&stream),
        memory_(stream.lasting_memory()),
        code_(std::move(code)),
        packing_(std::make_shared<const Packing>(program)) {}
  Result<size_t> find(std::string_view name) const;
  Status add_params();
  void find_readers();
  // An error where one of these is not what its digests say.
  Status check_sources(const std::vector<bool>& params, int threads) const;
  std::vector<bool> params_of(std::span<const program::Step> steps) const;
  Status upload(int threads);
  Status check_set() const;
  // The prologue has run: parameters that no step of a run reads give their file pages back.
  void release_sources();

  const program::Program* program_;
  DeviceStream* stream_;
  std::shared_ptr<Memory> memory_;  // of copies: outlives the stream
  std::shared_ptr<const LoadedCode> code_;
  std::shared_ptr<const Packing> packing_;
  std::vector<Param> params_;
  std::vector<const void*> constants_;  // null: not there yet
  WeightBuffers uploaded_constants_;
  WeightBuffers packed_;
  uint64_t packed_version_ = 0;  // of the values that packed_ is made of
  int64_t param_bytes_ = 0;
  uint64_t version_ = 1;
};

}  // namespace tenon::runtime
