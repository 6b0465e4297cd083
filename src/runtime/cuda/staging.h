// Pinned host memory through which inputs and outputs pass: the device copies from and to it beside
// the host's own work. It is in slots, used one after the other; an event says when the device is
// done with one, then what arrived there is handed on and the slot is free. Slots are made when
// none is free, up to a limit, since pinned memory is taken from everybody; and kept.
#pragma once

#include <cstdint>
#include <span>
#include <vector>

#include "base/result.h"
#include "base/thread_pool.h"
#include "runtime/cuda/event.h"
#include "runtime/cuda/gpu.h"

namespace tenon::runtime::cuda {

// Where a part of a copy to the host goes on to: to memory, or to the end of a vector.
struct Destination {
  std::byte* memory = nullptr;
  std::vector<std::byte>* appended_to = nullptr;
};

class Staging {
 public:
  static constexpr int64_t kSlotBytes = int64_t{2} << 20, kMostSlots = 32;

  // `pool`: threads for copies by the host; null: the caller's alone.
  Staging(const Gpu& gpu, ThreadPool* pool) : gpu_(gpu), pool_(pool) {}
  ~Staging();
  Staging(const Staging&) = delete;
  Staging& operator=(const Staging&) = delete;

  // Memory for the next part of a copy of `bytes`: as much as the present slot has room for. What
  // was taken before has been asked of the stream. Waits where the limit is reached, for the oldest
  // slot alone.
  Result<std::span<std::byte>> take(int64_t bytes, void* stream);
  // What the device copies to `part` goes on to there.
  void expect(std::span<const std::byte> part, const Destination& to);
  // Waits for what the device copies, but for the present slot, and hands it on as it arrives.
  Status hand_on();
  // The stream has been synchronized: hands on the rest.
  void finish();
  void forget();  // nothing is expected any more, nor used by the device

  // By several threads where it pays.
  void copy(std::byte* to, const std::byte* from, int64_t bytes) const;

 private:
  struct Arrival {
    Destination to;
    std::span<const std::byte> part;
  };
  struct Slot {
    std::byte* memory;
    Event done;
    int64_t used = 0;
    std::vector<Arrival> arrivals = {};
  };

  Status open_slot(void* stream);
  Status add_slot();
  void hand_on_oldest();
  void free_oldest();

  const Gpu& gpu_;
  ThreadPool* pool_;
  std::vector<Slot> in_use_;  // the oldest first; events of all but the last are recorded
  std::vector<Slot> free_;
};

}  // namespace tenon::runtime::cuda
