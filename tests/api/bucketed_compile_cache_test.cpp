// BucketedCompileCache: which bucket has a key, and that each is compiled once, at its upper bound.
#include "tenon/bucketed_compile_cache.h"

#include <gtest/gtest.h>

#include "tenon/tenon.h"
#include "tests/error_of.h"

namespace tenon {
namespace {

using Buckets = std::vector<Bucket>;

// y = the sum of x [rows]
Graph sum(int64_t rows) {
  Graph g;
  const Value x = g.input("x", {{rows}, DType::F32}, {.bucket_axis = 0});
  g.set_outputs({{"y", g.reduce_sum(x, {0})}});
  return g;
}

HirModule sum_of_squares(int64_t rows) {
  HirModule m;
  const HirValue x = m.input("x", {{rows}, DType::F32});
  m.set_outputs({{"y", m.op1("mul", {x, x})}});
  return m;
}

std::string error_of_buckets(const Buckets& buckets) {
  return user_error_of([&] { const BucketedCompileCache cache(Device::Cpu(), buckets); });
}

void expect_in(const std::string& part, const std::string& text) {
  EXPECT_NE(text.find(part), std::string::npos) << text;
}

TEST(BucketedCompileCache, BucketsAreSortedDisjointAndNotEmpty) {
  expect_in("needs at least 1 bucket", error_of_buckets({}));
  expect_in("bucket 1, 9..9, is empty", error_of_buckets({{1, 9}, {9, 9}}));
  expect_in("bucket 0, 9..1, is empty", error_of_buckets({{9, 1}}));
  const std::string overlap = error_of_buckets({{1, 9}, {9, 17}, {16, 33}});
  expect_in("bucket 2, 16..33,", overlap);
  expect_in("bucket 1, 9..17,", overlap);
  expect_in("overlap", overlap);
  expect_in("sorted", error_of_buckets({{9, 17}, {1, 9}}));
}

TEST(BucketedCompileCache, AKeyIsInOneBucketOrInNone) {
  const BucketedCompileCache cache(Device::Cpu(), {{1, 9}, {9, 17}, {20, 33}});  // 17..20: a gap
  EXPECT_EQ(cache.bucket_for(0), std::nullopt);
  EXPECT_EQ(cache.bucket_for(1), 0u);
  EXPECT_EQ(cache.bucket_for(8), 0u);
  EXPECT_EQ(cache.bucket_for(9), 1u);
  EXPECT_EQ(cache.bucket_for(16), 1u);
  EXPECT_EQ(cache.bucket_for(17), std::nullopt);
  EXPECT_EQ(cache.bucket_for(19), std::nullopt);
  EXPECT_EQ(cache.bucket_for(20), 2u);
  EXPECT_EQ(cache.bucket_for(33), std::nullopt);
  EXPECT_EQ(cache.bucket_upper_for_key(3), 8);
  EXPECT_EQ(cache.bucket_upper_for_key(20), 32);
  EXPECT_EQ(cache.bucket_upper_for_key(18), std::nullopt);
  EXPECT_EQ(cache.total_buckets(), 3u);
  EXPECT_EQ(cache.buckets()[1], (Bucket{9, 17}));
  EXPECT_EQ(cache.buckets()[1].upper(), 16);
}

TEST(BucketedCompileCache, CompilesEachBucketOnceAtItsUpperBound) {
  BucketedCompileCache cache(Device::Cpu(), {{1, 9}, {9, 17}});
  std::vector<int64_t> built;
  const auto build = [&](int64_t upper) {
    built.push_back(upper);
    return sum(upper);
  };
  EXPECT_EQ(cache.compiled_count(), 0u);
  const auto first = cache.get_or_compile(3, build);
  ASSERT_TRUE(first);
  EXPECT_EQ(first->upper, 8);
  EXPECT_EQ(first->handle->inputs()[0].shape[0], "8");
  EXPECT_EQ(cache.get_or_compile(8, build)->handle, first->handle);
  EXPECT_EQ(cache.get_or_compile(9, build)->upper, 16);
  EXPECT_EQ(built, (std::vector<int64_t>{8, 16}));
  EXPECT_EQ(cache.compiled_count(), 2u);
  EXPECT_EQ(first->handle->run({{"x", std::vector<float>(8, 2)}})[0][0], 16);
  cache.sync_all();
}

TEST(BucketedCompileCache, OutsideEveryBucketNothingIsBuilt) {
  BucketedCompileCache cache(Device::Cpu(), {{1, 9}, {17, 33}});
  const auto never = [](int64_t) -> Graph { throw std::logic_error("called"); };
  for (const int64_t key : {0, 9, 16, 33}) EXPECT_FALSE(cache.get_or_compile(key, never)) << key;
  EXPECT_EQ(cache.compiled_count(), 0u);
}

TEST(BucketedCompileCache, AFailingBuildLeavesTheBucketUncompiled) {
  BucketedCompileCache cache(Device::Cpu(), {{1, 9}});
  const auto fail = [](int64_t) -> Graph { throw std::runtime_error("no file"); };
  EXPECT_THROW(cache.get_or_compile(1, fail), std::runtime_error);
  EXPECT_EQ(cache.compiled_count(), 0u);
  EXPECT_EQ(cache.compiled_for_key(1), nullptr);
  EXPECT_TRUE(cache.get_or_compile(1, sum));
}

TEST(BucketedCompileCache, CompiledForKeyNeverCompiles) {
  BucketedCompileCache cache(Device::Cpu(), {{1, 9}, {9, 17}});
  EXPECT_EQ(cache.compiled_for_key(3), nullptr);
  const auto found = cache.get_or_compile(3, sum);
  EXPECT_EQ(cache.compiled_for_key(8), found->handle);
  EXPECT_EQ(cache.compiled_for_key(9), nullptr);
  EXPECT_EQ(cache.compiled_for_key(17), nullptr);
  EXPECT_EQ(cache.compiled_count(), 1u);
}

TEST(BucketedCompileCache, BlocksAndOptions) {
  BucketedCompileCache cache(Device::Cpu(), {{1, 3}, {3, 5}});
  const CompileOptions one = {.threads = 1};
  const auto found = cache.get_or_compile_hir_with_options(2, one, sum_of_squares);
  EXPECT_EQ(found->handle->threads(), 1);
  EXPECT_EQ(found->handle->run({{"x", std::vector<float>{2, 3}}})[0], (std::vector<float>{4, 9}));
  EXPECT_EQ(cache.get_or_compile_hir(4, sum_of_squares)->upper, 4);
  EXPECT_EQ(cache.get_or_compile_with_options(1, one, sum_of_squares)->handle, found->handle);
  const std::string differ =
      user_error_of([&] { cache.get_or_compile_with_options(1, {.threads = 2}, sum_of_squares); });
  expect_in("bucket 0", differ);
  expect_in("threads 1, now 2", differ);
}

TEST(PowerOfTwoLadder, DoublesUntilItHasTheLargest) {
  const auto ladder = BucketedCompileCache::power_of_two_ladder;
  EXPECT_EQ(ladder(8, 64), (Buckets{{1, 9}, {9, 17}, {17, 33}, {33, 65}}));
  EXPECT_EQ(ladder(16, 32), (Buckets{{1, 17}, {17, 33}}));
  EXPECT_EQ(ladder(10, 64), (Buckets{{1, 17}, {17, 33}, {33, 65}}));
  EXPECT_EQ(ladder(8, 20), (Buckets{{1, 9}, {9, 17}, {17, 33}}));
  EXPECT_EQ(ladder(16, 16), (Buckets{{1, 17}}));
  EXPECT_EQ(ladder(1, 1), (Buckets{{1, 2}}));
  EXPECT_EQ(ladder(1, int64_t{1} << 62).back().upper(), int64_t{1} << 62);
}

TEST(PowerOfTwoLadder, RefusesWhatMakesNone) {
  const auto error = [](int64_t min, int64_t max) {
    return user_error_of([&] { BucketedCompileCache::power_of_two_ladder(min, max); });
  };
  expect_in("min is 0", error(0, 8));
  expect_in("max is 7, less than min, 8", error(8, 7));
  expect_in("64 bits", error(1, (int64_t{1} << 62) + 1));
  expect_in("64 bits", error(INT64_MAX, INT64_MAX));
}

}  // namespace
}  // namespace tenon
