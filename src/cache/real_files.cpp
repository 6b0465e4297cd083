// The file system itself.
#include <dirent.h>
#include <fcntl.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <unistd.h>

#include <cerrno>

#include "cache/files.h"

namespace tenon::cache {
namespace {

constexpr mode_t kPrivateFolder = 0700, kPrivateFile = 0600;

template <typename Call>
auto or_errno(Call call) {
  auto result = call();
  while (result < 0 && errno == EINTR) result = call();
  return result < 0 ? static_cast<decltype(result)>(-errno) : result;
}

int read_status(int folder, const char* name, FileStatus& status) {
  struct stat found;
  const int result =
      or_errno([&] { return fstatat(folder, name, &found, AT_EMPTY_PATH | AT_SYMLINK_NOFOLLOW); });
  if (result < 0) return result;
  status.bytes = static_cast<uint64_t>(found.st_size);
  status.is_regular = S_ISREG(found.st_mode);
  status.is_mine = found.st_uid == geteuid();
  status.others_may_write = (found.st_mode & (S_IWGRP | S_IWOTH)) != 0;
  return 0;
}

int change_lock(int file, uint64_t byte, int command, short type) {
  struct flock range{};
  range.l_type = type;
  range.l_whence = SEEK_SET;
  range.l_start = static_cast<off_t>(byte);
  range.l_len = 1;
  const int result = or_errno([&] { return fcntl(file, command, &range); });
  return result == -EACCES ? -EAGAIN : result;
}

class RealFiles final : public Files {
 public:
  int open_folder(const std::string& path) override {
    // What cannot be made is there already, or cannot be opened below.
    for (size_t end = path.find('/', 1); end != std::string::npos; end = path.find('/', end + 1))
      mkdir(path.substr(0, end).c_str(), kPrivateFolder);
    mkdir(path.c_str(), kPrivateFolder);
    return or_errno([&] { return ::open(path.c_str(), O_RDONLY | O_DIRECTORY | O_CLOEXEC); });
  }

  // What is no regular file is refused later: opening a pipe must not wait for its other end.
  int open(int folder, const std::string& name, int flags) override {
    const int all = flags | O_CLOEXEC | O_NOFOLLOW | O_NONBLOCK;
    return or_errno([&] { return openat(folder, name.c_str(), all, kPrivateFile); });
  }
  int close(int file) override { return ::close(file) < 0 && errno != EINTR ? -errno : 0; }

  int64_t read(int file, std::span<std::byte> to, uint64_t offset) override {
    const auto from = static_cast<off_t>(offset);
    return or_errno([&] { return pread(file, to.data(), to.size(), from); });
  }
  int64_t write(int file, std::span<const std::byte> bytes) override {
    return or_errno([&] { return ::write(file, bytes.data(), bytes.size()); });
  }
  int sync(int file) override {
    return or_errno([&] { return fsync(file); });
  }

  int status(int folder, const std::string& name, FileStatus& status) override {
    return read_status(folder, name.c_str(), status);
  }
  int status(int file, FileStatus& status) override { return read_status(file, "", status); }

  std::shared_ptr<const std::byte> map(int file, size_t bytes) override {
    void* mapped = mmap(nullptr, bytes, PROT_READ, MAP_PRIVATE, file, 0);
    if (mapped == MAP_FAILED) return nullptr;
    return {static_cast<const std::byte*>(mapped),
            [bytes](const std::byte* first) { munmap(const_cast<std::byte*>(first), bytes); }};
  }

  int rename(int folder, const std::string& from, const std::string& to) override {
    return or_errno([&] { return renameat(folder, from.c_str(), folder, to.c_str()); });
  }
  int remove(int folder, const std::string& name) override {
    return or_errno([&] { return unlinkat(folder, name.c_str(), 0); });
  }

  int list(int folder, std::vector<std::string>& names) override {
    const int again = openat(folder, ".", O_RDONLY | O_DIRECTORY | O_CLOEXEC);
    if (again < 0) return -errno;
    DIR* entries = fdopendir(again);
    if (!entries) {
      const int reason = errno;
      ::close(again);
      return -reason;
    }
    errno = 0;
    while (const dirent* entry = readdir(entries)) names.emplace_back(entry->d_name);
    const int reason = errno;
    closedir(entries);
    return -reason;
  }

  int lock(int file, uint64_t byte, bool wait) override {
    return change_lock(file, byte, wait ? F_OFD_SETLKW : F_OFD_SETLK, F_WRLCK);
  }
  int unlock(int file, uint64_t byte) override {
    return change_lock(file, byte, F_OFD_SETLK, F_UNLCK);
  }
};

}  // namespace

Files& real_files() {
  static RealFiles files;
  return files;
}

}  // namespace tenon::cache
