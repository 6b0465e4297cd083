// Bytes of a file that are compared with their digests when they are first read, and then no more.
// Each chunk has a digest of its own, so that threads can share the work.
#pragma once

#include <atomic>
#include <cstddef>
#include <span>
#include <string>
#include <vector>

#include "base/hash.h"

namespace tenon::program {

inline constexpr size_t kChunkBytes = size_t{1} << 20;
constexpr size_t count_chunks(size_t bytes) { return (bytes + kChunkBytes - 1) / kChunkBytes; }

// Of each chunk of each of them, in order. At most `threads` threads compute them; 0: all.
std::vector<Digest> chunk_digests(std::span<const std::span<const std::byte>> all, int threads);

class CheckedBytes {
 public:
  // count_chunks digests.
  CheckedBytes(std::span<const std::byte> bytes, std::vector<Digest> digests, std::string file)
      : bytes_(bytes), digests_(std::move(digests)), file_(std::move(file)) {}

  std::span<const std::byte> bytes() const { return bytes_; }
  std::span<const Digest> digests() const { return digests_; }
  const std::string& file() const { return file_; }

 private:
  friend const CheckedBytes* find_damaged(std::span<const CheckedBytes* const>, int);

  std::span<const std::byte> bytes_;
  std::vector<Digest> digests_;
  std::string file_;
  mutable std::atomic<bool> good_ = false;  // they were read, and are what they should be
};

// The first one that is not what its digests say; null: all are. Reads those that nobody has found
// good before. From many threads: the others wait.
const CheckedBytes* find_damaged(std::span<const CheckedBytes* const> all, int threads);

}  // namespace tenon::program
