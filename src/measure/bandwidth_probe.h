// The machine's limit for what is bound by memory: streams of f32 read and written by a loop of
// almost nothing else, independent of the compiler.
#pragma once

#include <cstdint>
#include <vector>

namespace tenon::measure {

enum class Store : unsigned char { None, Cached, Streamed };  // Streamed: past the caches

// What a kernel moves: streams of f32 read in step with each other, and perhaps one written. They
// are the kernel's own inputs and output, since the rate depends on where pages lie in memory.
struct Traffic {
  std::vector<const float*> reads;  // 1 to 3, on cache lines
  float* write = nullptr;           // of Store::None: not used
  Store store = Store::None;
  int64_t count = 0;  // floats of each
};

// GB/s of one thread over that time (reads and writes counted once each, what a cached store
// fetches first not counted).
double measure_bandwidth(const Traffic& traffic, double seconds);

// GB/s of a loop that only reads, from memory of the kind that weights have.
double read_rate();

}  // namespace tenon::measure
