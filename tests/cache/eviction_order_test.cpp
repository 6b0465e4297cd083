#include "cache/eviction_order.h"

#include <gtest/gtest.h>

namespace tenon::cache {
namespace {

using Indices = std::vector<size_t>;

TEST(EvictionOrder, NobodyGoesWhereAllHaveRoom) {
  EXPECT_EQ(leaving({}, 0), Indices{});
  const Candidate two[] = {{.age = 1, .weight = 5}, {.age = 2, .weight = 5}};
  EXPECT_EQ(leaving(two, 10), Indices{});
}

TEST(EvictionOrder, TheOldestGoUntilTheRestHasRoom) {
  const Candidate four[] = {
      {.age = 7, .weight = 10}, {.age = 3, .weight = 20}, {.age = 9, .weight = 30}, {.age = 4}};
  EXPECT_EQ(leaving(four, 60), (Indices{1}));
  EXPECT_EQ(leaving(four, 40), (Indices{1, 3}));
  EXPECT_EQ(leaving(four, 39), (Indices{1, 3, 0}));
  EXPECT_EQ(leaving(four, 0), (Indices{1, 3, 0, 2}));
}

TEST(EvictionOrder, OfEquallyOldOnesTheFirstGoes) {
  const Candidate three[] = {{.age = 2}, {.age = 1}, {.age = 1}};
  EXPECT_EQ(leaving(three, 2), (Indices{1}));
  EXPECT_EQ(leaving(three, 1), (Indices{1, 2}));
}

}  // namespace
}  // namespace tenon::cache
