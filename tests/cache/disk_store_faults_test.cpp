// A store on disk whose disk is full, read-only, broken or somebody else's still gives the value.
#include <fcntl.h>
#include <sys/stat.h>

#include <cerrno>

#include "tests/cache/faulty_files.h"
#include "tests/cache/store_test.h"

namespace tenon::cache {
namespace {

class DiskStoreFaultsTest : public StoreTest {
 protected:
  DiskStoreFaultsTest() {
    set_log_level(LogLevel::Warning);
    set_log_sink([this](LogLevel, std::string_view message) { logged_.emplace_back(message); });
  }
  ~DiskStoreFaultsTest() override { set_log_sink({}); }

  DiskStoreOptions faulty() {
    DiskStoreOptions made = options();
    made.files = &files_;
    return made;
  }

  FaultyFiles files_;
  std::vector<std::string> logged_;
};

TEST_F(DiskStoreFaultsTest, AFullDiskCostsAWarningOnce) {
  files_.fault = [](Call call, int) { return call == Call::Write ? -ENOSPC : 0; };
  DiskStore store(faulty());
  for (const int i : {1, 2, 5}) EXPECT_TRUE(makes(store, i));
  ASSERT_EQ(logged_.size(), 1u);
  EXPECT_NE(logged_[0].find("No space left"), std::string::npos) << logged_[0];
  EXPECT_NE(logged_[0].find(folder().string()), std::string::npos) << logged_[0];
  EXPECT_TRUE(DiskStore(options()).entries().empty());
  for (const std::string& name : StoreTest::files()) EXPECT_FALSE(name.ends_with(".tmp")) << name;
}

TEST_F(DiskStoreFaultsTest, AFileIsSyncedBeforeItGetsItsName) {
  std::vector<Call> calls;
  files_.fault = [&](Call call, int) {
    if (call == Call::Write || call == Call::Sync || call == Call::Rename) calls.push_back(call);
    return 0;
  };
  DiskStore whole(faulty());
  makes(whole, 1);
  const std::vector<Call> first(calls.begin(), calls.begin() + 4);  // then the journal's
  EXPECT_EQ(first, (std::vector{Call::Write, Call::Write, Call::Sync, Call::Rename}));

  files_.fault = [](Call call, int) { return call == Call::Sync ? -EIO : 0; };
  DiskStore store(faulty());
  EXPECT_TRUE(makes(store, 2));
  EXPECT_FALSE(std::filesystem::exists(file_of(2)));
}

TEST_F(DiskStoreFaultsTest, ShortWritesAreContinued) {
  files_.most_written = 1000;
  DiskStore store(faulty());
  EXPECT_TRUE(makes(store, 3));
  EXPECT_FALSE(makes(store, 3));
}

TEST_F(DiskStoreFaultsTest, AReadOnlyFolderIsRead) {
  DiskStore(options()).get_or_make(key_of(1), [] { return value_of(1); });
  files_.fault = [](Call call, int flags) {
    const bool writes = (call == Call::Open && (flags & O_ACCMODE) != O_RDONLY) ||
                        call == Call::Rename || call == Call::Remove;
    return writes ? -EROFS : 0;
  };
  DiskStore store(faulty());
  EXPECT_FALSE(makes(store, 1));
  EXPECT_TRUE(makes(store, 2));
  EXPECT_TRUE(makes(store, 3));
  EXPECT_EQ(logged_.size(), 1u);
}

TEST_F(DiskStoreFaultsTest, WithoutLocksItIsMadePrivatelyAtOnce) {
  for (const int reason : {ENOLCK, ENOSYS, EINVAL, EOPNOTSUPP}) {
    files_.fault = [=](Call call, int) { return call == Call::Lock ? -reason : 0; };
    DiskStore store(faulty());
    EXPECT_TRUE(makes(store, 1)) << reason;
    EXPECT_TRUE(makes(store, 1)) << reason;
    EXPECT_TRUE(store.entries().empty());
  }
}

TEST_F(DiskStoreFaultsTest, NoFailingCallFailsTheStore) {
  for (const Call call : {Call::OpenFolder, Call::Open, Call::Close, Call::Read, Call::Write,
                          Call::Sync, Call::Status, Call::Map, Call::Rename, Call::Remove,
                          Call::List, Call::Lock, Call::Unlock}) {
    files_.fault = [=](Call now, int) { return now == call ? -EIO : 0; };
    DiskStore store(faulty());
    for (const int i : {1, 5, 1, 5}) makes(store, i);
    store.entries();
    store.nearest(key_of(1));
    store.verify(true);
    store.clear();
  }
}

TEST_F(DiskStoreFaultsTest, AWriterThatStopsAnywhereLeavesAFolderThatWorks) {
  int calls = 0, stop = 0;
  for (; stop <= calls; ++stop) {
    std::filesystem::remove_all(folder());
    FaultyFiles stopping;
    stopping.stop_after(stop);
    DiskStoreOptions made = options();
    made.files = &stopping;
    {
      DiskStore store(made);
      for (const int i : {1, 2, 1}) makes(store, i);
    }
    calls = stopping.calls;
    DiskStore store(options());
    for (const int i : {1, 2}) makes(store, i);
    for (const int i : {1, 2}) EXPECT_FALSE(makes(store, i)) << stop;
    makes(store, 3);
    EXPECT_TRUE(store.verify(false).empty()) << stop;
    for (const std::string& name : StoreTest::files()) EXPECT_FALSE(name.ends_with(".tmp")) << name;
  }
  EXPECT_GT(stop, 20);  // the last ran to its end
}

TEST_F(DiskStoreFaultsTest, AFolderThatOthersMayWriteIsNotUsed) {
  DiskStore(options()).get_or_make(key_of(1), [] { return value_of(1); });
  for (const mode_t mode : {0770, 0707}) {
    logged_.clear();
    ASSERT_EQ(chmod(folder().c_str(), mode), 0);
    DiskStore store(options());
    EXPECT_FALSE(store.usable());
    EXPECT_TRUE(makes(store, 1));  // not even read
    EXPECT_TRUE(makes(store, 2));
    ASSERT_EQ(logged_.size(), 1u);
    EXPECT_NE(logged_[0].find("other users may write it"), std::string::npos) << logged_[0];
  }
  ASSERT_EQ(chmod(folder().c_str(), 0755), 0);
  DiskStore store(options());
  EXPECT_FALSE(makes(store, 1));
}

class OthersFiles : public FaultyFiles {
 public:
  int status(int file, FileStatus& status) override {
    const int result = FaultyFiles::status(file, status);
    status.is_mine = false;
    return result;
  }
};

TEST_F(DiskStoreFaultsTest, AFolderOfAnotherUserIsNotUsed) {
  DiskStore(options()).get_or_make(key_of(1), [] { return value_of(1); });
  OthersFiles others;
  DiskStoreOptions made = options();
  made.files = &others;
  DiskStore store(made);
  EXPECT_FALSE(store.usable());
  EXPECT_TRUE(makes(store, 1));
}

TEST_F(DiskStoreFaultsTest, AFileThatOthersMayWriteIsReplaced) {
  for (const mode_t mode : {0620, 0602}) {
    DiskStore(options()).get_or_make(key_of(1), [] { return value_of(1); });
    ASSERT_EQ(chmod(file_of(1).c_str(), mode), 0);
    DiskStore store(options());
    EXPECT_TRUE(makes(store, 1));
    EXPECT_FALSE(makes(store, 1));
  }
}

TEST_F(DiskStoreFaultsTest, WhatIsMadeIsOpenToTheUserOnly) {
  DiskStore store(options());
  makes(store, 1);
  struct stat status;
  for (const auto& path : {folder(), folder().parent_path()}) {
    ASSERT_EQ(stat(path.c_str(), &status), 0);
    EXPECT_EQ(status.st_mode & 0777, 0700u) << path;
  }
  for (const std::string& name : StoreTest::files()) {
    ASSERT_EQ(stat((folder() / name).c_str(), &status), 0);
    EXPECT_EQ(status.st_mode & 0077, 0u) << name;
  }
}

TEST_F(DiskStoreFaultsTest, AFileInPlaceOfTheFolderIsNoError) {
  std::filesystem::create_directories(folder().parent_path());
  write_text(folder(), "a file");
  DiskStore store(options());
  EXPECT_TRUE(makes(store, 1));
  EXPECT_EQ(logged_.size(), 1u);
}

TEST(DefaultFolder, IsTheKnobsOrInTheUsersCache) {
  EXPECT_EQ(default_folder("/k", "/xdg", "/home/a"), "/k");
  EXPECT_EQ(default_folder("", "/xdg", "/home/a"), "/xdg/tenon");
  EXPECT_EQ(default_folder("", nullptr, "/home/a"), "/home/a/.cache/tenon");
  EXPECT_EQ(default_folder("", "relative", "/home/a"), "/home/a/.cache/tenon");
  EXPECT_EQ(default_folder("", nullptr, nullptr), "");
}

}  // namespace
}  // namespace tenon::cache
