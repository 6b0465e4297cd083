// What is kept is found, by any store on the folder; what is damaged is as if it were not there.
#include "base/file_store.h"

#include <gtest/gtest.h>
#include <unistd.h>

#include <cstring>
#include <filesystem>
#include <fstream>

#include "base/log.h"

namespace tenon {
namespace {

std::vector<std::byte> bytes_of(std::string_view text) {
  const auto bytes = std::as_bytes(std::span(text));
  return {bytes.begin(), bytes.end()};
}

class FileStoreTest : public ::testing::Test {
 protected:
  FileStoreTest() { set_log_level(LogLevel::Off); }
  ~FileStoreTest() override {
    set_log_level(LogLevel::Warning);
    std::filesystem::remove_all(folder_);
  }

  std::filesystem::path folder_ = std::filesystem::path(testing::TempDir()) /
                                  ("tenon_store_" + std::to_string(getpid())) / "below";
  FileStore store_{folder_.string()};
  Digest key_ = digest_of("key"), other_ = digest_of("other");
};

TEST_F(FileStoreTest, FindsWhatWasKept) {
  EXPECT_FALSE(store_.find(key_));
  store_.keep(key_, bytes_of("a cubin"));
  store_.keep(other_, {});
  EXPECT_EQ(FileStore(folder_.string()).find(key_), bytes_of("a cubin"));
  EXPECT_EQ(store_.find(other_), bytes_of(""));
  store_.keep(key_, bytes_of("another"));
  EXPECT_EQ(store_.find(key_), bytes_of("another"));
  int files = 0;
  for ([[maybe_unused]] const auto& file : std::filesystem::directory_iterator(folder_)) ++files;
  EXPECT_EQ(files, 2);  // no temporary one is left
}

TEST_F(FileStoreTest, DamagedFilesAreAbsentAndReplaced) {
  store_.keep(key_, bytes_of("a cubin"));
  const std::filesystem::path file = folder_ / key_.hex();
  const auto size = std::filesystem::file_size(file);
  for (const uintmax_t kept : {size - 1, uintmax_t{31}, uintmax_t{0}}) {
    std::filesystem::resize_file(file, kept);
    EXPECT_FALSE(store_.find(key_)) << kept;
  }
  store_.keep(key_, bytes_of("a cubin"));
  {
    std::fstream damage(file, std::ios::in | std::ios::out | std::ios::binary);
    damage.seekp(static_cast<std::streamoff>(size) - 1);
    damage.put('x');
  }
  EXPECT_FALSE(store_.find(key_));
  store_.keep(key_, bytes_of("a cubin"));
  EXPECT_EQ(store_.find(key_), bytes_of("a cubin"));
}

TEST_F(FileStoreTest, AFileUnderAnotherNameIsAbsent) {
  const Digest other = digest_of("another key");
  store_.keep(key_, bytes_of("a cubin"));
  std::filesystem::copy_file(folder_ / key_.hex(), folder_ / other.hex());
  EXPECT_EQ(store_.find(other), std::nullopt);
  EXPECT_EQ(store_.find(key_), bytes_of("a cubin"));
}

TEST_F(FileStoreTest, AFolderThatCannotBeWrittenIsNoError) {
  std::filesystem::create_directories(folder_.parent_path());
  std::ofstream(folder_) << "a file";
  store_.keep(key_, bytes_of("a cubin"));
  EXPECT_FALSE(store_.find(key_));
}

TEST_F(FileStoreTest, AStoreWithoutAFolderHoldsNothing) {
  const FileStore nowhere("");
  nowhere.keep(key_, bytes_of("a cubin"));
  EXPECT_FALSE(nowhere.find(key_));
}

}  // namespace
}  // namespace tenon
