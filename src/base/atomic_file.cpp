// See atomic_file.h.
#include "base/atomic_file.h"

#include <fcntl.h>
#include <fmt/format.h>
#include <sys/stat.h>
#include <unistd.h>

#include <algorithm>
#include <atomic>
#include <cerrno>
#include <cstdio>
#include <cstring>
#include <vector>

#include "base/error.h"

namespace tenon {
namespace {

bool write_all(int file, std::string_view contents) {
  while (!contents.empty()) {
    const ssize_t written = ::write(file, contents.data(), contents.size());
    if (written < 0 && errno == EINTR) continue;
    if (written <= 0) return false;
    contents.remove_prefix(static_cast<size_t>(written));
  }
  return true;
}

// A new file beside `path`, which only we write. Its mode is what the process gives new files.
int create_beside(const std::string& path, std::string& name) {
  static std::atomic<unsigned> counter = 0;
  for (;;) {
    name = fmt::format("{}.{}.{}", path, getpid(), ++counter);
    const int file = ::open(name.c_str(), O_WRONLY | O_CREAT | O_EXCL | O_CLOEXEC, 0666);
    if (file >= 0 || errno != EEXIST) return file;
  }
}

// 0, or the errno.
int write_beside(const FileToWrite& file, std::string& temporary) {
  const int descriptor = create_beside(file.path, temporary);
  if (descriptor < 0) return errno;
  const auto write_piece = [&](std::string_view piece) { return write_all(descriptor, piece); };
  int reason = 0;
  if (!std::ranges::all_of(file.pieces, write_piece) || fsync(descriptor) != 0) reason = errno;
  if (close(descriptor) != 0 && reason == 0) reason = errno;
  return reason;
}

}  // namespace

void write_atomically(std::span<const FileToWrite> files) {
  std::vector<std::string> written;  // under their present names
  const auto fail = [&](const FileToWrite& file, int reason) {
    for (const std::string& name : written) unlink(name.c_str());
    throw user_error("{}: cannot be written: {}", file.path, std::strerror(reason));
  };
  for (const FileToWrite& file : files) {
    const int reason = write_beside(file, written.emplace_back());
    if (reason != 0) fail(file, reason);
  }
  for (const FileToWrite& file : files) {  // before anything is replaced
    struct stat there{};
    if (stat(file.path.c_str(), &there) == 0 && S_ISDIR(there.st_mode)) fail(file, EISDIR);
  }
  for (size_t i = 0; i < files.size(); ++i) {
    if (std::rename(written[i].c_str(), files[i].path.c_str()) != 0) fail(files[i], errno);
    written[i] = files[i].path;
  }
}

}  // namespace tenon
