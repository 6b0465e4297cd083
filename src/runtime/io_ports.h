// Where kernels find the inputs and outputs of a run: in the caller's memory, if the device can use
// it; else in memory of the device, copied to before the run and from after it.
#pragma once

#include <span>
#include <vector>

#include "base/result.h"
#include "program/program.h"
#include "runtime/device.h"
#include "runtime/io_view.h"
#include "runtime/memory_block.h"

namespace tenon::runtime {

class IoPorts {
 public:
  IoPorts(const program::Program& program, DeviceStream& stream);

  void* input(int index) const { return inputs_[static_cast<size_t>(index)].device; }
  void* output(int index) const { return outputs_[static_cast<size_t>(index)].device; }

  // Notes where they are; reads and reserves nothing.
  Status bind_inputs(std::span<const IoView> inputs);
  Status copy_in();
  // Memory for each that is not late. What the views show must live until finish, their shapes need
  // not.
  Status bind_outputs(std::span<const IoView> outputs);
  // Begins to copy what the run wrote, but for late outputs.
  Status copy_out();
  // Begins to copy a late output, which lies dense at `from`.
  Status copy_late(int index, const void* from, const IoView& view);
  // Some output of a run that was begun is yet to be copied from here, by finish.
  bool holds_outputs() const;
  // The stream has been synchronized: outputs are the caller's.
  void finish();
  void forget();  // what was begun is not wanted any more

 private:
  struct Port {
    void* device = nullptr;
    IoView host = {};                      // data: null where nothing is to be copied
    std::vector<int64_t> shape, capacity;  // of what is held: the caller's may change
    int64_t bytes = 0;                     // of memory, gaps included
    MemoryBlock block;                     // on the device
    MemoryBlock with_gaps;  // outputs: on the host, before what is in their gaps is left out
    bool spread = false;    // it is to be copied from there
    bool dense = false;     // where it has no gaps
  };

  Status bind(Port& port, const IoView& view);
  Result<void*> hold(Port& port, const IoView& view, int64_t bytes, bool dense);

  const program::Program* program_;
  DeviceStream* stream_;
  std::vector<Port> inputs_, outputs_;
};

}  // namespace tenon::runtime
