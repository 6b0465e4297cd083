// The value of an entry: immutable bytes and what keeps them in memory, a mapped file or memory of
// their own. They stay valid when the entry is evicted. Large ones can be verified piece by piece,
// when a piece is first read.
#pragma once

#include <cstddef>
#include <cstdint>
#include <memory>
#include <span>
#include <vector>

#include "base/hash.h"

namespace tenon::cache {

inline constexpr size_t kChunkBytes = size_t{1} << 20;  // has a digest of its own
inline constexpr size_t kBytesAlignment = 64;           // of the first byte, at least

constexpr size_t chunks_of(uint64_t bytes) {
  return static_cast<size_t>(bytes / kChunkBytes + (bytes % kChunkBytes != 0 ? 1 : 0));
}
Digest chunk_digest(std::span<const std::byte> bytes, size_t chunk);

// Memory of that size, aligned.
std::shared_ptr<std::byte> aligned_memory(size_t bytes);

class Bytes {
 public:
  Bytes() = default;
  // What this process made: nothing is left to verify.
  explicit Bytes(std::span<const std::byte> copied);
  // What was read: `digests` of the chunks are known to be right, the bytes are not.
  Bytes(std::shared_ptr<const std::byte> first, size_t size, std::vector<Digest> digests);

  std::span<const std::byte> data() const { return {first_.get(), size_}; }

  size_t chunks() const { return chunks_of(size_); }
  // Whether the bytes from chunk * kChunkBytes on are those that were written. Each call reads
  // them, and any number of threads may call.
  bool verify_chunk(size_t chunk) const;
  // Whether the first `bytes` are; chunks that this found whole before are not read again.
  bool verify_first(uint64_t bytes);

 private:
  std::shared_ptr<const std::byte> first_;
  size_t size_ = 0;
  std::shared_ptr<const std::vector<Digest>> digests_;  // null: ours
  size_t verified_chunks_ = 0;
};

}  // namespace tenon::cache
