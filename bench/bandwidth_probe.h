// The machine's limit for what is bound by memory: streams of f32 read and written by a loop of
// almost nothing else, independent of the compiler.
#pragma once

namespace tenon::bench {

// What a kernel moves: streams read in step with each other, and perhaps one written, past the
// caches or through them.
enum class Store : unsigned char { None, Cached, Streamed };
struct Traffic {
  int reads = 1;  // 1 to 3
  Store store = Store::None;
};

// GB/s of one thread (reads and writes counted once each, what a cached store fetches first not
// counted): the best sweep over `megabytes` in all streams together within `seconds`.
double measure_bandwidth(const Traffic& traffic, int megabytes, double seconds);

}  // namespace tenon::bench
