// A place in the work of a stream that one can wait for, and whose time is known when the stream
// has come to it.
#pragma once

#include <utility>

#include "base/result.h"
#include "runtime/cuda/gpu.h"
#include "runtime/timeline.h"

namespace tenon::runtime::cuda {

class Event {
 public:
  enum class Clock { None, Timed };

  static Result<Event> make(const Gpu& gpu, Clock clock);  // which must outlive it
  Event(Event&& other) noexcept : gpu_(other.gpu_), event_(std::exchange(other.event_, nullptr)) {}
  Event& operator=(Event&& other) noexcept;
  ~Event();

  Status record(void* stream);  // here, from now on
  bool reached() const;
  Status wait() const;
  double milliseconds_since(const Event& earlier) const;  // both Timed and reached

 private:
  Event(const Gpu& gpu, void* event) : gpu_(&gpu), event_(event) {}
  const Gpu* gpu_;
  void* event_;
};

class EventMoment : public Moment {
 public:
  explicit EventMoment(Event event) : event_(std::move(event)) {}
  double milliseconds_since(const Moment& earlier) const override {
    return event_.milliseconds_since(static_cast<const EventMoment&>(earlier).event_);
  }

 private:
  Event event_;
};

}  // namespace tenon::runtime::cuda
