// A bounded cache of immutable values by text keys. A value that is absent is made once: whoever
// asks first makes it while the others wait. The oldest goes first; those who hold a value keep it.
#pragma once

#include <condition_variable>
#include <cstdint>
#include <deque>
#include <functional>
#include <memory>
#include <mutex>
#include <string>
#include <unordered_map>

namespace tenon {

template <typename T>
class SingleFlightCache {
 public:
  using Pointer = std::shared_ptr<const T>;
  explicit SingleFlightCache(size_t capacity) : capacity_(capacity) {}  // 0: nothing is kept

  // A `make` that throws leaves the cache as it was: its caller gets the exception, and a waiter
  // tries itself.
  Pointer get(const std::string& key, const std::function<Pointer()>& make) {
    if (capacity_ == 0) return count(make());
    std::unique_lock lock(mutex_);
    while (true) {
      const auto [at, absent] = entries_.try_emplace(key);
      if (absent) break;
      if (at->second) return at->second;
      done_.wait(lock);  // being made; it may also have failed and be gone
    }
    lock.unlock();
    Pointer value;
    try {
      value = make();
    } catch (...) {
      lock.lock();
      entries_.erase(key);
      done_.notify_all();
      throw;
    }
    lock.lock();
    entries_[key] = value;
    order_.push_back(key);
    if (order_.size() > capacity_) {
      entries_.erase(order_.front());
      order_.pop_front();
    }
    ++made_;
    done_.notify_all();
    return value;
  }

  size_t size() const {
    const std::lock_guard lock(mutex_);
    return order_.size();
  }
  int64_t made() const {  // by all calls so far
    const std::lock_guard lock(mutex_);
    return made_;
  }

 private:
  Pointer count(Pointer value) {
    const std::lock_guard lock(mutex_);
    ++made_;
    return value;
  }

  const size_t capacity_;
  mutable std::mutex mutex_;
  std::condition_variable done_;
  std::unordered_map<std::string, Pointer> entries_;  // null: being made
  std::deque<std::string> order_;                     // of insertion
  int64_t made_ = 0;
};

}  // namespace tenon
