#include "cache/memory_store.h"

#include <gtest/gtest.h>

#include <string>

#include "tests/error_of.h"

namespace tenon::cache {
namespace {

using Store = MemoryStore<std::string, int>;

std::shared_ptr<int> number(int value) { return std::make_shared<int>(value); }

int get(Store& store, const std::string& key, int value) {
  return *store.get_or_make(key, [&] { return number(value); });
}

TEST(MemoryStore, MakesWhatIsAbsentOnce) {
  Store store(4);
  EXPECT_EQ(store.find("a"), nullptr);
  EXPECT_EQ(get(store, "a", 1), 1);
  EXPECT_EQ(get(store, "a", 2), 1);
  EXPECT_EQ(*store.find("a"), 1);
  EXPECT_TRUE(store.contains("a"));
  EXPECT_FALSE(store.contains("b"));
  EXPECT_EQ(store.find("b"), nullptr);  // never makes
  EXPECT_EQ(store.size(), 1u);
  EXPECT_EQ(store.made(), 1);
}

TEST(MemoryStore, HandsOutOneValueThatAllSeeChange) {
  Store store(4);
  *store.get_or_make("a", [] { return number(1); }) = 5;
  EXPECT_EQ(*store.find("a"), 5);
}

TEST(MemoryStore, FirstInFirstOutWhateverIsUsed) {
  Store store(2);
  for (const char* key : {"1", "2", "1", "3"}) get(store, key, 0);
  EXPECT_FALSE(store.contains("1"));
  EXPECT_TRUE(store.contains("2"));
  EXPECT_TRUE(store.contains("3"));
  EXPECT_EQ(store.size(), 2u);
}

TEST(MemoryStore, LeastRecentlyUsedGoesUnderThatOrder) {
  Store store(3, Order::Lru);
  for (const char* key : {"1", "2", "3", "1", "4", "3", "5"}) get(store, key, 0);
  EXPECT_FALSE(store.contains("2"));
  EXPECT_FALSE(store.contains("1"));  // used before 4 came, 3 after it
  for (const char* key : {"3", "4", "5"}) EXPECT_TRUE(store.contains(key)) << key;
}

TEST(MemoryStore, LookingWhetherItIsThereIsNoUse) {
  Store store(2, Order::Lru);
  for (const char* key : {"1", "2"}) get(store, key, 0);
  EXPECT_TRUE(store.contains("1"));
  get(store, "3", 0);
  EXPECT_FALSE(store.contains("1"));
}

TEST(MemoryStore, HoldersKeepWhatWasEvicted) {
  Store store(1);
  const auto held = store.get_or_make("1", [] { return number(1); });
  const std::weak_ptr<int> not_held = store.get_or_make("2", [] { return number(2); });
  get(store, "3", 3);
  EXPECT_EQ(*held, 1);
  EXPECT_TRUE(not_held.expired());
}

TEST(MemoryStore, EvictsOnlyAfterTheNewValueWasMade) {
  Store store(1);
  get(store, "old", 1);
  store.get_or_make("new", [&] {
    EXPECT_TRUE(store.contains("old"));
    return number(2);
  });
  EXPECT_FALSE(store.contains("old"));
}

TEST(MemoryStore, AFailureLeavesItUnchanged) {
  Store store(1);
  get(store, "old", 1);
  const auto fails = []() -> Store::Pointer { throw user_error("no"); };
  EXPECT_EQ(user_error_of([&] { store.get_or_make("new", fails); }), "no");
  EXPECT_EQ(*store.find("old"), 1);
  EXPECT_EQ(store.size(), 1u);
  EXPECT_EQ(store.made(), 1);
  EXPECT_EQ(get(store, "new", 2), 2);
}

TEST(MemoryStore, WaitsForPendingWorkOfWhatGoes) {
  std::vector<int> drained;
  Store store(2, Order::Fifo, [&](int& value) { drained.push_back(value); });
  for (int i = 1; i <= 3; ++i) get(store, std::to_string(i), i);
  EXPECT_EQ(drained, (std::vector{1}));
  store.erase("3");
  EXPECT_EQ(drained, (std::vector{1, 3}));
  store.clear();
  EXPECT_EQ(drained, (std::vector{1, 3, 2}));
}

TEST(MemoryStore, AMakerThatNeedsItselfIsAnError) {
  Store store(2);
  const std::string error = user_error_of([&] {
    store.get_or_make("a", [&] {
      get(store, "b", 1);  // another is fine
      return store.get_or_make("a", [] { return number(1); });
    });
  });
  EXPECT_NE(error.find("needs that same entry"), std::string::npos) << error;
  EXPECT_FALSE(store.contains("a"));
  EXPECT_EQ(get(store, "a", 3), 3);
}

TEST(MemoryStore, VisitsItsValuesInTheOrderInWhichTheyCame) {
  Store store(3);
  for (int i = 0; i < 5; ++i) get(store, std::to_string(i), i);
  std::vector<int> visited;
  store.for_each([&](int& value) { visited.push_back(value); });
  EXPECT_EQ(visited, (std::vector{2, 3, 4}));
}

TEST(MemoryStore, ErasesAndClears) {
  Store store(4);
  for (const char* key : {"1", "2", "3"}) get(store, key, 0);
  EXPECT_TRUE(store.erase("2"));
  EXPECT_FALSE(store.erase("2"));
  EXPECT_FALSE(store.contains("2"));
  EXPECT_TRUE(store.contains("3"));
  store.clear();
  EXPECT_EQ(store.size(), 0u);
  EXPECT_FALSE(store.contains("3"));
  EXPECT_EQ(get(store, "3", 7), 7);
}

TEST(MemoryStore, OfNoCapacityMakesEachTime) {
  Store store(0);
  get(store, "k", 1);
  EXPECT_EQ(get(store, "k", 2), 2);
  EXPECT_EQ(store.made(), 2);
  EXPECT_EQ(store.size(), 0u);
}

TEST(MemoryStore, FindsEachOfMany) {
  constexpr uint64_t kMany = 3000;
  MemoryStore<uint64_t, uint64_t> store(kMany);
  for (uint64_t i = 0; i < kMany; ++i)
    store.get_or_make(i << 32, [&] { return std::make_shared<uint64_t>(i); });
  for (uint64_t i = 0; i < kMany; ++i) ASSERT_EQ(*store.find(i << 32), i);
  EXPECT_EQ(store.find(1), nullptr);
}

}  // namespace
}  // namespace tenon::cache
