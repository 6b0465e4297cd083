// Files appear whole, and with the mode that the process gives new files.
#include "base/atomic_file.h"

#include <gtest/gtest.h>
#include <sys/stat.h>
#include <unistd.h>

#include <filesystem>
#include <fstream>
#include <sstream>

#include "base/error.h"

namespace tenon {
namespace {

class AtomicFile : public ::testing::Test {
 protected:
  AtomicFile() { std::filesystem::create_directory(folder_); }
  ~AtomicFile() override { std::filesystem::remove_all(folder_); }

  std::string read() const {
    std::stringstream text;
    text << std::ifstream(path_).rdbuf();
    return text.str();
  }
  mode_t mode() const {
    struct stat status{};
    EXPECT_EQ(stat(path_.c_str(), &status), 0);
    return status.st_mode & 0777;
  }

  const std::filesystem::path folder_ =
      std::filesystem::temp_directory_path() / ("tenon_atomic_" + std::to_string(getpid()));
  const std::string path_ = folder_ / "file";
};

TEST_F(AtomicFile, ReplacesWhatWasThereAndLeavesNothingElse) {
  write_atomically(path_, "first");
  write_atomically(path_, "second");
  EXPECT_EQ(read(), "second");
  using Files = std::filesystem::directory_iterator;
  EXPECT_EQ(std::distance(Files(folder_), Files()), 1);
}

TEST_F(AtomicFile, HasTheModeOfNewFiles) {
  for (const mode_t mask : {0022, 0077, 0002}) {
    const mode_t before = umask(mask);
    write_atomically(path_, "text");
    umask(before);
    EXPECT_EQ(mode(), 0666 & ~mask);
  }
}

TEST_F(AtomicFile, OfSeveralFilesAllAreThereOrNone) {
  const std::string other = folder_ / "other", taken = folder_ / "taken";
  const std::string_view text = "text";
  std::filesystem::create_directories(taken + "/inside");
  const FileToWrite fail[] = {{path_, {&text, 1}}, {taken, {&text, 1}}};
  EXPECT_THROW(write_atomically(fail), Error);
  const FileToWrite absent[] = {{path_, {&text, 1}}, {folder_ / "no" / "file", {&text, 1}}};
  EXPECT_THROW(write_atomically(absent), Error);
  using Files = std::filesystem::directory_iterator;
  EXPECT_EQ(std::distance(Files(folder_), Files()), 1);  // the folder that was there
  write_atomically(path_, "before");  // a folder in the way of one leaves the others as they were
  EXPECT_THROW(write_atomically(fail), Error);
  EXPECT_EQ(read(), "before");
  const FileToWrite both[] = {{path_, {&text, 1}}, {other, {&text, 1}}};
  write_atomically(both);
  EXPECT_EQ(read(), "text");
  EXPECT_EQ(std::filesystem::file_size(other), 4U);
}

TEST_F(AtomicFile, AFolderThatIsNotThereIsAnError) {
  EXPECT_THROW(write_atomically((folder_ / "no" / "file").string(), "text"), Error);
}

}  // namespace
}  // namespace tenon
