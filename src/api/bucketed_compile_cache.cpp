// BucketedCompileCache: the index of a bucket is the key of the store, which has room for all.
#include "tenon/bucketed_compile_cache.h"

#include <algorithm>
#include <bit>

#include "api/compiled_store.h"
#include "base/error.h"

namespace tenon {
namespace {

std::string text(const std::vector<Bucket>& buckets, size_t index) {
  return fmt::format("bucket {}, {}..{},", index, buckets[index].begin, buckets[index].end);
}

std::vector<Bucket> checked(std::vector<Bucket> buckets) {
  if (buckets.empty()) throw user_error("[BucketedCompileCache] it needs at least 1 bucket");
  for (size_t i = 0; i < buckets.size(); ++i) {
    if (buckets[i].begin >= buckets[i].end)
      throw user_error("[BucketedCompileCache] {} is empty", text(buckets, i));
    if (i > 0 && buckets[i].begin < buckets[i - 1].end)
      throw user_error(
          "[BucketedCompileCache] {} begins before {} ends: buckets are sorted and do not overlap",
          text(buckets, i), text(buckets, i - 1));
  }
  return buckets;
}

}  // namespace

BucketedCompileCache::BucketedCompileCache(const Device& device, std::vector<Bucket> buckets,
                                           std::optional<PrecisionPolicy> policy)
    : buckets_(checked(std::move(buckets))),
      store_(std::make_unique<CompiledStore>("[BucketedCompileCache] bucket", device,
                                             buckets_.size(), policy)) {}
BucketedCompileCache::~BucketedCompileCache() = default;

std::vector<Bucket> BucketedCompileCache::power_of_two_ladder(int64_t min, int64_t max) {
  constexpr int64_t kMost = int64_t{1} << 62;
  if (min < 1) throw user_error("[power_of_two_ladder] min is {}: at least 1 is needed", min);
  if (max < min) throw user_error("[power_of_two_ladder] max is {}, less than min, {}", max, min);
  if (max > kMost)
    throw user_error("[power_of_two_ladder] max is {}: the last bucket would not fit 64 bits", max);
  std::vector<Bucket> ladder;
  auto upper = static_cast<int64_t>(std::bit_ceil(static_cast<uint64_t>(min)));
  ladder.push_back({1, upper + 1});
  for (; upper < max; upper *= 2) ladder.push_back({upper + 1, 2 * upper + 1});
  return ladder;
}

CompiledBucket BucketedCompileCache::compiled(size_t bucket, const CompileOptions& options,
                                              const Compile& compile) {
  return {buckets_[bucket].upper(), handle_of(store_->compile(bucket, options, compile))};
}

std::optional<size_t> BucketedCompileCache::bucket_for(int64_t key) const {
  const auto found = std::ranges::upper_bound(buckets_, key, {}, &Bucket::end);
  if (found == buckets_.end() || key < found->begin) return std::nullopt;
  return static_cast<size_t>(found - buckets_.begin());
}

std::optional<int64_t> BucketedCompileCache::bucket_upper_for_key(int64_t key) const {
  const std::optional<size_t> bucket = bucket_for(key);
  return bucket ? std::optional(buckets_[*bucket].upper()) : std::nullopt;
}

CompiledHandle BucketedCompileCache::compiled_for_key(int64_t key) const {
  const std::optional<size_t> bucket = bucket_for(key);
  return bucket ? handle_of(store_->find(*bucket)) : nullptr;
}

size_t BucketedCompileCache::compiled_count() const { return store_->size(); }
void BucketedCompileCache::sync_all() { store_->sync_all(); }

}  // namespace tenon
