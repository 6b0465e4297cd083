#include "base/flat_map.h"

#include <gtest/gtest.h>

#include <unordered_map>
#include <vector>

namespace tenon {
namespace {

TEST(FlatMap, HoldsWhatAMapHoldsWhileItGrows) {
  std::vector<int> things(5000);
  FlatMap<const int*, int> flat;
  std::unordered_map<const int*, int> map;
  for (size_t i = 0; i < things.size(); i += 3) {
    flat[&things[i]] += static_cast<int>(i);
    map[&things[i]] += static_cast<int>(i);
    flat[&things[i / 2]] += 1;
    map[&things[i / 2]] += 1;
  }
  EXPECT_EQ(flat.size(), map.size());
  for (const int& thing : things) {
    const auto expected = map.find(&thing);
    const int* found = flat.find(&thing);
    ASSERT_EQ(found != nullptr, expected != map.end());
    if (found) EXPECT_EQ(*found, expected->second);
  }
}

TEST(FlatSet, SaysWhetherAKeyIsNew) {
  const int a = 0, b = 0;
  FlatSet<const int*> set;
  EXPECT_FALSE(set.contains(&a));
  EXPECT_TRUE(set.insert(&a));
  EXPECT_FALSE(set.insert(&a));
  EXPECT_TRUE(set.contains(&a));
  EXPECT_FALSE(set.contains(&b));
}

}  // namespace
}  // namespace tenon
