// How a store on disk keeps to its size, and that no time decides anything.
#include <fcntl.h>
#include <sys/stat.h>

#include "tests/cache/faulty_files.h"
#include "tests/cache/store_test.h"

namespace tenon::cache {
namespace {

constexpr size_t kValue = 6000, kFile = 4096 + kValue;

class DiskStoreRoomTest : public StoreTest {
 protected:
  // With room for that many of the entries below.
  DiskStore store_of(uint64_t entries, Order order = Order::Lru) {
    DiskStoreOptions made = options();
    made.max_bytes = entries * kFile;
    made.order = order;
    return DiskStore(made);
  }

  static Bytes use(DiskStore& store, int i) {
    return store.get_or_make(
        key_of(i), [&] { return std::vector<std::byte>(kValue, static_cast<std::byte>(i)); });
  }
  bool is_there(int i) const { return std::filesystem::exists(file_of(i)); }
};

TEST_F(DiskStoreRoomTest, TheLeastRecentlyUsedGoes) {
  DiskStore store = store_of(3);
  for (const int i : {1, 2, 3, 1, 4}) use(store, i);
  EXPECT_TRUE(is_there(1));
  EXPECT_FALSE(is_there(2));
  EXPECT_TRUE(is_there(3));
  EXPECT_TRUE(is_there(4));
  DiskStore other = store_of(3);  // another process knows the same order
  use(other, 3);
  use(other, 5);
  EXPECT_FALSE(is_there(1));
  EXPECT_TRUE(is_there(3));
}

TEST_F(DiskStoreRoomTest, FirstInFirstOutUnderThatOrder) {
  DiskStore store = store_of(3, Order::Fifo);
  for (const int i : {1, 2, 3, 1, 4}) use(store, i);
  EXPECT_FALSE(is_there(1));
  EXPECT_TRUE(is_there(2));
}

TEST_F(DiskStoreRoomTest, NeverHoldsMoreThanItMay) {
  DiskStore store = store_of(10);
  for (int i = 0; i < 60; ++i) {
    use(store, i);
    uint64_t bytes = 0;
    for (const DiskStore::Entry& entry : store.entries()) bytes += entry.bytes;
    ASSERT_LE(bytes, 10 * kFile);
  }
  EXPECT_EQ(store.entries().size(), 10u);
}

TEST_F(DiskStoreRoomTest, WhatWasJustPublishedStays) {
  DiskStore store = store_of(1);
  for (const int i : {1, 2}) use(store, i);
  write_text(folder() / "uses", "");  // nobody knows the order
  use(store, 3);
  EXPECT_TRUE(is_there(3));
  EXPECT_FALSE(is_there(2));
}

TEST_F(DiskStoreRoomTest, WhatIsTooLargeIsReturnedAndNotKept) {
  DiskStore store = store_of(1);
  use(store, 2);
  EXPECT_TRUE(makes(store, 5));
  EXPECT_FALSE(is_there(5));
  EXPECT_TRUE(is_there(2));
}

TEST_F(DiskStoreRoomTest, WhatIsUsedStaysValidWhenItGoes) {
  DiskStoreOptions made = options();
  made.max_bytes = (10 << 20);
  DiskStore store(made);
  makes(store, 5);
  const Bytes mapped = *store.find(key_of(5));
  for (int i = 10; i < 150; ++i) use(store, i);
  EXPECT_FALSE(is_there(5));
  EXPECT_TRUE(is_value(mapped, 5));
}

TEST_F(DiskStoreRoomTest, NoTimeOfAFileIsRead) {
  DiskStore store = store_of(3);
  for (const int i : {1, 2, 3}) use(store, i);
  for (const int i : {1, 2, 3}) {  // the first the youngest, all in the future or before all time
    const timespec times[2] = {{.tv_sec = i == 1 ? 4'000'000'000 : -i, .tv_nsec = 0},
                               {.tv_sec = i == 1 ? 4'000'000'000 : -i, .tv_nsec = 0}};
    ASSERT_EQ(utimensat(AT_FDCWD, file_of(i).c_str(), times, 0), 0);
  }
  use(store, 4);
  EXPECT_FALSE(is_there(1));
  EXPECT_TRUE(is_there(2));
}

TEST_F(DiskStoreRoomTest, DamageOfTheJournalCostsTheOrderOnly) {
  for (const std::string& junk : {std::string("\0\n\n\xff junk", 9), std::string(100'000, 'x')}) {
    DiskStore store = store_of(3);
    for (const int i : {1, 2, 3}) use(store, i);
    write_text(folder() / "uses", junk);
    EXPECT_EQ(store.entries().size(), 3u);
    use(store, 4);
    EXPECT_TRUE(is_there(4));
    EXPECT_EQ(store.entries().size(), 3u);
    store.clear();
  }
}

TEST_F(DiskStoreRoomTest, TheJournalStaysShort) {
  DiskStore store = store_of(3);
  use(store, 1);
  use(store, 2);
  for (int i = 0; i < 3000; ++i) store.find(key_of(1));
  use(store, 3);
  use(store, 4);
  EXPECT_LT(std::filesystem::file_size(folder() / "uses"), 10'000u);
  EXPECT_TRUE(is_there(1));  // the order survives
  EXPECT_FALSE(is_there(2));
}

TEST_F(DiskStoreRoomTest, TheJournalStaysShortWhereNothingIsPublished) {
  DiskStore store = store_of(3);
  for (const int i : {1, 2, 3}) use(store, i);
  const std::string line = key_of(2).digest().hex() + "\n";
  std::string uses;
  while (uses.size() + line.size() < 1 << 20) uses += line;
  write_text(folder() / "uses", uses);
  for (const int i : {1, 3}) store.find(key_of(i));
  EXPECT_LT(std::filesystem::file_size(folder() / "uses"), 10'000u);
  use(store, 4);
  EXPECT_FALSE(is_there(2));  // the order survives
}

TEST_F(DiskStoreRoomTest, LeftTemporariesAreRemovedByTheNextWriter) {
  const std::string left = file_of(7).string() + ".123.1.tmp";
  {
    DiskStore store = store_of(3);
    write_text(left, "half");
    use(store, 1);
  }
  EXPECT_FALSE(std::filesystem::exists(left));
  DiskStore store = store_of(3);
  write_text(left, "half");
  store.clear();
  EXPECT_FALSE(std::filesystem::exists(left));
}

TEST_F(DiskStoreRoomTest, WhatAnotherWritesNowIsNotRemoved) {
  DiskStore store = store_of(3);
  const std::string other = file_of(7).string() + ".123.1.tmp";
  store.get_or_make(key_of(7), [&] {  // has the lock of 7
    write_text(other, "half");
    DiskStore cleaner = store_of(3);
    use(cleaner, 1);
    EXPECT_TRUE(std::filesystem::exists(other));
    return value_of(7);
  });
}

}  // namespace
}  // namespace tenon::cache
