// Races: who touched which element of the memory that threads share, since when. The interpreter
// runs the threads of a block one after the other; what would depend on that order on a GPU is
// found here: an element that one thread stores and another one touches without a barrier between
// them, or one that two blocks touch and one of them stores. Private to the interpreter.
#pragma once

#include <cstddef>
#include <cstdint>
#include <vector>

namespace tenon::kernel {

class Races {
 public:
  static constexpr int64_t kAll = -2;  // a thread: every thread of the block

  void watch(int64_t elements, bool of_block) {
    memory_.push_back({std::vector<Element>(static_cast<size_t>(elements)), of_block});
  }
  void begin_block() {
    ++block_, ++epoch_;
    for (Memory& memory : memory_) {
      if (memory.of_block) memory.elements.assign(memory.elements.size(), Element{});
    }
  }
  void barrier() { ++epoch_; }

  // Whether the access is sound; `memory` counts calls of watch.
  bool load(int memory, int64_t at, int64_t thread);
  bool store(int memory, int64_t at, int64_t thread);

 private:
  static constexpr int64_t kNone = -1;
  struct Touch {  // the last one; of several that differ: kAll
    int64_t block = kNone, epoch = kNone, thread = kNone;
  };
  struct Element {
    Touch stored, loaded;
  };
  struct Memory {
    std::vector<Element> elements;
    bool of_block;
  };
  bool is_apart(const Touch& earlier, int64_t thread) const;

  std::vector<Memory> memory_;
  int64_t block_ = 0, epoch_ = 0;
};

}  // namespace tenon::kernel
