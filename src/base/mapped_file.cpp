// Read-only file mapping over mmap.
#include "base/mapped_file.h"

#include <fcntl.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <cstring>

namespace tenon {
namespace {

class Descriptor {
 public:
  // What is no regular file is refused later: opening a pipe must not wait for its other end.
  explicit Descriptor(const std::string& path)
      : fd_(::open(path.c_str(), O_RDONLY | O_CLOEXEC | O_NONBLOCK)) {}
  ~Descriptor() {
    if (fd_ >= 0) ::close(fd_);
  }
  Descriptor(const Descriptor&) = delete;
  Descriptor& operator=(const Descriptor&) = delete;
  int get() const { return fd_; }

 private:
  int fd_;
};

Error failure(const std::string& path, const char* what) {
  return user_error("[{}] {}: {}", path, what, std::strerror(errno));
}

int to_madvise(MappedFile::Advice advice) {
  switch (advice) {
    case MappedFile::Advice::Sequential:
      return MADV_SEQUENTIAL;
    case MappedFile::Advice::Random:
      return MADV_RANDOM;
    case MappedFile::Advice::WillNeed:
      return MADV_WILLNEED;
    case MappedFile::Advice::DontNeed:
      return MADV_DONTNEED;
    case MappedFile::Advice::Normal:
      break;
  }
  return MADV_NORMAL;
}

}  // namespace

Result<MappedFile> MappedFile::open(const std::string& path) {
  const Descriptor file(path);
  if (file.get() < 0) return failure(path, "cannot open");
  struct stat status;
  if (::fstat(file.get(), &status) != 0) return failure(path, "cannot stat");
  if (!S_ISREG(status.st_mode)) return user_error("[{}] is not a regular file", path);
  MappedFile mapped;
  mapped.path_ = path;
  mapped.size_ = static_cast<size_t>(status.st_size);
  mapped.device_ = status.st_dev;
  mapped.inode_ = status.st_ino;
  if (mapped.size_ == 0) return mapped;  // mmap refuses empty ranges
  void* data = ::mmap(nullptr, mapped.size_, PROT_READ, MAP_PRIVATE, file.get(), 0);
  if (data == MAP_FAILED) {
    mapped.size_ = 0;
    return failure(path, "cannot map");
  }
  mapped.data_ = static_cast<const std::byte*>(data);
  return mapped;
}

size_t MappedFile::size_now() const {
  struct stat status;
  const bool is_same =
      ::stat(path_.c_str(), &status) == 0 && status.st_dev == device_ && status.st_ino == inode_;
  return is_same ? std::min(size_, static_cast<size_t>(status.st_size)) : size_;
}

MappedFile::~MappedFile() {
  if (data_) ::munmap(const_cast<std::byte*>(data_), size_);
}

MappedFile::MappedFile(MappedFile&& other) noexcept
    : path_(std::move(other.path_)),
      data_(std::exchange(other.data_, nullptr)),
      size_(std::exchange(other.size_, 0)),
      device_(other.device_),
      inode_(other.inode_) {}

MappedFile& MappedFile::operator=(MappedFile&& other) noexcept {
  std::swap(path_, other.path_);
  std::swap(data_, other.data_);
  std::swap(size_, other.size_);
  std::swap(device_, other.device_);
  std::swap(inode_, other.inode_);
  return *this;
}

void MappedFile::advise(Advice advice, size_t offset, size_t length) const {
  if (offset >= size_ || length == 0) return;
  const size_t end = offset + std::min(length, size_ - offset);
  const auto page = static_cast<size_t>(::sysconf(_SC_PAGESIZE));
  // Dropping must not touch pages shared with neighbours; every other hint may.
  const bool inward = advice == Advice::DontNeed;
  const size_t begin = inward ? (offset + page - 1) / page * page : offset / page * page;
  const size_t stop = inward && end != size_ ? end / page * page : end;
  if (begin >= stop) return;
  ::madvise(const_cast<std::byte*>(data_) + begin, stop - begin, to_madvise(advice));
}

}  // namespace tenon
