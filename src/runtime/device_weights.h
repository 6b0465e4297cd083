// A program's parameters as they came with it, and its constants, in the memory of a device that
// does not share the host's: uploaded once per device, shared by all executors of the program.
#pragma once

#include <memory>
#include <vector>

#include "base/result.h"
#include "program/program.h"
#include "runtime/device.h"
#include "runtime/memory_block.h"

namespace tenon::runtime {

class DeviceWeights {
 public:
  // `program` must live as long as what this gives.
  static Result<std::shared_ptr<const DeviceWeights>> of(const program::Program& program,
                                                         DeviceStream& stream);

  // Null where the program has no value of it, or an empty one.
  void* param(int index) const { return params_[static_cast<size_t>(index)]; }
  void* constant(int index) const { return constants_[static_cast<size_t>(index)]; }

 private:
  explicit DeviceWeights(std::shared_ptr<Memory> memory)
      : memory_(std::move(memory)), block_(*memory_) {}
  Status upload(const program::Program& program, DeviceStream& stream);

  std::shared_ptr<Memory> memory_;
  MemoryBlock block_;
  std::vector<void*> params_, constants_;
};

}  // namespace tenon::runtime
