// The weights of a program: parameters as given (in the mapped model file, on the device, or a copy
// of what the user set), constants, and the packed buffers that the prologue makes of them. Apart
// from the arena: it outlives runs and shapes.
#pragma once

#include <memory>
#include <span>
#include <string_view>
#include <vector>

#include "base/result.h"
#include "program/program.h"
#include "runtime/device.h"
#include "runtime/device_weights.h"
#include "runtime/memory_block.h"

namespace tenon::runtime {

class ParamStore {
 public:
  // `program` and `stream` must outlive the store.
  static Result<ParamStore> make(const program::Program& program, DeviceStream& stream);

  // Copies the value. Holds from the next run, which repeats the prologue.
  Status set(std::string_view name, DType dtype, std::span<const int64_t> shape, const void* data);
  // Everything is where kernels can read it, or an error says which parameter was never set.
  Status make_ready();

  // Addresses on the device, when ready.
  const void* param(int index) const { return params_[static_cast<size_t>(index)].data; }
  const void* constant(int index) const { return constants_[static_cast<size_t>(index)]; }
  void* packed(int index) const {
    return packed_.data() + packed_offsets_[static_cast<size_t>(index)];
  }
  int64_t param_bytes() const { return param_bytes_; }
  int64_t packed_bytes() const { return packed_.size(); }

  // Grows with every set(): packed buffers made before are stale.
  uint64_t version() const { return version_; }
  // The prologue has run: parameters that no step of a run reads give their file pages back.
  void release_sources();

 private:
  struct Param {
    const void* data = nullptr;
    int64_t bytes = 0;
    MemoryBlock copy;  // of what the user set; on the device
    bool prologue_only = true;
  };

  ParamStore(const program::Program& program, DeviceStream& stream)
      : program_(&program), stream_(&stream), packed_(stream) {}
  Status upload();

  const program::Program* program_;
  DeviceStream* stream_;
  std::shared_ptr<const DeviceWeights> uploaded_;  // where the device does not share our memory
  std::vector<Param> params_;
  std::vector<const void*> constants_;
  MemoryBlock packed_;
  std::vector<int64_t> packed_offsets_;
  int64_t param_bytes_ = 0;
  uint64_t version_ = 1;
};

}  // namespace tenon::runtime
