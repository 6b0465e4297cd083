// The machine's limit for what is bound by memory: streams of f32 read and written by a loop of
// almost nothing else, independent of the compiler.
#pragma once

#include <cstdint>

#include "runtime/memory_block.h"

namespace tenon::bench {

// What a kernel moves: streams read in step with each other, and perhaps one written, past the
// caches or through them.
enum class Store : unsigned char { None, Cached, Streamed };
struct Traffic {
  int reads = 1;  // 1 to 3
  Store store = Store::None;
};

// Its streams, `megabytes` in all, stay where they are from one measurement to the next.
class BandwidthProbe {
 public:
  BandwidthProbe(const Traffic& traffic, int megabytes);
  // GB/s of one thread over that time (reads and writes counted once each, what a cached store
  // fetches first not counted).
  double measure(double seconds) const;

 private:
  Traffic traffic_;
  int64_t bytes_;
  runtime::MemoryBlock memory_;
};

}  // namespace tenon::bench
