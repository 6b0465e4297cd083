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

TEST_F(AtomicFile, AFolderThatIsNotThereIsAnError) {
  EXPECT_THROW(write_atomically((folder_ / "no" / "file").string(), "text"), Error);
}

}  // namespace
}  // namespace tenon
