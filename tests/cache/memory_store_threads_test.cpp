// The memory store under many threads: also what ThreadSanitizer watches.
#include <gtest/gtest.h>
#include <sys/wait.h>
#include <unistd.h>

#include <atomic>
#include <functional>
#include <latch>
#include <thread>
#include <vector>

#include "cache/memory_store.h"
#include "tests/error_of.h"

namespace tenon::cache {
namespace {

using Store = MemoryStore<int, int>;

std::shared_ptr<int> number(int value) { return std::make_shared<int>(value); }

void on_threads(int count, const std::function<void(int)>& work) {
  std::latch start(count);
  std::vector<std::jthread> threads;
  for (int i = 0; i < count; ++i) {
    threads.emplace_back([&, i] {
      start.arrive_and_wait();
      work(i);
    });
  }
}

TEST(MemoryStoreThreads, ThirtyTwoOnOneKeyMakeItOnce) {
  Store store(4);
  std::atomic<int> made = 0;
  std::vector<Store::Pointer> got(32);
  on_threads(32, [&](int i) {
    got[static_cast<size_t>(i)] = store.get_or_make(7, [&] {
      std::this_thread::sleep_for(std::chrono::milliseconds(20));
      return number(++made);
    });
  });
  EXPECT_EQ(made, 1);
  EXPECT_EQ(store.made(), 1);
  for (const auto& pointer : got) EXPECT_EQ(pointer, got[0]);
}

TEST(MemoryStoreThreads, OfNoCapacityThoseWhoWaitGetWhatWasMade) {
  Store store(0);
  std::atomic<int> made = 0;
  std::latch inside(1);
  std::jthread first([&] {
    store.get_or_make(7, [&] {
      inside.count_down();
      std::this_thread::sleep_for(std::chrono::milliseconds(50));
      return number(++made);
    });
  });
  inside.wait();
  EXPECT_EQ(*store.get_or_make(7, [&] { return number(++made); }), 1);
}

TEST(MemoryStoreThreads, OtherKeysAreMadeMeanwhile) {
  Store store(4);
  std::latch inside(1), others_done(1);
  std::jthread slow([&] {
    store.get_or_make(1, [&] {
      inside.count_down();
      others_done.wait();
      return number(1);
    });
  });
  inside.wait();
  EXPECT_EQ(*store.get_or_make(2, [] { return number(2); }), 2);
  EXPECT_EQ(*store.find(2), 2);
  EXPECT_FALSE(store.contains(1));
  others_done.count_down();
}

TEST(MemoryStoreThreads, WhoWaitedForAFailureTriesItself) {
  Store store(4);
  std::atomic<int> tries = 0, failures = 0, served = 0;
  on_threads(8, [&](int) {
    try {
      store.get_or_make(1, [&] {
        if (tries++ < 3) throw user_error("not yet");
        return number(1);
      });
      ++served;
    } catch (const Error&) {
      ++failures;
    }
  });
  EXPECT_EQ(failures, 3);
  EXPECT_EQ(served, 5);
  EXPECT_EQ(store.made(), 1);
}

TEST(MemoryStoreThreads, MakersThatNeedEachOtherAreAnErrorForOneOfThem) {
  Store store(4);
  std::latch both_make(2);
  std::atomic<int> errors = 0;
  on_threads(2, [&](int i) {
    try {
      store.get_or_make(i, [&] {
        both_make.arrive_and_wait();
        return store.get_or_make(1 - i, [] { return number(7); });
      });
    } catch (const Error&) {
      ++errors;
    }
  });
  EXPECT_EQ(errors, 1);
}

TEST(MemoryStoreThreads, ReadersSeeTheValueOfTheirKeyWhileOthersComeAndGo) {
  for (const Order order : {Order::Fifo, Order::Lru}) {
    Store store(8, order);
    constexpr int kKeys = 24, kRounds = 3000;
    std::atomic<int> wrong = 0;
    on_threads(4, [&](int thread) {
      for (int i = 0; i < kRounds; ++i) {
        const int key = (i * 7 + thread * 5 + i / 11) % kKeys;
        if (*store.get_or_make(key, [&] { return number(key * 3); }) != key * 3) ++wrong;
        if (const auto found = store.find(i % kKeys); found && *found != i % kKeys * 3) ++wrong;
        if (i % 97 == 0) store.erase(key);
        if (thread == 0 && i % 501 == 0) store.clear();
      }
    });
    EXPECT_EQ(wrong, 0);
    EXPECT_LE(store.size(), 8u);
  }
}

TEST(MemoryStoreThreads, ThreadsThatEndLeaveTheirSlotsToOthers) {
  Store store(1);
  store.get_or_make(1, [] { return number(1); });
  for (int i = 0; i < 200; ++i) std::thread([&] { EXPECT_EQ(*store.find(1), 1); }).join();
  const std::weak_ptr<int> held = store.find(1);
  store.clear();
  EXPECT_TRUE(held.expired());  // no slot names the index it was in
}

// Comparing keys calls `when_compared_` of the thread, where there is one.
struct HookedKey {
  bool operator==(const HookedKey& other) const {
    if (when_compared_) when_compared_();
    return id == other.id;
  }
  int id;
  static inline thread_local std::function<void()> when_compared_;
};
struct HashId {
  size_t operator()(const HookedKey& key) const { return static_cast<size_t>(key.id); }
};

TEST(MemoryStoreThreads, AHitWaitsForNoOneWhoChangesTheStore) {
  MemoryStore<HookedKey, int, HashId> store(4);
  store.get_or_make({1}, [] { return number(1); });
  std::latch changing(1), go_on(1);
  std::jthread changes([&] {
    HookedKey::when_compared_ = [&] {
      changing.count_down();
      go_on.wait();
    };
    store.erase({1});  // compares with the store locked
  });
  changing.wait();
  EXPECT_EQ(*store.find({1}), 1);
  go_on.count_down();
}

// Destroyed after the thread's slot was given back.
struct ReadsLate {
  ~ReadsLate() { EXPECT_EQ(*store->find(1), 1); }
  Store* store = nullptr;
};

TEST(MemoryStoreThreads, AThreadThatIsEndingStillReads) {
  Store store(1);
  store.get_or_make(1, [] { return number(1); });
  std::thread([&] {
    static thread_local ReadsLate late;
    late.store = &store;
    store.find(1);
  }).join();
}

TEST(MemoryStoreThreads, MakersOfTwoStoresThatNeedEachOtherAreAnErrorForOneOfThem) {
  using Numbers = MemoryStore<int, int>;
  Numbers first(4), second(4);
  std::latch both(2);
  std::atomic<int> errors = 0;
  const auto need = [&](Numbers& mine, Numbers& other) {
    try {
      mine.get_or_make(1, [&] {
        both.arrive_and_wait();
        return std::make_shared<int>(
            *other.get_or_make(1, [] { return std::make_shared<int>(2); }));
      });
    } catch (const Error&) {
      ++errors;
    }
  };
  {
    const std::jthread a([&] { need(first, second); }), b([&] { need(second, first); });
  }
  EXPECT_EQ(errors, 1);
}

// Whoever makes it is not there.
TEST(MemoryStoreThreads, AForkedProcessMakesWhatWasBeingMade) {
  MemoryStore<int, int> store(4);
  std::latch making(1), forked(1);
  std::jthread maker([&] {
    store.get_or_make(1, [&] {
      making.count_down();
      forked.wait();
      return std::make_shared<int>(1);
    });
  });
  making.wait();
  const pid_t child = fork();
  if (child == 0) {
    alarm(60);  // it would wait for ever
    _exit(*store.get_or_make(1, [] { return std::make_shared<int>(2); }) == 2 ? 0 : 1);
  }
  int status = -1;
  waitpid(child, &status, 0);
  forked.count_down();
  EXPECT_EQ(status, 0);
}

}  // namespace
}  // namespace tenon::cache
