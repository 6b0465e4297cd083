// Maps a file read-only. The mapping is shared, so weights stay in the page cache once for all
// processes, and lives as long as the last parameter that points into it.
#include <fcntl.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <unistd.h>

#include <cerrno>
#include <cstring>

#include "base/error.h"
#include "import/onnx/tensors.h"

namespace tenon::onnx {
namespace {

struct Descriptor {
  int fd;
  ~Descriptor() {
    if (fd >= 0) ::close(fd);
  }
};

}  // namespace

graph::Data map_file(const std::filesystem::path& path) {
  Descriptor file{::open(path.c_str(), O_RDONLY | O_CLOEXEC | O_NONBLOCK)};
  struct stat status{};
  if (file.fd < 0 || ::fstat(file.fd, &status) != 0) {
    throw user_error("[onnx] cannot open {}: {}", path.string(), std::strerror(errno));
  }
  if (!S_ISREG(status.st_mode)) throw user_error("[onnx] {} is no regular file", path.string());
  const auto size = static_cast<size_t>(status.st_size);
  if (size == 0) return {};
  void* address = ::mmap(nullptr, size, PROT_READ, MAP_SHARED, file.fd, 0);
  if (address == MAP_FAILED) {
    throw user_error("[onnx] cannot map {}: {}", path.string(), std::strerror(errno));
  }
  std::shared_ptr<const void> owner(
      address, [size](const void* mapped) { ::munmap(const_cast<void*>(mapped), size); });
  return {{static_cast<const std::byte*>(address), size}, std::move(owner)};
}

}  // namespace tenon::onnx
