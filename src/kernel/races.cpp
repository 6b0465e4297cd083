// See races.h.
#include "kernel/races.h"

namespace tenon::kernel {

bool Races::is_apart(const Touch& earlier, int64_t thread) const {
  if (earlier.block == kNone) return true;
  if (earlier.block != block_) return false;
  return earlier.epoch != epoch_ || (earlier.thread == thread && thread != kAll);
}

bool Races::load(int memory, int64_t at, int64_t thread) {
  Element& element = memory_[static_cast<size_t>(memory)].elements[static_cast<size_t>(at)];
  Touch& loaded = element.loaded;
  if (loaded.block == kNone) {
    loaded.block = block_;
  } else if (loaded.block != block_) {
    loaded.block = kAll;
  }
  loaded.thread = loaded.epoch == epoch_ && loaded.thread != thread ? kAll : thread;
  loaded.epoch = epoch_;
  return is_apart(element.stored, thread);
}

bool Races::store(int memory, int64_t at, int64_t thread) {
  Element& element = memory_[static_cast<size_t>(memory)].elements[static_cast<size_t>(at)];
  const bool sound = is_apart(element.stored, thread) && is_apart(element.loaded, thread);
  element.stored = {block_, epoch_, thread};
  return sound;
}

}  // namespace tenon::kernel
