// Which buckets to compile: those with which requests as they came would have cost the least.
//
//   tenon::BucketPlan plan = tenon::plan_buckets({{17, 300}, {32, 50}, {200, 9}}, 2);
//   tenon::BucketedCompileCache cache(tenon::Device::Cpu(), plan.buckets());
#pragma once

#include <cstdint>
#include <functional>
#include <map>
#include <string>
#include <vector>

#include "tenon/bucket.h"

namespace tenon {

// How many requests of each extent there were.
using ExtentHistogram = std::map<int64_t, int64_t>;

// The work of a request that is computed at this extent, in a unit of the caller's: a * u + b * u *
// u for a model with attention.
using ExtentCost = std::function<double(int64_t extent)>;

struct BucketPlan {
  struct Row {
    Bucket bucket;
    int64_t requests = 0;
    double padded_work = 0;  // of its requests, all computed at its upper bound
    double exact_work = 0;   // each at its own extent, as an active extent does
  };
  std::vector<Row> rows;  // from 1 on, without gaps

  std::vector<Bucket> buckets() const;
  double padded_work() const;
  double exact_work() const;
  std::string to_string() const;  // a table, and what an active extent saves
};

// At most `count` buckets with the least padded work; of equal ones fewer buckets, then smaller
// ones in front. Without a cost the work is the extent. Exact: a table over extents and buckets, in
// n log n steps for each bucket, n distinct extents; 64 buckets of 10,000 take well under a second.
// Errors: no requests, extents below 1, negative counts, a count below 1, and a cost that is
// negative, not finite, or smaller for a larger extent.
BucketPlan plan_buckets(const ExtentHistogram& histogram, int count, const ExtentCost& cost = {});

}  // namespace tenon
