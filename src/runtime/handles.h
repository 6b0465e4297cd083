// Handles: values of inputs that stay on the device from run to run (a KV cache, the moments of an
// optimizer). A state is written by runs where it lies; any other handle may be fed by an output,
// which the next run reads where this one wrote it. Clones and forks share memory until one of them
// writes: that one copies what counts.
#pragma once

#include <atomic>
#include <functional>
#include <memory>
#include <span>
#include <vector>

#include "base/result.h"
#include "program/program.h"
#include "runtime/device.h"
#include "runtime/io_view.h"
#include "runtime/memory_block.h"

namespace tenon::runtime {

struct HandleMemory {
  explicit HandleMemory(std::shared_ptr<Memory> of) : memory(std::move(of)), block(*memory) {}
  std::shared_ptr<Memory> memory;  // of the device; outlives the block
  MemoryBlock block;
};

// A tensor of a device. Copies have the same memory.
struct HandleValue {
  std::shared_ptr<HandleMemory> memory;  // none: there is no value
  DType dtype = DType::F32;
  std::vector<int64_t> shape;
  std::vector<int64_t> capacity;  // larger than the shape along the axis of a state only
  explicit operator bool() const { return memory != nullptr; }
  IoView view() const { return {memory->block.data(), dtype, shape, capacity, true}; }
};

class Handles {
 public:
  Handles(const program::Program& program, DeviceStream& stream);  // which outlive it
  void copy_from(const Handles& other);                            // values and feeds, for a clone
  void clear();

  // A copy of dense memory of the host's; or the value itself, of the same device.
  Status bind(int input, const IoView& value);
  Status bind(int input, const HandleValue& value);
  void unbind(int input) { at(input).value = {}; }
  bool is_bound(int input) const { return static_cast<bool>(at(input).value); }
  const HandleValue& value(int input) const { return at(input).value; }
  Result<std::vector<std::byte>> read(int input);  // dense
  // Keeps the first so many rows: along the axis of a state, else along the outermost.
  Status trim(int input, int64_t length);
  // From the next run on the output is the handle's value; -1: it is fed no more.
  Status feed(int input, int output);
  bool is_fed_by(int output) const;
  int feeds() const { return feeds_; }
  bool change() const;  // whether a run gives some of them another value

  IoView shown(int input) const { return at(input).value.view(); }
  // Before a run is shown them: states that it writes and that others have, too, are copied.
  Status own_states();
  Result<IoView> view(int input);  // shown, and its own
  // Outputs as the run writes them: those that feed handles into memory of theirs. Outputs whose
  // extents only the run knows feed nothing.
  using ExtentsOf = std::function<std::span<const int64_t>(int output)>;
  Result<std::span<const IoView>> redirect(std::span<const IoView> outputs,
                                           const ExtentsOf& extents);
  // The run has ended well: states are as long as it made them, what was fed is there.
  using LengthOf = std::function<int64_t(int input)>;
  void advance(const LengthOf& length);
  void take_back();  // as before the last advance, which no other call came after

 private:
  struct Handle {
    HandleValue value;
    int fed_by = -1;
    HandleValue next;           // what feeds it, while a run writes it
    int64_t length_before = 0;  // of a state, before the last run
  };
  // The dense pieces of a tensor's memory: `count` of them, `stride` bytes apart.
  struct Pieces {
    int64_t count = 1, stride = 0, bytes = 0;
  };

  Handle& at(int input) { return handles_[static_cast<size_t>(input)]; }
  const Handle& at(int input) const { return handles_[static_cast<size_t>(input)]; }
  const program::IoSlot& slot(int input) const {
    return program_->inputs[static_cast<size_t>(input)];
  }
  Status check(int input, DType dtype, std::span<const int64_t> shape) const;
  Status own(int input);
  Status check_feed(int input, int output) const;
  size_t axis_of(int input) const;  // along which it grows and is trimmed
  Pieces pieces_of(int input, std::span<const int64_t> shape) const;
  // Memory for a value of this shape, that nobody else has.
  Status make_room(int input, std::span<const int64_t> shape, HandleValue& value) const;
  static bool is_shared(const HandleValue& value);

  const program::Program* program_;
  DeviceStream* stream_;
  std::vector<Handle> handles_;  // of every input
  std::vector<IoView> redirected_;
  std::vector<bool> written_;  // per input: a state that runs write
  int feeds_ = 0;
};

}  // namespace tenon::runtime
