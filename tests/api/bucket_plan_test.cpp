// Buckets with the least padded work, compared with every way to cut the extents.
#include "tenon/bucket_plan.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <chrono>
#include <random>

#include "tenon/tenon.h"
#include "tests/error_of.h"

namespace tenon {
namespace {

double extent_itself(int64_t extent) { return static_cast<double>(extent); }
double attention(int64_t extent) {
  const auto u = static_cast<double>(extent);
  return 3 * u + u * u;
}

// Every subset of the extents that has the largest one and no more than `count`.
double least_work(const ExtentHistogram& histogram, int count, const ExtentCost& cost) {
  const std::vector<std::pair<int64_t, int64_t>> rows(histogram.begin(), histogram.end());
  double least = INFINITY;
  for (uint32_t uppers = 0; uppers < 1U << (rows.size() - 1); ++uppers) {
    if (std::popcount(uppers) + 1 > count) continue;
    double work = 0;
    int64_t upper = rows.back().first;
    for (size_t i = rows.size(); i-- > 0;) {
      if (i + 1 < rows.size() && (uppers >> i & 1U) != 0) upper = rows[i].first;
      work += cost(upper) * static_cast<double>(rows[i].second);
    }
    least = std::min(least, work);
  }
  return least;
}

// Of the buckets as such: each request at the upper bound of the first that has it.
double work_of(const std::vector<Bucket>& buckets, const ExtentHistogram& histogram,
               const ExtentCost& cost) {
  double work = 0;
  for (const auto& [extent, requests] : histogram) {
    for (const Bucket& bucket : buckets) {
      if (extent < bucket.begin || extent >= bucket.end) continue;
      work += cost(bucket.upper()) * static_cast<double>(requests);
    }
  }
  return work;
}

TEST(PlanBuckets, ByHand) {
  const BucketPlan plan = plan_buckets({{10, 100}, {11, 2}, {100, 2}}, 2);
  EXPECT_EQ(plan.buckets(), (std::vector<Bucket>{{1, 12}, {12, 101}}));
  EXPECT_EQ(plan.padded_work(), 102 * 11 + 2 * 100);
  EXPECT_EQ(plan.exact_work(), 100 * 10 + 2 * 11 + 200);
  EXPECT_EQ(plan.rows[0].bucket, (Bucket{1, 12}));
  EXPECT_EQ(plan.rows[0].requests, 102);
  EXPECT_EQ(plan.rows[0].padded_work, 1122);
  EXPECT_EQ(plan.rows[0].exact_work, 1022);
  EXPECT_EQ(plan_buckets({{10, 100}, {11, 2}, {100, 2}}, 1).buckets(),
            (std::vector<Bucket>{{1, 101}}));
}

TEST(PlanBuckets, NoCutIsBetterThanTheBestOfAll) {
  std::mt19937 random(7);
  for (int round = 0; round < 300; ++round) {
    ExtentHistogram histogram;
    const int most = round % 2 == 0 ? 20 : 200;
    for (int i = 0; i < 1 + round % 10; ++i)
      histogram[1 + static_cast<int64_t>(random() % most)] = 1 + static_cast<int64_t>(random() % 9);
    for (int count = 1; count <= 5; ++count) {
      for (const ExtentCost& cost : {ExtentCost(extent_itself), ExtentCost(attention)}) {
        const BucketPlan plan = plan_buckets(histogram, count, cost);
        EXPECT_LE(plan.rows.size(), static_cast<size_t>(count));
        EXPECT_EQ(plan.padded_work(), least_work(histogram, count, cost)) << round;
        EXPECT_EQ(plan.padded_work(), work_of(plan.buckets(), histogram, cost)) << round;
      }
    }
  }
}

TEST(PlanBuckets, NoMoreBucketsThanTheyHelp) {
  EXPECT_EQ(plan_buckets({{4, 1}, {8, 1}}, 64).rows.size(), 2u);
  const auto steps = [](int64_t extent) { return extent <= 8 ? 1.0 : 2.0; };
  EXPECT_EQ(plan_buckets({{4, 1}, {8, 1}, {9, 1}, {12, 5}}, 64, steps).buckets(),
            (std::vector<Bucket>{{1, 9}, {9, 13}}));
}

TEST(PlanBuckets, OfEqualCutsTheFirstOneIsTaken) {
  // 1 | 2 3 costs 1 + 6, 1 2 | 3 costs 4 + 3.
  EXPECT_EQ(plan_buckets({{1, 1}, {2, 1}, {3, 1}}, 2).buckets(),
            (std::vector<Bucket>{{1, 2}, {2, 4}}));
}

TEST(PlanBuckets, TheCacheTakesThem) {
  const BucketPlan plan = plan_buckets({{17, 300}, {32, 50}, {200, 9}}, 2);
  const BucketedCompileCache cache(Device::Null(), plan.buckets());
  EXPECT_EQ(cache.bucket_upper_for_key(1), 32);
  EXPECT_EQ(cache.bucket_upper_for_key(33), 200);
  EXPECT_EQ(cache.bucket_upper_for_key(201), std::nullopt);
  EXPECT_EQ(plan.to_string(),
            "bucket               requests     padded work       by extent   saved\n"
            "1..33                     350           11200            6700   40.2%\n"
            "33..201                     9            1800            1800    0.0%\n"
            "padded work 13000; an active extent makes it 8500, 34.6% less\n");
}

TEST(PlanBuckets, ManyExtentsTakeNoTime) {
  ExtentHistogram histogram;
  std::mt19937 random(3);
  for (int64_t extent = 1; extent <= 10'000; ++extent)
    histogram[extent] = 1 + static_cast<int64_t>(random() % 100);
  const auto begin = std::chrono::steady_clock::now();
  const BucketPlan plan = plan_buckets(histogram, 64);
  EXPECT_LT(std::chrono::steady_clock::now() - begin, std::chrono::seconds(10));
  EXPECT_EQ(plan.rows.size(), 64u);
  // Better than cuts of equal width.
  std::vector<Bucket> equal;
  for (int64_t i = 0; i < 64; ++i)
    equal.push_back({1 + 10'000 * i / 64, 1 + 10'000 * (i + 1) / 64});
  EXPECT_LT(plan.padded_work(), work_of(equal, histogram, extent_itself));
}

TEST(PlanBuckets, RefusesWhatMakesNoSense) {
  const auto error = [](const ExtentHistogram& histogram, int count, const ExtentCost& cost = {}) {
    return user_error_of([&] { plan_buckets(histogram, count, cost); });
  };
  EXPECT_EQ(error({}, 2), "[plan_buckets] there are no requests");
  EXPECT_EQ(error({{3, 0}}, 2), "[plan_buckets] there are no requests");
  EXPECT_EQ(error({{3, 1}}, 0), "[plan_buckets] 0 buckets: at least 1 is needed");
  EXPECT_EQ(error({{0, 1}}, 1), "[plan_buckets] 1 requests of extent 0");
  EXPECT_EQ(error({{3, -1}}, 1), "[plan_buckets] -1 requests of extent 3");
  EXPECT_EQ(error({{3, 1}}, 1, [](int64_t) { return -1.0; }), "[plan_buckets] the cost of 3 is -1");
  EXPECT_EQ(error({{3, 1}, {4, 1}}, 1, [](int64_t u) { return 10.0 - static_cast<double>(u); }),
            "[plan_buckets] the cost of 4 is 6, less than that of 3, 7");
}

}  // namespace
}  // namespace tenon
