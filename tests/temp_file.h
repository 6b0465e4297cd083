// A name for a file or folder of this test's own: tests run in several processes at the same time.
// What is there goes at the end of the scope.
#pragma once

#include <unistd.h>

#include <atomic>
#include <filesystem>
#include <string>

namespace tenon {

class TempFile {
 public:
  explicit TempFile(const std::string& ending) {
    static std::atomic<int> count = 0;
    path_ = std::filesystem::temp_directory_path() /
            ("tenon_" + std::to_string(getpid()) + "_" + std::to_string(count++) + ending);
  }
  ~TempFile() {
    std::error_code ignored;
    std::filesystem::remove_all(path_, ignored);
  }
  TempFile(const TempFile&) = delete;
  TempFile& operator=(const TempFile&) = delete;

  const std::string& path() const { return path_; }

 private:
  std::string path_;
};

}  // namespace tenon
