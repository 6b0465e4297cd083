// What is in the folder of a store: for those who look at it and check it.
#include <algorithm>

#include "cache/disk_store.h"
#include "cache/entry_file.h"

namespace tenon::cache {

std::vector<DiskStore::Entry> DiskStore::entries() const {
  std::vector<Entry> entries;
  if (!usable()) return entries;
  UseJournal::Ages ages = uses_.ages();
  for (const std::string& name : folder_.names()) {
    if (!is_entry_name(name)) continue;
    Result<std::optional<EntryFile>> file = open_entry(folder_, name);
    if (file && file.value())
      entries.push_back({std::move(file.value()->front.key), file.value()->bytes, ages[name]});
  }
  std::ranges::sort(entries, std::ranges::greater(), &Entry::last_use);
  return entries;
}

std::optional<DiskStore::Entry> DiskStore::nearest(const KeyFields& key) const {
  std::vector<Entry> all = entries();
  const auto distance = [&](const Entry& entry) { return differing(key, entry.key).size(); };
  const auto least = std::ranges::min_element(all, {}, distance);
  if (least == all.end()) return std::nullopt;
  return std::move(*least);
}

namespace {

// Empty: none, or there is no such file.
std::string damage_of(const Folder& folder, const std::string& name) {
  const Result<std::optional<EntryFile>> file = open_entry(folder, name);
  if (!file) return file.error().what();
  if (!file.value()) return {};
  const Result<Bytes> payload = file.value()->payload(DiskStore::kAll);
  return payload ? std::string() : payload.error().what();
}

}  // namespace

std::vector<DiskStore::Damaged> DiskStore::verify(bool remove_damaged) {
  std::vector<Damaged> damaged;
  for (const std::string& name : folder_.names()) {
    if (!is_entry_name(name)) continue;
    std::string reason = damage_of(folder_, name);
    if (reason.empty()) continue;
    damaged.push_back({name, std::move(reason)});
    if (!remove_damaged) continue;
    // Who has the lock replaces it; who had it may have.
    const FileLock lock = folder_.lock(lock_of_entry(name), /*wait=*/false);
    if (lock.held() && !damage_of(folder_, name).empty()) folder_.remove(name);
  }
  return damaged;
}

}  // namespace tenon::cache
