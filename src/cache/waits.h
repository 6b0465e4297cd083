// Who waits for whom, over all caches of the process: threads that would wait for each other for
// ever are told so instead.
#pragma once

#include <thread>

namespace tenon::cache {

// While it lives, this thread waits for `maker`. A User error where that one waits, by way of
// others maybe, for this thread.
class Wait {
 public:
  explicit Wait(std::thread::id maker);
  ~Wait();
  Wait(const Wait&) = delete;
  Wait& operator=(const Wait&) = delete;
};

}  // namespace tenon::cache
