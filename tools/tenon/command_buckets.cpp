// `tenon buckets`: from the extents of requests to the buckets that waste least on padding.
#include <fmt/format.h>

#include <fstream>
#include <optional>
#include <sstream>

#include "tenon/tenon.h"
#include "tools/tenon/arguments.h"
#include "tools/tenon/commands.h"

namespace tenon::cli {
namespace {

// A line for each extent: `EXTENT`, of one request, or `EXTENT REQUESTS`; what follows a # is for
// people. An extent may come often.
ExtentHistogram read_histogram(const std::string& path) {
  std::ifstream file(path);
  if (!file) throw Error(ErrorKind::User, fmt::format("{}: cannot be read", path));
  ExtentHistogram histogram;
  std::string line;
  for (int number = 1; std::getline(file, line); ++number) {
    std::istringstream words(line.substr(0, line.find('#')));
    std::string extent, requests = "1", more;
    if (!(words >> extent)) continue;
    words >> requests;
    const auto first = parse_number<int64_t>(extent), second = parse_number<int64_t>(requests);
    if (!first || !second || *first < 1 || *second < 0 || words >> more)
      throw Error(ErrorKind::User, fmt::format("{}, line {}: \"{}\" is no extent and number of "
                                               "requests",
                                               path, number, line));
    histogram[*first] += *second;
  }
  return histogram;
}

}  // namespace

void buckets(const BucketsOptions& options) {
  const double quadratic = options.quadratic;
  const auto cost = [=](int64_t extent) {
    const auto u = static_cast<double>(extent);
    return u + quadratic * u * u;
  };
  const BucketPlan plan = plan_buckets(read_histogram(options.shapes), options.count, cost);
  fmt::print("{}", plan.to_string());
}

}  // namespace tenon::cli
