// A store on disk that several processes use at once.
#include <signal.h>

#include <algorithm>
#include <atomic>
#include <chrono>
#include <thread>

#include "tests/cache/child.h"
#include "tests/cache/store_test.h"

namespace tenon::cache {
namespace {

using std::chrono::milliseconds;

class DiskStoreProcessesTest : public StoreTest {
 protected:
  std::string log() const { return (outside_ / "log").string(); }

  // A child that makes entry 1 for ever, and has begun to.
  pid_t start_holder() {
    const pid_t child = start_child({"hold", folder().string(), log()});
    while (!std::filesystem::exists(log())) std::this_thread::sleep_for(milliseconds(1));
    return child;
  }
  static void kill_now(pid_t child) {
    kill(child, SIGKILL);
    EXPECT_EQ(wait_child(child), -SIGKILL);
  }
};

TEST_F(DiskStoreProcessesTest, EightThatStartColdMakeEachEntryOnce) {
  constexpr int kEntries = 20;
  std::vector<pid_t> children;
  for (int i = 0; i < 8; ++i) {
    children.push_back(start_child(
        {"make", folder().string(), log(), std::to_string(kEntries), std::to_string(i)}));
  }
  for (const pid_t child : children) EXPECT_EQ(wait_child(child), 0);
  std::ifstream in(log());
  std::vector<int> made{std::istream_iterator<int>(in), {}};
  std::ranges::sort(made);
  ASSERT_EQ(made.size(), size_t{kEntries});
  for (int i = 0; i < kEntries; ++i) EXPECT_EQ(made[static_cast<size_t>(i)], i);
}

TEST_F(DiskStoreProcessesTest, WhoWaitsForOneThatIsKilledMakesItItself) {
  const pid_t holder = start_holder();
  std::atomic<bool> done = false, made = false;
  std::jthread waiter([&] {
    DiskStore store(options());
    made = makes(store, 1);
    done = true;
  });
  DiskStore other(options());
  EXPECT_TRUE(makes(other, 2));  // another entry is not waited for
  std::this_thread::sleep_for(milliseconds(50));
  EXPECT_FALSE(done);
  kill_now(holder);
  waiter.join();
  EXPECT_TRUE(made);
}

TEST_F(DiskStoreProcessesTest, ListingVerifyingAndClearingWaitForNoMaker) {
  DiskStore store(options());
  makes(store, 2);
  write_text(file_of(1), "damaged");
  const pid_t holder = start_holder();
  EXPECT_EQ(store.entries().size(), 1u);
  EXPECT_EQ(store.verify(true).size(), 1u);
  EXPECT_EQ(read_text(file_of(1)), "damaged");  // for the maker to replace
  store.clear();
  EXPECT_TRUE(store.entries().empty());
  kill_now(holder);
  EXPECT_TRUE(makes(store, 1));
}

}  // namespace
}  // namespace tenon::cache
