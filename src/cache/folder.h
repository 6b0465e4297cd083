// The folder of a store, and what is done with the files in it. Code is loaded from it, so it is
// used only where it belongs to the user and nobody else may write it; then no other user can put a
// file there, or cut one short that is mapped.
#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>
#include <span>
#include <string>
#include <utility>
#include <vector>

#include "base/result.h"
#include "cache/files.h"

namespace tenon::cache {

class OpenFile {
 public:
  OpenFile(Files& files, int descriptor) : files_(&files), descriptor_(descriptor) {}
  ~OpenFile() { close(); }
  OpenFile(OpenFile&& other) noexcept
      : files_(other.files_), descriptor_(std::exchange(other.descriptor_, -1)) {}
  OpenFile& operator=(OpenFile&& other) noexcept {
    std::swap(files_, other.files_);
    std::swap(descriptor_, other.descriptor_);
    return *this;
  }

  bool is_open() const { return descriptor_ >= 0; }
  int descriptor() const { return descriptor_; }  // or -errno of opening it
  Files& files() const { return *files_; }

  bool read_all(std::span<std::byte> to, uint64_t offset) const;
  int write_all(std::span<const std::byte> bytes) const;  // 0 or -errno
  int close();

 private:
  Files* files_;
  int descriptor_;
};

// Held until it is destroyed. Not held: another has it, or there are no locks in that folder.
class FileLock {
 public:
  explicit FileLock(OpenFile file) : file_(std::move(file)) {}
  FileLock(OpenFile file, uint64_t byte) : file_(std::move(file)), byte_(byte) {}
  FileLock(FileLock&&) = default;
  FileLock& operator=(FileLock&&) = delete;
  // A child process may have inherited the open file: closing it here would not do.
  ~FileLock() {
    if (held() && file_.is_open()) file_.files().unlock(file_.descriptor(), *byte_);
  }
  bool held() const { return byte_.has_value(); }

 private:
  OpenFile file_;
  std::optional<uint64_t> byte_;
};

class Folder {
 public:
  // An empty path: no folder.
  Folder(std::string path, Files& files);

  bool usable() const { return folder_.is_open(); }
  const std::string& complaint() const { return complaint_; }  // why it is not, where one was named
  const std::string& path() const { return path_; }

  OpenFile open(const std::string& name, int flags) const;
  int status(const std::string& name, FileStatus& status) const;
  int rename(const std::string& from, const std::string& to) const;
  bool remove(const std::string& name) const;
  std::vector<std::string> names() const;  // none where they cannot be listed
  // One file has all locks, a byte each: nothing to remove when they are released.
  FileLock lock(uint64_t byte, bool wait) const;

 private:
  std::string path_;
  Files* files_;
  OpenFile folder_;
  std::string complaint_;
};

// TENON_CACHE_DIR; else `tenon` in XDG_CACHE_HOME, else in ~/.cache; empty: the environment names
// none of them.
std::string default_folder();
std::string default_folder(const std::string& knob, const char* xdg_cache_home, const char* home);

}  // namespace tenon::cache
