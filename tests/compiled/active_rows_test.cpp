// What a program that falls back to the whole bucket takes for inputs of fewer rows.
#include "compiled/active_rows.h"

#include <gtest/gtest.h>

namespace tenon::compiled {
namespace {

using runtime::IoView;

struct Bucket {
  Bucket() {
    program.inputs = {{"x", {{4, 2}, DType::F32}, {2, 1}, {4, 2}}};
    ActiveExtentReport report{.upper = 4};
    report.inputs = {{"x", {0}}};
    rows.emplace(program, report);
    rows->set(2);
  }
  program::Program program;
  std::optional<ActiveRows> rows;
  std::vector<float> values = {1, 2, 3, 4};
  std::vector<int64_t> shape = {2, 2};
};

TEST(ActiveRows, FillUpWhatIsShort) {
  Bucket bucket;
  const IoView given = bucket.rows->input(0, {bucket.values.data(), DType::F32, bucket.shape, {}});
  EXPECT_EQ(std::vector<int64_t>(given.shape.begin(), given.shape.end()),
            (std::vector<int64_t>{4, 2}));
  const auto* x = static_cast<const float*>(given.data);
  EXPECT_EQ(std::vector<float>(x, x + 8), (std::vector<float>{1, 2, 3, 4, 0, 0, 0, 0}));
}

TEST(ActiveRows, LeaveMemoryOfTheDeviceAlone) {
  Bucket bucket;
  int nobodys = 0;  // not for the host to read
  const IoView given = bucket.rows->input(0, {&nobodys, DType::F32, bucket.shape, {}, true});
  EXPECT_EQ(given.data, &nobodys);
  EXPECT_EQ(given.shape.data(), bucket.shape.data());
}

TEST(ActiveRows, LeaveACapacityOfAnotherRankToTheBinder) {
  Bucket bucket;
  const std::vector<int64_t> capacity = {2};
  const IoView given =
      bucket.rows->input(0, {bucket.values.data(), DType::F32, bucket.shape, capacity});
  EXPECT_EQ(given.capacity.size(), 1u);
}

}  // namespace
}  // namespace tenon::compiled
