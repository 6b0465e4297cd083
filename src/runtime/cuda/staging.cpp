// See staging.h.
#include "runtime/cuda/staging.h"

#include <algorithm>
#include <cstring>

namespace tenon::runtime::cuda {
namespace {

constexpr int64_t kAlignment = 256;
// One thread copies at a fraction of what the memory does.
constexpr int64_t kChunk = int64_t{256} << 10;
constexpr int kMostThreads = 4;

}  // namespace

Staging::~Staging() {
  const Current current(gpu_);
  for (const auto* slots : {&in_use_, &free_}) {
    for (const Slot& slot : *slots) gpu_.driver().host_free(slot.memory);
  }
}

Result<std::span<std::byte>> Staging::take(int64_t bytes, void* stream) {
  if (in_use_.empty() || in_use_.back().used == kSlotBytes) {
    if (Status status = open_slot(stream); !status.ok()) return status.error();
  }
  Slot& slot = in_use_.back();
  const int64_t size = std::min(bytes, kSlotBytes - slot.used);
  const std::span<std::byte> part(slot.memory + slot.used, static_cast<size_t>(size));
  slot.used += (size + kAlignment - 1) / kAlignment * kAlignment;
  return part;
}

void Staging::expect(std::span<const std::byte> part, const Destination& to) {
  in_use_.back().arrivals.push_back({to, part});
}

Status Staging::open_slot(void* stream) {
  if (!in_use_.empty()) {
    if (Status status = in_use_.back().done.record(stream); !status.ok()) return status;
  }
  if (static_cast<int64_t>(in_use_.size()) == kMostSlots) {
    if (Status status = in_use_.front().done.wait(); !status.ok()) return status;
  }
  while (!in_use_.empty() && in_use_.front().done.reached()) hand_on_oldest();
  if (free_.empty()) {
    if (Status status = add_slot(); !status.ok()) return status;
  }
  in_use_.push_back(std::move(free_.back()));
  free_.pop_back();
  return {};
}

Status Staging::add_slot() {
  const Current current(gpu_);
  auto done = Event::make(gpu_, Event::Clock::None);
  if (!done) return done.error();
  void* memory = nullptr;
  const int result = gpu_.driver().host_allocate(&memory, static_cast<size_t>(kSlotBytes), 0);
  if (result == kOutOfMemory)
    return user_error("out of memory: {} bytes of pinned host memory", kSlotBytes);
  if (Status status = gpu_.driver().check(result, "cuMemHostAlloc"); !status.ok()) return status;
  free_.push_back({static_cast<std::byte*>(memory), std::move(done.value())});
  return {};
}

void Staging::hand_on_oldest() {
  for (const auto& [to, part] : in_use_.front().arrivals) {
    if (to.appended_to) {
      to.appended_to->insert(to.appended_to->end(), part.begin(), part.end());
    } else {
      copy(to.memory, part.data(), static_cast<int64_t>(part.size()));
    }
  }
  free_oldest();
}

void Staging::free_oldest() {
  Slot& slot = in_use_.front();
  slot.arrivals.clear();
  slot.used = 0;
  free_.push_back(std::move(slot));
  in_use_.erase(in_use_.begin());
}

Status Staging::hand_on() {
  while (in_use_.size() > 1) {
    if (Status status = in_use_.front().done.wait(); !status.ok()) return status;
    hand_on_oldest();
  }
  return {};
}

void Staging::finish() {
  while (!in_use_.empty()) hand_on_oldest();
}

void Staging::forget() {
  while (!in_use_.empty()) free_oldest();
}

void Staging::copy(std::byte* to, const std::byte* from, int64_t bytes) const {
  const int threads = pool_ ? std::min(kMostThreads, pool_->max_threads()) : 1;
  if (threads == 1 || bytes < 2 * kChunk) {
    std::memcpy(to, from, static_cast<size_t>(bytes));
    return;
  }
  const auto copy_chunks = [&](int64_t begin, int64_t end, int /*worker*/) {
    const int64_t first = begin * kChunk, last = std::min(end * kChunk, bytes);
    std::memcpy(to + first, from + first, static_cast<size_t>(last - first));
  };
  pool_->parallel_for((bytes + kChunk - 1) / kChunk, threads, copy_chunks);
}

}  // namespace tenon::runtime::cuda
