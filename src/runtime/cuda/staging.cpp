// See staging.h.
#include "runtime/cuda/staging.h"

#include <algorithm>

namespace tenon::runtime::cuda {
namespace {

constexpr int64_t kAlignment = 64;
constexpr int64_t kSmallestChunk = int64_t{1} << 20;

}  // namespace

Result<std::byte*> Staging::take(int64_t bytes) {
  const int64_t size = (bytes + kAlignment - 1) / kAlignment * kAlignment;
  if (chunks_.empty() || chunks_.back().used + size > chunks_.back().size) {
    if (Status status = add_chunk(std::max({size, kSmallestChunk, most_taken_})); !status.ok())
      return status.error();
  }
  Chunk& chunk = chunks_.back();
  std::byte* piece = chunk.data + chunk.used;
  chunk.used += size;
  taken_ += size;
  most_taken_ = std::max(most_taken_, taken_);
  return piece;
}

// Several chunks become one the next time.
void Staging::take_back() {
  if (chunks_.size() > 1) free_all();
  if (!chunks_.empty()) chunks_[0].used = 0;
  taken_ = 0;
}

Status Staging::add_chunk(int64_t bytes) {
  const Current current(*gpu_);
  void* pointer = nullptr;
  const int result = gpu_->driver().host_allocate(&pointer, static_cast<size_t>(bytes), 0);
  if (result == kOutOfMemory)
    return user_error("out of memory: {} bytes of pinned host memory", bytes);
  if (Status status = gpu_->driver().check(result, "cuMemHostAlloc"); !status.ok()) return status;
  chunks_.push_back({static_cast<std::byte*>(pointer), bytes, 0});
  return {};
}

void Staging::free_all() noexcept {
  const Current current(*gpu_);
  for (const Chunk& chunk : chunks_) gpu_->driver().host_free(chunk.data);
  chunks_.clear();
}

}  // namespace tenon::runtime::cuda
