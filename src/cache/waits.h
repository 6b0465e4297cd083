// Who waits for whom, over all caches of the process: threads that would wait for each other for
// ever are told so instead.
#pragma once

#include <atomic>
#include <thread>

namespace tenon::cache {

// While it lives, this thread waits for `maker`, or has not noticed yet that what it waits for has
// `ended`. A User error where the maker waits, by way of others maybe, for this thread.
class Wait {
 public:
  Wait(std::thread::id maker, const std::atomic<bool>& ended);
  ~Wait();
  Wait(const Wait&) = delete;
  Wait& operator=(const Wait&) = delete;
};

}  // namespace tenon::cache
