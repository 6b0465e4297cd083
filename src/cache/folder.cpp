// See folder.h.
#include "cache/folder.h"

#include <fcntl.h>
#include <fmt/format.h>

#include <cerrno>
#include <cstdlib>
#include <cstring>

#include "base/knobs.h"

namespace tenon::cache {
namespace {

const char* const kLocks = "locks";

bool is_absolute(const char* path) { return path && *path == '/'; }

}  // namespace

bool OpenFile::read_all(std::span<std::byte> to, uint64_t offset) const {
  while (!to.empty()) {
    const int64_t got = files_->read(descriptor_, to, offset);
    if (got <= 0) return false;
    to = to.subspan(static_cast<size_t>(got));
    offset += static_cast<uint64_t>(got);
  }
  return true;
}

int OpenFile::write_all(std::span<const std::byte> bytes) const {
  while (!bytes.empty()) {
    const int64_t written = files_->write(descriptor_, bytes);
    if (written <= 0) return written == 0 ? -ENOSPC : static_cast<int>(written);
    bytes = bytes.subspan(static_cast<size_t>(written));
  }
  return 0;
}

int OpenFile::close() { return is_open() ? files_->close(std::exchange(descriptor_, -1)) : 0; }

Folder::Folder(std::string path, Files& files)
    : path_(std::move(path)), files_(&files), folder_(files, -ENOENT) {
  if (path_.empty()) return;
  OpenFile opened(files, files.open_folder(path_));
  FileStatus status;
  const int reason =
      opened.is_open() ? files.status(opened.descriptor(), status) : opened.descriptor();
  if (reason < 0) {
    complaint_ = std::strerror(-reason);
  } else if (!status.is_mine) {
    complaint_ = "it belongs to another user";
  } else if (status.others_may_write) {
    complaint_ = "other users may write it";
  } else {
    folder_ = std::move(opened);
  }
}

OpenFile Folder::open(const std::string& name, int flags) const {
  return {*files_, files_->open(folder_.descriptor(), name, flags)};
}

int Folder::status(const std::string& name, FileStatus& status) const {
  return files_->status(folder_.descriptor(), name, status);
}

int Folder::rename(const std::string& from, const std::string& to) const {
  return files_->rename(folder_.descriptor(), from, to);
}

bool Folder::remove(const std::string& name) const {
  return files_->remove(folder_.descriptor(), name) == 0;
}

std::vector<std::string> Folder::names() const {
  std::vector<std::string> names;
  if (usable()) files_->list(folder_.descriptor(), names);
  return names;
}

FileLock Folder::lock(uint64_t byte, bool wait) const {
  OpenFile file = open(kLocks, O_RDWR | O_CREAT);
  if (!file.is_open() || files_->lock(file.descriptor(), byte, wait) < 0)
    return FileLock(std::move(file));
  return {std::move(file), byte};
}

std::string default_folder(const std::string& knob, const char* xdg_cache_home, const char* home) {
  if (!knob.empty()) return knob;
  if (is_absolute(xdg_cache_home)) return fmt::format("{}/tenon", xdg_cache_home);
  if (is_absolute(home)) return fmt::format("{}/.cache/tenon", home);
  return {};
}

std::string default_folder() {
  return default_folder(knobs().cache_dir, std::getenv("XDG_CACHE_HOME"), std::getenv("HOME"));
}

}  // namespace tenon::cache
