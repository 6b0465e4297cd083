// MappedFile: a whole file mapped read-only. Weights and artifacts are read in place, so opening a
// 10 GB model costs no copy and no memory until its pages are touched. The file must not be cut
// short while it is mapped: reading what is gone ends the process.
#pragma once

#include <cstddef>
#include <cstdint>
#include <span>
#include <string>

#include "base/result.h"

namespace tenon {

class MappedFile {
 public:
  static Result<MappedFile> open(
      const std::string& path);  // errors name the file; an empty file is fine

  MappedFile() = default;
  ~MappedFile();
  MappedFile(MappedFile&& other) noexcept;
  MappedFile& operator=(MappedFile&& other) noexcept;

  std::span<const std::byte> bytes() const { return {data_, size_}; }
  const std::string& path() const { return path_; }
  // As long as the file is now: less than was mapped where it was cut short. What was moved away or
  // replaced is still there for who has mapped it.
  size_t size_now() const;

  // How the range will be used; DontNeed drops its pages from memory (they come back from the file
  // when touched).
  enum class Advice : uint8_t { Normal, Sequential, Random, WillNeed, DontNeed };
  void advise(Advice advice) const { advise(advice, 0, size_); }
  void advise(Advice advice, size_t offset, size_t length) const;

 private:
  std::string path_;
  const std::byte* data_ = nullptr;
  size_t size_ = 0;
  uint64_t device_ = 0, inode_ = 0;  // which file it is, whatever has its name later
};

}  // namespace tenon
