// See file_store.h. A file is a digest of its name and contents, then the contents.
#include "base/file_store.h"

#include <algorithm>
#include <atomic>
#include <cstring>
#include <filesystem>
#include <string_view>

#include "base/atomic_file.h"
#include "base/error.h"
#include "base/knobs.h"
#include "base/log.h"
#include "base/mapped_file.h"

namespace tenon {
namespace {

constexpr size_t kHeader = sizeof(Digest::bytes);

// With the name: contents that came under another one are refused as damaged ones are.
Digest checksum(const Digest& name, std::span<const std::byte> bytes) {
  return Hasher().bytes(std::as_bytes(std::span(name.bytes))).bytes(bytes).finish();
}

}  // namespace

std::string FileStore::path_of(const Digest& digest) const {
  return (std::filesystem::path(folder_) / digest.hex()).string();
}

std::optional<std::vector<std::byte>> FileStore::find(const Digest& digest) const {
  if (folder_.empty()) return std::nullopt;
  const Result<MappedFile> file = MappedFile::open(path_of(digest));
  if (!file) return std::nullopt;
  const std::span<const std::byte> all = file.value().bytes();
  if (all.size() < kHeader) return std::nullopt;
  const std::span<const std::byte> contents = all.subspan(kHeader);
  const Digest found = checksum(digest, contents);
  if (std::memcmp(found.bytes.data(), all.data(), kHeader) != 0) {
    log(LogLevel::Warning, "{} is damaged and will be replaced", path_of(digest));
    return std::nullopt;
  }
  return std::vector<std::byte>(contents.begin(), contents.end());
}

void FileStore::keep(const Digest& digest, std::span<const std::byte> bytes) const {
  if (folder_.empty()) return;
  std::error_code ignored;  // the write says what is wrong
  std::filesystem::create_directories(folder_, ignored);
  const Digest sum = checksum(digest, bytes);
  std::string contents(reinterpret_cast<const char*>(sum.bytes.data()), kHeader);
  contents.append(reinterpret_cast<const char*>(bytes.data()), bytes.size());
  try {
    write_atomically(path_of(digest), contents);
  } catch (const Error& error) {
    static std::atomic<bool> said = false;
    if (!said.exchange(true)) log(LogLevel::Warning, "nothing is cached: {}", error.what());
  }
}

const FileStore& cuda_store() {
  static const FileStore kStore(knobs().cuda_cache);
  return kStore;
}

}  // namespace tenon
