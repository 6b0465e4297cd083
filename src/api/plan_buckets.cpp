// The least padded work of buckets. Extents in order are cut into groups; a group of the extents
// after the i-th up to the j-th costs cost(j) times the requests in it. With best(k, j) the least
// for the first j extents in k groups,
//
//   best(k, j) = min over i < j of best(k - 1, i) + cost(j) * (requests(j) - requests(i)).
//
// Where the cost grows, the best i grows with j (moving a boundary up pays more for a larger j), so
// that the one found in the middle bounds the search on both sides: n log n steps for a k.
#include <algorithm>
#include <cmath>
#include <limits>

#include "base/error.h"
#include "tenon/bucket_plan.h"

namespace tenon {
namespace {

constexpr double kNever = std::numeric_limits<double>::infinity();

struct Extents {
  std::vector<int64_t> extent;  // ascending, each with requests
  std::vector<double> cost;     // of one request at it
  std::vector<double> before;   // requests of the first i of them
  size_t size() const { return extent.size(); }
};

double cost_of(int64_t extent, const ExtentCost& cost) {
  const double value = cost ? cost(extent) : static_cast<double>(extent);
  if (!std::isfinite(value) || value < 0)
    throw user_error("[plan_buckets] the cost of {} is {}", extent, value);
  return value;
}

Extents read(const ExtentHistogram& histogram, const ExtentCost& cost) {
  Extents result;
  result.before = {0};
  for (const auto& [extent, requests] : histogram) {
    if (extent < 1 || extent == std::numeric_limits<int64_t>::max() || requests < 0)
      throw user_error("[plan_buckets] {} requests of extent {}", requests, extent);
    if (requests == 0) continue;
    result.extent.push_back(extent);
    result.cost.push_back(cost_of(extent, cost));
    result.before.push_back(result.before.back() + static_cast<double>(requests));
    const size_t last = result.size() - 1;
    if (last > 0 && result.cost[last] < result.cost[last - 1])
      throw user_error("[plan_buckets] the cost of {} is {}, less than that of {}, {}", extent,
                       result.cost[last], result.extent[last - 1], result.cost[last - 1]);
  }
  if (result.extent.empty()) throw user_error("[plan_buckets] there are no requests");
  return result;
}

// best(k, j) for one k after the other, and the cuts that give them.
class Table {
 public:
  explicit Table(const Extents& extents)
      : extents_(extents), best_(extents.size() + 1, kNever), next_(best_) {
    best_[0] = 0;
  }

  void add_group() {
    cuts_.emplace_back(extents_.size() + 1, 0);
    next_[0] = kNever;
    fill(1, extents_.size(), 0, extents_.size() - 1);
    std::swap(best_, next_);
  }
  double best() const { return best_.back(); }  // of all extents, by as many groups as were added

  // Where the groups of the first k end, of all extents.
  std::vector<size_t> ends(size_t k) const {
    std::vector<size_t> result(k);
    size_t end = extents_.size();
    for (; k > 0; end = cuts_[--k][end]) result[k - 1] = end;
    return result;
  }

 private:
  double work(size_t i, size_t j) const {
    return extents_.cost[j - 1] * (extents_.before[j] - extents_.before[i]);
  }

  // next(j) for first..last, whose cuts are in least..most.
  void fill(size_t first, size_t last, size_t least, size_t most) {
    const size_t j = first + (last - first) / 2;
    double found = kNever;
    size_t cut = least;
    for (size_t i = least; i <= std::min(most, j - 1); ++i) {
      const double with = best_[i] + work(i, j);
      if (with < found) {
        found = with;
        cut = i;
      }
    }
    next_[j] = found;
    cuts_.back()[j] = cut;
    if (first < j) fill(first, j - 1, least, cut);
    if (j < last) fill(j + 1, last, cut, most);
  }

  const Extents& extents_;
  std::vector<double> best_, next_;
  std::vector<std::vector<size_t>> cuts_;  // [k][j]
};

}  // namespace

BucketPlan plan_buckets(const ExtentHistogram& histogram, int count, const ExtentCost& cost) {
  if (count < 1) throw user_error("[plan_buckets] {} buckets: at least 1 is needed", count);
  const Extents extents = read(histogram, cost);
  Table table(extents);
  double least = kNever;
  size_t groups = 0;
  for (size_t k = 1; k <= std::min(extents.size(), static_cast<size_t>(count)); ++k) {
    table.add_group();
    if (table.best() < least) {
      least = table.best();
      groups = k;
    }
  }
  BucketPlan plan;
  size_t at = 0;
  for (const size_t end : table.ends(groups)) {
    BucketPlan::Row& row = plan.rows.emplace_back();
    row.bucket = {plan.rows.size() == 1 ? 1 : extents.extent[at - 1] + 1,
                  extents.extent[end - 1] + 1};
    for (; at < end; ++at) {
      const double requests = extents.before[at + 1] - extents.before[at];
      row.requests += static_cast<int64_t>(requests);
      row.padded_work += extents.cost[end - 1] * requests;
      row.exact_work += extents.cost[at] * requests;
    }
  }
  return plan;
}

std::vector<Bucket> BucketPlan::buckets() const {
  std::vector<Bucket> result;
  for (const Row& row : rows) result.push_back(row.bucket);
  return result;
}

double BucketPlan::padded_work() const {
  double sum = 0;
  for (const Row& row : rows) sum += row.padded_work;
  return sum;
}

double BucketPlan::exact_work() const {
  double sum = 0;
  for (const Row& row : rows) sum += row.exact_work;
  return sum;
}

std::string BucketPlan::to_string() const {
  const auto saved = [](double padded, double exact) {
    return padded > 0 ? 100 * (padded - exact) / padded : 0.0;
  };
  std::string text = fmt::format("{:<17}{:>12}{:>16}{:>16}{:>8}\n", "bucket", "requests",
                                 "padded work", "by extent", "saved");
  for (const Row& row : rows)
    text += fmt::format("{:<17}{:>12}{:>16.6g}{:>16.6g}{:>7.1f}%\n",
                        fmt::format("{}..{}", row.bucket.begin, row.bucket.end), row.requests,
                        row.padded_work, row.exact_work, saved(row.padded_work, row.exact_work));
  text += fmt::format("padded work {:.6g}; an active extent makes it {:.6g}, {:.1f}% less\n",
                      padded_work(), exact_work(), saved(padded_work(), exact_work()));
  return text;
}

}  // namespace tenon
