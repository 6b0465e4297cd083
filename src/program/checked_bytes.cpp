// See checked_bytes.h.
#include "program/checked_bytes.h"

#include <algorithm>
#include <mutex>

#include "base/thread_pool.h"

namespace tenon::program {

std::vector<Digest> chunk_digests(std::span<const std::span<const std::byte>> all, int threads) {
  std::vector<std::span<const std::byte>> chunks;
  for (const auto bytes : all) {
    for (size_t at = 0; at < bytes.size(); at += kChunkBytes)
      chunks.push_back(bytes.subspan(at, std::min(kChunkBytes, bytes.size() - at)));
  }
  std::vector<Digest> digests(chunks.size());
  const auto body = [&](int64_t begin, int64_t end, int /*worker*/) {
    for (auto i = static_cast<size_t>(begin); i < static_cast<size_t>(end); ++i)
      digests[i] = Hasher().bytes(chunks[i]).finish();
  };
  // Small ones are not worth waking threads for.
  if (chunks.size() == 1) {
    body(0, 1, 0);
  } else if (!chunks.empty()) {
    parallel_for(static_cast<int64_t>(chunks.size()), threads, body);
  }
  return digests;
}

const CheckedBytes* find_damaged(std::span<const CheckedBytes* const> all, int threads) {
  static std::mutex mutex;
  const auto is_good = [](const CheckedBytes* each) {
    return each->good_.load(std::memory_order_acquire);
  };
  if (std::ranges::all_of(all, is_good)) return nullptr;
  const std::lock_guard lock(mutex);
  std::vector<const CheckedBytes*> unread;
  std::vector<std::span<const std::byte>> bytes;
  for (const CheckedBytes* each : all) {
    if (is_good(each) || std::ranges::find(unread, each) != unread.end()) continue;
    unread.push_back(each);
    bytes.push_back(each->bytes_);
  }
  const std::vector<Digest> found = chunk_digests(bytes, threads);
  const CheckedBytes* damaged = nullptr;
  auto next = found.begin();
  for (const CheckedBytes* each : unread) {
    const auto end = next + static_cast<ptrdiff_t>(count_chunks(each->bytes_.size()));
    const bool good = std::equal(next, end, each->digests_.begin(), each->digests_.end());
    next = end;
    if (good) {
      each->good_.store(true, std::memory_order_release);
    } else if (!damaged) {
      damaged = each;
    }
  }
  return damaged;
}

}  // namespace tenon::program
