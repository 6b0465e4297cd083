// See bytes.h.
#include "cache/bytes.h"

#include <algorithm>
#include <cstring>
#include <new>

#include "base/error.h"

namespace tenon::cache {

Digest chunk_digest(std::span<const std::byte> bytes, size_t chunk) {
  const size_t begin = chunk * kChunkBytes;
  return Hasher().bytes(bytes.subspan(begin, std::min(kChunkBytes, bytes.size() - begin))).finish();
}

std::shared_ptr<std::byte> aligned_memory(size_t bytes) {
  constexpr std::align_val_t kAlignment{kBytesAlignment};
  auto* memory = static_cast<std::byte*>(::operator new(std::max<size_t>(bytes, 1), kAlignment));
  return {memory, [](std::byte* first) { ::operator delete(first, kAlignment); }};
}

Bytes::Bytes(std::span<const std::byte> copied) : size_(copied.size()) {
  std::shared_ptr<std::byte> memory = aligned_memory(size_);
  if (size_ > 0) std::memcpy(memory.get(), copied.data(), size_);
  first_ = std::move(memory);
}

Bytes::Bytes(std::shared_ptr<const std::byte> first, size_t size, std::vector<Digest> digests)
    : first_(std::move(first)),
      size_(size),
      digests_(std::make_shared<const std::vector<Digest>>(std::move(digests))) {
  TENON_CHECK(digests_->size() == chunks(), "[cache] {} digests of {} chunks", digests_->size(),
              chunks());
}

bool Bytes::verify_chunk(size_t chunk) const {
  TENON_CHECK(chunk < chunks(), "[cache] chunk {} of {}", chunk, chunks());
  return !digests_ || chunk_digest(data(), chunk) == (*digests_)[chunk];
}

bool Bytes::verify_first(uint64_t bytes) {
  const size_t end = chunks_of(std::min<uint64_t>(bytes, size_));
  for (; verified_chunks_ < end; ++verified_chunks_) {
    if (!verify_chunk(verified_chunks_)) return false;
  }
  return true;
}

}  // namespace tenon::cache
