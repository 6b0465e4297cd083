// See shared_file.h.
#include "base/shared_file.h"

#include <sys/stat.h>

#include <map>
#include <mutex>
#include <optional>
#include <tuple>

namespace tenon {
namespace {

// What tells a file, as it is now, from any other.
using Identity = std::tuple<dev_t, ino_t, off_t, time_t, long, time_t, long>;

std::optional<Identity> identity_of(const std::string& path) {
  struct stat status;
  if (::stat(path.c_str(), &status) != 0) return std::nullopt;
  return Identity{status.st_dev,         status.st_ino,          status.st_size,
                  status.st_mtim.tv_sec, status.st_mtim.tv_nsec, status.st_ctim.tv_sec,
                  status.st_ctim.tv_nsec};
}

struct Mappings {
  std::mutex mutex;
  std::map<Identity, std::weak_ptr<const MappedFile>> known;
};

Mappings& mappings() {
  static auto* all = new Mappings;
  return *all;
}

}  // namespace

Result<std::shared_ptr<const MappedFile>> map_shared(const std::string& path) {
  Mappings& all = mappings();
  const std::lock_guard lock(all.mutex);
  std::erase_if(all.known, [](const auto& entry) { return entry.second.expired(); });
  const auto before = identity_of(path);
  if (before) {
    const auto found = all.known.find(*before);
    if (found != all.known.end()) {
      if (auto file = found->second.lock()) return file;
    }
  }
  auto opened = MappedFile::open(path);
  if (!opened) return opened.error();
  auto file = std::make_shared<const MappedFile>(std::move(opened.value()));
  // Another file may have come to its place meanwhile.
  if (before && identity_of(path) == before) all.known[*before] = file;
  return file;
}

}  // namespace tenon
