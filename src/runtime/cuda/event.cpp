#include "runtime/cuda/event.h"

namespace tenon::runtime::cuda {
namespace {

constexpr unsigned kTimed = 0, kWithoutClock = 2;  // of cuEventCreate

}  // namespace

Result<Event> Event::make(const Gpu& gpu, Clock clock) {
  const Current current(gpu);
  void* event = nullptr;
  const unsigned flags = clock == Clock::Timed ? kTimed : kWithoutClock;
  const Status status =
      gpu.driver().check(gpu.driver().event_create(&event, flags), "cuEventCreate");
  if (!status.ok()) return status.error();
  return Event(gpu, event);
}

Event& Event::operator=(Event&& other) noexcept {
  std::swap(gpu_, other.gpu_);
  std::swap(event_, other.event_);
  return *this;
}

Event::~Event() {
  if (!event_) return;
  const Current current(*gpu_);
  gpu_->driver().event_destroy(event_);
}

Status Event::record(void* stream) {
  const Current current(*gpu_);
  return gpu_->driver().check(gpu_->driver().event_record(event_, stream), "cuEventRecord");
}

// What went wrong before it is told by whoever waits.
bool Event::reached() const {
  const Current current(*gpu_);
  return gpu_->driver().event_query(event_) == kSuccess;
}

Status Event::wait() const {
  const Current current(*gpu_);
  return gpu_->driver().check(gpu_->driver().event_synchronize(event_), "cuEventSynchronize");
}

double Event::milliseconds_since(const Event& earlier) const {
  const Current current(*gpu_);
  float milliseconds = 0;
  gpu_->driver().event_elapsed(&milliseconds, earlier.event_, event_);
  return milliseconds;
}

}  // namespace tenon::runtime::cuda
