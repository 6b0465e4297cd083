// Finding, making and keeping entries: see disk_store.h.
#include "cache/disk_store.h"

#include "base/log.h"
#include "cache/entry_file.h"

namespace tenon::cache {

DiskStore::DiskStore(const DiskStoreOptions& options)
    : max_bytes_(options.max_bytes),
      order_(options.order),
      folder_(options.folder, *options.files),
      uses_(folder_) {
  if (!folder_.complaint().empty()) warn_once(folder_.complaint());
}

void DiskStore::warn_once(const std::string& reason) {
  if (!warned_.exchange(true)) {
    log(LogLevel::Warning, "[cache] what is compiled is not kept in {}: {}", folder_.path(),
        reason);
  }
}

Result<std::optional<Bytes>> DiskStore::read(const KeyFields& key, const std::string& name,
                                             uint64_t verify_bytes) {
  const auto absent = std::optional<Bytes>();
  if (!usable()) return absent;
  const Result<std::optional<EntryFile>> entry = open_entry(folder_, name);
  if (!entry) return entry.error();
  if (!entry.value()) return absent;
  if (entry.value()->front.key != key) return user_error("it is the entry of another key");
  Result<Bytes> payload = entry.value()->payload(verify_bytes);
  if (!payload) return payload.error();
  if (use_makes_young(order_)) note_use(name);
  return std::optional(std::move(payload.value()));
}

std::optional<Bytes> DiskStore::find(const KeyFields& key, uint64_t verify_bytes) {
  Result<std::optional<Bytes>> found = read(key, key.digest().hex(), verify_bytes);
  return found ? std::move(found.value()) : std::nullopt;
}

Bytes DiskStore::get_or_make(const KeyFields& key, FunctionRef<std::vector<std::byte>()> make,
                             uint64_t verify_bytes) {
  if (auto found = find(key, verify_bytes)) return *found;
  const Digest digest = key.digest();
  while (true) {
    Bytes value =
        flights_.run(digest, [&] { return make_alone(key, digest.hex(), verify_bytes, make); });
    if (value.verify_first(verify_bytes)) return value;
    erase(key);  // another thread asked for it, with less to verify
  }
}

// Alone in this process; with the entry's lock in all.
Bytes DiskStore::make_alone(const KeyFields& key, const std::string& name, uint64_t verify_bytes,
                            FunctionRef<std::vector<std::byte>()> make) {
  if (!usable()) return Bytes(make());
  const FileLock lock = folder_.lock(lock_of_entry(name), /*wait=*/true);
  if (!lock.held()) warn_once("its entries cannot be locked");
  const Result<std::optional<Bytes>> found = read(key, name, verify_bytes);
  if (!found) {
    log(LogLevel::Warning, "[cache] {}/{} is replaced: {}", folder_.path(), name,
        found.error().what());
  } else if (found.value()) {
    return *found.value();
  }
  const std::vector<std::byte> value = make();
  return lock.held() ? keep(key, name, value, verify_bytes) : Bytes(value);
}

Bytes DiskStore::keep(const KeyFields& key, const std::string& name,
                      std::span<const std::byte> value, uint64_t verify_bytes) {
  const std::vector<std::byte> front = make_front(key, value);
  const uint64_t bytes = front.size() + value.size();
  if (bytes > max_bytes_) {
    log(LogLevel::Info, "[cache] an entry of {} bytes is not kept: at most {} are", bytes,
        max_bytes_);
    return Bytes(value);
  }
  if (const Status written = write_entry(folder_, name, front, value); !written.ok()) {
    warn_once(written.error().what());
    return Bytes(value);
  }
  note_use(name);
  make_room(name, bytes);
  // Processes that map a large one share its memory.
  if (value.size() > EntryFile::kMostRead) {
    if (const auto mapped = find(key, verify_bytes)) return *mapped;
  }
  return Bytes(value);
}

bool DiskStore::erase(const KeyFields& key) {
  return usable() && folder_.remove(key.digest().hex());
}

}  // namespace tenon::cache
