#include "base/single_flight_cache.h"

#include <gtest/gtest.h>

#include <atomic>
#include <stdexcept>
#include <thread>
#include <vector>

namespace tenon {
namespace {

using Cache = SingleFlightCache<int>;

Cache::Pointer number(int value) { return std::make_shared<const int>(value); }

TEST(SingleFlightCache, MakesOnceForAllWhoAskAtOnce) {
  Cache cache(8);
  std::atomic<int> made = 0;
  std::vector<std::thread> threads;
  std::vector<Cache::Pointer> got(16);
  for (size_t i = 0; i < got.size(); ++i) {
    threads.emplace_back([&, i] {
      got[i] = cache.get("key", [&] {
        ++made;
        std::this_thread::yield();
        return number(7);
      });
    });
  }
  for (std::thread& thread : threads) thread.join();
  EXPECT_EQ(made, 1);
  for (const Cache::Pointer& pointer : got) EXPECT_EQ(pointer, got[0]);
}

TEST(SingleFlightCache, TheOldestGoesAndItsHoldersKeepIt) {
  Cache cache(2);
  const auto one = cache.get("1", [] { return number(1); });
  cache.get("2", [] { return number(2); });
  cache.get("1", [] { return number(-1); });  // a hit does not make it younger
  cache.get("3", [] { return number(3); });
  EXPECT_EQ(*one, 1);
  EXPECT_EQ(cache.size(), 2u);
  EXPECT_EQ(*cache.get("1", [] { return number(11); }), 11);
  EXPECT_EQ(*cache.get("3", [] { return number(33); }), 3);
}

TEST(SingleFlightCache, AFailureLeavesNothingAndTheNextTries) {
  Cache cache(2);
  EXPECT_THROW(cache.get("k", []() -> Cache::Pointer { throw std::runtime_error("no"); }),
               std::runtime_error);
  EXPECT_EQ(cache.size(), 0u);
  EXPECT_EQ(*cache.get("k", [] { return number(5); }), 5);
  std::atomic<int> tries = 0;
  std::vector<std::thread> threads;
  std::atomic<int> served = 0;
  for (int i = 0; i < 8; ++i) {
    threads.emplace_back([&] {
      try {
        cache.get("j", [&] {
          if (tries++ < 3) throw std::runtime_error("not yet");
          return number(1);
        });
        ++served;
      } catch (const std::runtime_error&) {
      }
    });
  }
  for (std::thread& thread : threads) thread.join();
  EXPECT_EQ(served, 5);
}

TEST(SingleFlightCache, OfNoCapacityMakesEachTime) {
  Cache cache(0);
  cache.get("k", [] { return number(1); });
  EXPECT_EQ(*cache.get("k", [] { return number(2); }), 2);
  EXPECT_EQ(cache.made(), 2);
}

}  // namespace
}  // namespace tenon
