// How many bytes lie between two uses of the same byte, counted by hand.
#include "measure/reuse.h"

#include <gtest/gtest.h>

namespace tenon::measure {
namespace {

constexpr int64_t kNever = Reuse::kNever;
using Parts = std::vector<std::pair<int64_t, int64_t>>;  // bytes, since

Parts touch(Reuse& reuse, uintptr_t begin, uintptr_t end) {
  Parts parts;
  reuse.touch(begin, end, [&](int64_t bytes, int64_t since) { parts.emplace_back(bytes, since); });
  return parts;
}

TEST(Reuse, WhatWasNeverTouchedIsNowhere) {
  Reuse reuse(1000);
  EXPECT_EQ(touch(reuse, 0, 100), (Parts{{100, kNever}}));
  EXPECT_EQ(touch(reuse, 200, 200), Parts{});
}

TEST(Reuse, ASweepThatIsRepeatedAtOnceTakesItsOwnSize) {
  Reuse reuse(1000);
  touch(reuse, 0, 100);
  EXPECT_EQ(touch(reuse, 0, 100), (Parts{{100, 100}}));
}

TEST(Reuse, OtherBytesBetweenCountOnce) {
  Reuse reuse(1000);
  touch(reuse, 0, 100);
  touch(reuse, 200, 250);
  touch(reuse, 200, 250);
  touch(reuse, 300, 310);
  EXPECT_EQ(touch(reuse, 0, 100), (Parts{{100, 160}}));
}

TEST(Reuse, PartsOfARangeHaveDistancesOfTheirOwn) {
  Reuse reuse(1000);
  touch(reuse, 0, 100);
  touch(reuse, 80, 120);  // now 0..80, then 80..120
  // 80..100 was the last thing touched; below it lie the other 20 bytes of that sweep.
  EXPECT_EQ(touch(reuse, 0, 100), (Parts{{20, 100}, {80, 120}}));
}

TEST(Reuse, NothingIsKnownBeyondTheHorizon) {
  Reuse reuse(150);
  touch(reuse, 0, 100);
  touch(reuse, 200, 300);
  EXPECT_EQ(touch(reuse, 0, 100), (Parts{{100, kNever}}));
}

}  // namespace
}  // namespace tenon::measure
