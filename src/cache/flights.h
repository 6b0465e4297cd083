// Single flight: of the threads that need one thing that is absent, one makes it and the others
// wait for it. Things of other keys are made meanwhile.
#pragma once

#include <unistd.h>

#include <algorithm>
#include <atomic>
#include <condition_variable>
#include <memory>
#include <mutex>
#include <optional>
#include <thread>
#include <vector>

#include "base/function_ref.h"
#include "cache/waits.h"

namespace tenon::cache {

template <typename Key, typename Value>
class Flights {
 public:
  // What `make` gives, or gave to the thread that was first. A `make` that throws throws to its own
  // caller; who waited for it tries itself. `make` looks first whether the thing is there by now.
  // Threads that would wait for each other for ever, or for themselves, get a User error: also
  // where the things are of several caches.
  Value run(const Key& key, FunctionRef<Value()> make) {
    std::unique_lock lock(mutex_);
    while (const std::shared_ptr<Flight> other = find(key)) {
      wait_for(*other, lock);
      if (other->value) return *other->value;
    }
    const auto mine = std::make_shared<Flight>(key, std::this_thread::get_id());
    flights_.push_back(mine);
    lock.unlock();
    const End end{*this, *mine};
    mine->value = make();  // read by others after `end` only
    return *mine->value;
  }

 private:
  struct Flight {
    Flight(const Key& k, std::thread::id by) : key(k), maker(by) {}
    const Key key;
    const std::thread::id maker;
    const pid_t process = getpid();
    std::optional<Value> value;  // none after the end: `make` threw
    std::atomic<bool> ended = false;
  };
  struct End {
    ~End() {
      const std::lock_guard lock(flights.mutex_);
      flight.ended = true;
      std::erase_if(flights.flights_, [&](const auto& other) { return other.get() == &flight; });
      flights.ended_.notify_all();
    }
    Flights& flights;
    Flight& flight;
  };

  // Makers are in this process: those that it was forked from are not here.
  std::shared_ptr<Flight> find(const Key& key) const {
    const auto at = std::ranges::find_if(flights_, [&](const auto& flight) {
      return flight->key == key && flight->process == getpid();
    });
    return at == flights_.end() ? nullptr : *at;
  }

  void wait_for(const Flight& flight, std::unique_lock<std::mutex>& lock) {
    const Wait wait(flight.maker, flight.ended);
    ended_.wait(lock, [&] { return flight.ended.load(); });
  }

  std::mutex mutex_;
  std::condition_variable ended_;
  std::vector<std::shared_ptr<Flight>> flights_;
};

}  // namespace tenon::cache
