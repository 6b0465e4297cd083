// The weights of a program: parameters as given (in the mapped model file, on the device, or a copy
// of what the user set), constants, and the packed buffers that the prologue makes of them. Apart
// from the arena: it outlives runs and shapes. Stores may share values and packed buffers; what one
// of them sets, it alone has.
#pragma once

#include <functional>
#include <memory>
#include <span>
#include <string_view>
#include <vector>

#include "base/result.h"
#include "program/program.h"
#include "runtime/device.h"
#include "runtime/device_weights.h"
#include "runtime/memory_block.h"
#include "runtime/packed_weights.h"

namespace tenon::runtime {

class ParamStore {
 public:
  // `program` and `stream` must outlive the store.
  static Result<ParamStore> make(const program::Program& program, DeviceStream& stream);
  // Another one of the same program and device, with the same values.
  ParamStore share(DeviceStream& stream);

  // Copies the value. Holds from the next run, which repeats the prologue.
  Status set(std::string_view name, DType dtype, std::span<const int64_t> shape, const void* data);
  // Everything is where kernels can read it, or an error says which parameter was never set.
  // `prologue` fills the packed buffers, where they are not those of these values.
  Status make_ready(const std::function<Status()>& prologue);

  // Addresses on the device, when ready.
  const void* param(int index) const { return params_[static_cast<size_t>(index)].data; }
  const void* constant(int index) const { return constants_[static_cast<size_t>(index)]; }
  void* packed(int index) const { return packed_->at(index); }
  bool was_set(int index) const { return params_[static_cast<size_t>(index)].copy != nullptr; }
  int64_t param_bytes() const { return param_bytes_; }
  int64_t packed_bytes() const { return packed_->bytes(); }

  // Grows with every set(): addresses taken before are stale.
  uint64_t version() const { return version_; }

 private:
  struct Param {
    const void* data = nullptr;
    int64_t bytes = 0;
    std::shared_ptr<MemoryBlock> copy = {};  // of what the user set; on the device
    bool shared = false;                     // another store may read that copy
    bool prologue_only = true;
  };

  ParamStore(const program::Program& program, DeviceStream& stream)
      : program_(&program), stream_(&stream), memory_(stream.lasting_memory()) {}
  Status upload();
  Status check_set() const;
  Status own_packed();
  // The prologue has run: parameters that no step of a run reads give their file pages back.
  void release_sources();

  const program::Program* program_;
  DeviceStream* stream_;
  std::shared_ptr<Memory> memory_;  // of copies and packed buffers: outlives the stream
  std::shared_ptr<const DeviceWeights> uploaded_;  // where the device does not share our memory
  std::vector<Param> params_;
  std::vector<const void*> constants_;
  std::shared_ptr<PackedWeights> packed_;
  bool packed_shared_ = false;  // another store may read them
  int64_t param_bytes_ = 0;
  uint64_t version_ = 1;
};

}  // namespace tenon::runtime
