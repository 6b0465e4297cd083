#include "cache/disk_store.h"

#include <fcntl.h>
#include <sys/stat.h>

#include <atomic>
#include <thread>

#include "cache/entry_format.h"
#include "tests/cache/faulty_files.h"
#include "tests/cache/store_test.h"
#include "tests/error_of.h"

namespace tenon::cache {
namespace {

class DiskStoreTest : public StoreTest {};

TEST_F(DiskStoreTest, KeepsWhatWasMadeForOtherStoresOnTheFolder) {
  DiskStore store(options());
  EXPECT_FALSE(store.find(key_of(1)));
  for (int i = 0; i < 9; ++i) EXPECT_TRUE(makes(store, i)) << i;
  DiskStore other(options());
  for (int i = 0; i < 9; ++i) {
    EXPECT_FALSE(makes(other, i)) << i;
    EXPECT_TRUE(is_value(*other.find(key_of(i)), i)) << i;
  }
}

TEST_F(DiskStoreTest, ValuesAreAligned) {
  for (const bool found : {false, true}) {
    DiskStore store(options());
    for (const int i : {1, 2, 5}) {
      EXPECT_EQ(makes(store, i), !found);
      const Bytes value = store.get_or_make(key_of(i), [&] { return value_of(i); });
      EXPECT_EQ(reinterpret_cast<uintptr_t>(value.data().data()) % kBytesAlignment, 0u);
    }
  }
}

TEST_F(DiskStoreTest, AMakerThatThrowsLeavesNothing) {
  DiskStore store(options());
  const auto fails = []() -> std::vector<std::byte> { throw user_error("no"); };
  EXPECT_EQ(user_error_of([&] { store.get_or_make(key_of(1), fails); }), "no");
  EXPECT_TRUE(store.entries().empty());
  EXPECT_TRUE(makes(store, 1));
}

TEST_F(DiskStoreTest, AMakerThatNeedsItselfIsAnError) {
  DiskStore store(options());
  const std::string error = user_error_of([&] {
    store.get_or_make(key_of(1), [&] {
      EXPECT_TRUE(makes(store, 2));  // another is fine
      makes(store, 1);
      return value_of(1);
    });
  });
  EXPECT_NE(error.find("needs that same entry"), std::string::npos) << error;
}

TEST_F(DiskStoreTest, ThirtyTwoThreadsMakeItOnceAlsoWithoutAFolder) {
  for (const std::string& path : {folder().string(), std::string()}) {
    DiskStore store({.folder = path});
    std::atomic<int> made = 0, right = 0;
    {
      std::vector<std::jthread> threads;
      for (int t = 0; t < 32; ++t) {
        threads.emplace_back([&] {
          const Bytes value = store.get_or_make(key_of(1), [&] {
            // All others have asked by the time it is made.
            std::this_thread::sleep_for(std::chrono::milliseconds(200));
            ++made;
            return value_of(1);
          });
          right += is_value(value, 1) ? 1 : 0;
        });
      }
    }
    EXPECT_EQ(made, 1) << path;
    EXPECT_EQ(right, 32);
  }
}

TEST_F(DiskStoreTest, TwoStoresOfOneProcessMakeItOnce) {
  std::atomic<int> made = 0;
  {
    std::vector<std::jthread> threads;
    for (int t = 0; t < 8; ++t) {
      threads.emplace_back([&] {
        DiskStore store(options());
        for (int i = 1; i < 5; ++i) made += makes(store, i) ? 1 : 0;
      });
    }
  }
  EXPECT_EQ(made, 4);
}

TEST_F(DiskStoreTest, EveryBitOfAFileMatters) {
  DiskStore store(options());
  makes(store, 3);
  const std::string whole = read_text(file_of(3));
  // All of the header and the key, some of the rest.
  for (size_t at = 0; at < whole.size(); at += at < 300 ? 1 : 97) {
    std::string damaged = whole;
    damaged[at] = static_cast<char>(damaged[at] ^ (1 << at % 8));
    write_text(file_of(3), damaged);
    EXPECT_FALSE(store.find(key_of(3))) << at;
  }
  EXPECT_TRUE(makes(store, 3));  // and replaces it
  EXPECT_EQ(read_text(file_of(3)), whole);
  EXPECT_FALSE(makes(store, 3));
}

TEST_F(DiskStoreTest, AFileOfAnotherLengthIsAbsent) {
  DiskStore store(options());
  makes(store, 3);
  const std::string whole = read_text(file_of(3));
  for (const size_t kept :
       {size_t{0}, size_t{10}, sizeof(EntryHeader), size_t{4095}, size_t{4096}, whole.size() - 1}) {
    write_text(file_of(3), whole.substr(0, kept));
    EXPECT_FALSE(store.find(key_of(3))) << kept;
  }
  write_text(file_of(3), whole + "x");
  EXPECT_TRUE(makes(store, 3));
}

TEST_F(DiskStoreTest, TheEntryOfAnotherKeyIsAbsent) {
  DiskStore store(options());
  makes(store, 1);
  std::filesystem::copy_file(file_of(1), file_of(2));
  EXPECT_FALSE(store.find(key_of(2)));
  EXPECT_TRUE(makes(store, 2));
  EXPECT_FALSE(makes(store, 1));
}

TEST_F(DiskStoreTest, AnotherFormatIsAbsent) {
  DiskStore store(options());
  makes(store, 1);
  const std::vector<std::byte> value = value_of(1);
  std::vector<std::byte> front = make_front(key_of(1), value);
  auto* header = reinterpret_cast<EntryHeader*>(front.data());
  header->version = EntryHeader::kVersion + 1;
  const auto all = std::span<const std::byte>(front);
  header->digest = Hasher().bytes(all.first(32)).bytes(all.subspan(64)).finish().bytes;
  std::string text(reinterpret_cast<const char*>(front.data()), front.size());
  text.append(reinterpret_cast<const char*>(value.data()), value.size());
  write_text(file_of(1), text);
  EXPECT_TRUE(makes(store, 1));
}

TEST_F(DiskStoreTest, WhatIsNoFileIsNoEntry) {
  DiskStore store(options());
  makes(store, 1);
  std::filesystem::rename(file_of(1), folder() / "elsewhere");
  std::filesystem::create_symlink("elsewhere", file_of(1));
  std::filesystem::create_directory(file_of(2));
  ASSERT_EQ(mkfifo(file_of(3).c_str(), 0600), 0);
  for (const int i : {1, 2, 3}) EXPECT_TRUE(makes(store, i)) << i;
  EXPECT_FALSE(makes(store, 1));  // replaced
  EXPECT_TRUE(makes(store, 2));   // cannot be
  EXPECT_FALSE(makes(store, 3));
}

TEST_F(DiskStoreTest, LargeValuesAreVerifiedWhenTheyAreRead) {
  DiskStore store(options());
  makes(store, 5);
  const size_t front = make_front(key_of(5), value_of(5)).size();
  {
    std::fstream file(file_of(5), std::ios::in | std::ios::out | std::ios::binary);
    file.seekp(static_cast<std::streamoff>(front + 3 * kChunkBytes + 77));
    file.put('x').put('y');
  }
  EXPECT_FALSE(store.find(key_of(5)));
  EXPECT_FALSE(store.find(key_of(5), 3 * kChunkBytes + 1));
  const std::optional<Bytes> found = store.find(key_of(5), 3 * kChunkBytes);
  ASSERT_TRUE(found);
  ASSERT_EQ(found->chunks(), 10u);
  for (size_t chunk = 0; chunk < 10; ++chunk) EXPECT_EQ(found->verify_chunk(chunk), chunk != 3);
  EXPECT_TRUE(makes(store, 5));
}

TEST_F(DiskStoreTest, ListsItsEntriesTheLastUsedFirst) {
  DiskStore store(options());
  for (const int i : {1, 2, 3}) makes(store, i);
  store.find(key_of(1));
  const std::vector<DiskStore::Entry> entries = DiskStore(options()).entries();
  ASSERT_EQ(entries.size(), 3u);
  EXPECT_EQ(entries[0].key, key_of(1));
  EXPECT_EQ(entries[1].key, key_of(3));
  EXPECT_EQ(entries[2].key, key_of(2));
  EXPECT_EQ(entries[0].bytes, std::filesystem::file_size(file_of(1)));
}

TEST_F(DiskStoreTest, TheNearestEntryDiffersInTheFewestFields) {
  DiskStore store(options());
  EXPECT_FALSE(store.nearest(key_of(1)));
  makes(store, 1);
  makes(store, 2);
  const auto nearest = store.nearest(key_of(1, "2"));
  ASSERT_TRUE(nearest);
  EXPECT_EQ(differing(key_of(1, "2"), nearest->key), (std::vector<std::string>{"version"}));
  EXPECT_EQ(store.nearest(key_of(9))->key, key_of(2));  // as far as the other, used later
}

TEST_F(DiskStoreTest, VerifyNamesWhatIsDamagedAndRemovesItOnRequest) {
  DiskStore store(options());
  for (const int i : {1, 2, 5}) makes(store, i);
  EXPECT_TRUE(store.verify(false).empty());
  for (const int i : {1, 5}) {
    std::string text = read_text(file_of(i));
    text.back() = static_cast<char>(text.back() + 1);
    write_text(file_of(i), text);
  }
  EXPECT_EQ(store.verify(false).size(), 2u);
  const std::vector<DiskStore::Damaged> damaged = store.verify(true);
  ASSERT_EQ(damaged.size(), 2u);
  EXPECT_EQ(damaged[0].reason, "its contents are damaged");
  EXPECT_TRUE(store.verify(false).empty());
  EXPECT_EQ(store.entries().size(), 1u);
}

TEST_F(DiskStoreTest, ErasesAndClears) {
  DiskStore store(options());
  for (const int i : {1, 2, 3}) makes(store, i);
  write_text(folder() / "notes.txt", "not ours");
  EXPECT_TRUE(store.erase(key_of(2)));
  EXPECT_FALSE(store.erase(key_of(2)));
  EXPECT_EQ(store.entries().size(), 2u);
  store.clear();
  EXPECT_TRUE(store.entries().empty());
  EXPECT_EQ(read_text(folder() / "notes.txt"), "not ours");
  EXPECT_TRUE(makes(store, 1));
}

}  // namespace
}  // namespace tenon::cache
