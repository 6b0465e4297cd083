// See waits.h. A thread waits for one at a time.
#include "cache/waits.h"

#include <map>
#include <mutex>

#include "base/error.h"

namespace tenon::cache {
namespace {

struct Awaited {
  std::thread::id maker;
  const std::atomic<bool>& ended;
};
struct Waits {
  std::mutex mutex;
  std::map<std::thread::id, Awaited> awaited;  // by who waits
};

Waits& waits() {
  static Waits& all = *new Waits;  // threads may be waiting when the process ends
  return all;
}

}  // namespace

Wait::Wait(std::thread::id maker, const std::atomic<bool>& ended) {
  Waits& all = waits();
  const std::lock_guard lock(all.mutex);
  const std::thread::id self = std::this_thread::get_id();
  for (std::thread::id on = maker;;) {
    if (on == self)
      throw user_error("[cache] what makes an entry needs that same entry to be made first");
    const auto next = all.awaited.find(on);
    if (next == all.awaited.end() || next->second.ended) break;
    on = next->second.maker;
  }
  all.awaited.emplace(self, Awaited{maker, ended});
}

Wait::~Wait() {
  Waits& all = waits();
  const std::lock_guard lock(all.mutex);
  all.awaited.erase(std::this_thread::get_id());
}

}  // namespace tenon::cache
