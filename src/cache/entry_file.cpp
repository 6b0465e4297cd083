// See entry_file.h.
#include "cache/entry_file.h"

#include <fcntl.h>
#include <fmt/format.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <atomic>
#include <cerrno>
#include <charconv>
#include <cstring>

namespace tenon::cache {
namespace {

constexpr size_t kNameLength = 2 * sizeof(Digest::bytes);
constexpr std::string_view kTemporary = ".tmp";

// A file that only we write, even where somebody has removed the file of locks. Names of processes
// in other namespaces may be ours too.
OpenFile create_temporary(const Folder& folder, const std::string& name, std::string& temporary) {
  static std::atomic<unsigned> counter = 0;
  while (true) {
    temporary = fmt::format("{}.{}.{}{}", name, getpid(), ++counter, kTemporary);
    OpenFile file = folder.open(temporary, O_WRONLY | O_CREAT | O_EXCL);
    if (file.descriptor() != -EEXIST) return file;
  }
}

int write_parts(OpenFile& file, std::span<const std::byte> front,
                std::span<const std::byte> payload) {
  if (!file.is_open()) return file.descriptor();
  if (const int failed = file.write_all(front)) return failed;
  if (const int failed = file.write_all(payload)) return failed;
  if (const int failed = file.files().sync(file.descriptor())) return failed;
  return file.close();
}

}  // namespace

bool is_entry_name(std::string_view name) {
  const auto is_digit = [](char c) { return (c >= '0' && c <= '9') || (c >= 'a' && c <= 'f'); };
  return name.size() == kNameLength && std::ranges::all_of(name, is_digit);
}

std::string_view entry_of_temporary(std::string_view name) {
  const std::string_view entry = name.substr(0, kNameLength);
  const std::string_view rest = name.substr(entry.size());
  const bool is_one = is_entry_name(entry) && rest.starts_with('.') && rest.ends_with(kTemporary);
  return is_one ? entry : std::string_view();
}

uint64_t lock_of_entry(std::string_view name) {
  uint64_t prefix = 0;
  std::from_chars(name.data(), name.data() + 16, prefix, 16);
  return prefix >> 2;
}

Result<std::optional<EntryFile>> open_entry(const Folder& folder, const std::string& name) {
  OpenFile file = folder.open(name, O_RDONLY);
  if (file.descriptor() == -ENOENT) return std::optional<EntryFile>();
  if (!file.is_open()) return user_error("{}", std::strerror(-file.descriptor()));
  FileStatus status;
  if (const int failed = file.files().status(file.descriptor(), status))
    return user_error("{}", std::strerror(-failed));
  if (!status.is_regular) return user_error("it is no regular file");
  if (!status.is_mine) return user_error("it belongs to another user");
  if (status.others_may_write) return user_error("others may write it");
  std::array<std::byte, sizeof(EntryHeader)> first;
  if (!file.read_all(first, 0)) return user_error("it is too short");
  const Result<EntryHeader> header = read_header(first, status.bytes);
  if (!header) return header.error();
  std::vector<std::byte> bytes(header.value().front_bytes());
  if (!file.read_all(bytes, 0)) return user_error("it cannot be read");
  Result<EntryFront> front = read_front(header.value(), bytes);
  if (!front) return front.error();
  if (front.value().key.digest().hex() != name) return user_error("it is the entry of another key");
  return std::optional<EntryFile>(
      EntryFile{std::move(file), header.value(), std::move(front.value()), status.bytes});
}

Result<Bytes> EntryFile::payload(uint64_t verify_bytes) const {
  const size_t size = header.payload_bytes, offset = header.front_bytes();
  std::shared_ptr<const std::byte> first;
  if (size <= kMostRead) {
    verify_bytes = size;
    std::shared_ptr<std::byte> memory = aligned_memory(size);
    if (!file.read_all({memory.get(), size}, offset)) return user_error("it cannot be read");
    first = std::move(memory);
  } else {
    const std::shared_ptr<const std::byte> all = file.files().map(file.descriptor(), bytes);
    if (!all) return user_error("it cannot be mapped");
    first = std::shared_ptr<const std::byte>(all, all.get() + offset);
  }
  Bytes payload(std::move(first), size, front.chunk_digests);
  if (!payload.verify_first(verify_bytes)) return user_error("its contents are damaged");
  return payload;
}

Status write_entry(const Folder& folder, const std::string& name, std::span<const std::byte> front,
                   std::span<const std::byte> payload) {
  std::string temporary;
  OpenFile file = create_temporary(folder, name, temporary);
  int failed = write_parts(file, front, payload);
  if (failed == 0) failed = folder.rename(temporary, name);
  if (failed == 0) return {};
  folder.remove(temporary);
  return user_error("{}", std::strerror(-failed));
}

}  // namespace tenon::cache
