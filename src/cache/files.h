// What the store on disk asks of the system, as an interface: tests put one in between that fails,
// writes half, or stops for good. Each call is one system call or a loop over one. Results are what
// the system call gives, or -errno.
#pragma once

#include <cstddef>
#include <cstdint>
#include <memory>
#include <span>
#include <string>
#include <vector>

namespace tenon::cache {

struct FileStatus {
  uint64_t bytes = 0;
  bool is_regular = false;
  bool is_mine = false;           // of the user that the process runs as
  bool others_may_write = false;  // the group or anybody
};

class Files {
 public:
  virtual ~Files() = default;

  // A descriptor of the folder, which is made if it is absent, with its parents; what is made is
  // open to the user only.
  virtual int open_folder(const std::string& path) = 0;

  // Names are in a folder. `flags` as of open(2); links are not followed, and what is made is open
  // to the user only.
  virtual int open(int folder, const std::string& name, int flags) = 0;
  virtual int close(int file) = 0;
  virtual int64_t read(int file, std::span<std::byte> to, uint64_t offset) = 0;
  virtual int64_t write(int file, std::span<const std::byte> bytes) = 0;
  virtual int sync(int file) = 0;
  virtual int status(int folder, const std::string& name, FileStatus& status) = 0;
  virtual int status(int file, FileStatus& status) = 0;
  // Null: it cannot be mapped.
  virtual std::shared_ptr<const std::byte> map(int file, size_t bytes) = 0;

  virtual int rename(int folder, const std::string& from, const std::string& to) = 0;
  virtual int remove(int folder, const std::string& name) = 0;
  virtual int list(int folder, std::vector<std::string>& names) = 0;

  // An exclusive lock of one byte, of the open file and not of the process, so that threads exclude
  // each other too; the kernel releases it when the file is closed, however the process ends.
  // -EAGAIN: another has it and `wait` is false.
  virtual int lock(int file, uint64_t byte, bool wait) = 0;
  virtual int unlock(int file, uint64_t byte) = 0;
};

Files& real_files();

}  // namespace tenon::cache
