// See atomic_file.h.
#include "base/atomic_file.h"

#include <fcntl.h>
#include <fmt/format.h>
#include <unistd.h>

#include <algorithm>
#include <atomic>
#include <cerrno>
#include <cstdio>
#include <cstring>

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

}  // namespace

void write_atomically(const std::string& path, std::span<const std::string_view> pieces) {
  std::string temporary;
  const int file = create_beside(path, temporary);
  if (file < 0) throw user_error("{}: cannot be written: {}", path, std::strerror(errno));
  const auto write_piece = [&](std::string_view piece) { return write_all(file, piece); };
  const bool written = std::ranges::all_of(pieces, write_piece) && fsync(file) == 0;
  const bool closed = close(file) == 0;
  if (!written || !closed || std::rename(temporary.c_str(), path.c_str()) != 0) {
    const int reason = errno;
    unlink(temporary.c_str());
    throw user_error("{}: cannot be written: {}", path, std::strerror(reason));
  }
}

}  // namespace tenon
