// Keeps the folder of a store within its size.
#include <algorithm>

#include "cache/disk_store.h"
#include "cache/entry_file.h"

namespace tenon::cache {

void DiskStore::note_use(const std::string& name) {
  if (!uses_.note(name)) return;
  const FileLock cleaning = folder_.lock(kCleaningLock, /*wait=*/false);
  if (cleaning.held()) clean("");
}

// Looking through the folder costs a call per entry. It is done when this process has filled an
// eighth of the room there was when it last looked: several processes may fill it at once.
void DiskStore::make_room(const std::string& published, uint64_t bytes) {
  const std::lock_guard lock(room_mutex_);
  published_since_ += bytes;
  if (published_since_ <= room_ / 8) return;
  const FileLock cleaning = folder_.lock(kCleaningLock, /*wait=*/true);
  if (!cleaning.held()) return;
  room_ = clean(published);
  published_since_ = 0;
}

// Returns the room that is left. `published` stays, and its lock is ours; what is used by a process
// stays valid for it.
uint64_t DiskStore::clean(const std::string& published) {
  const std::vector<std::string> names = folder_.names();
  remove_left_temporaries(names, published);
  UseJournal::Ages ages = uses_.ages(), kept;
  std::vector<Candidate> candidates;
  std::vector<std::string> candidate_names;
  uint64_t bytes = 0, published_bytes = 0;
  for (const std::string& name : names) {
    FileStatus status;
    if (!is_entry_name(name) || folder_.status(name, status) < 0 || !status.is_regular) continue;
    bytes += status.bytes;
    kept[name] = ages[name];
    if (name == published) {
      published_bytes = status.bytes;
    } else {
      candidates.push_back({.age = ages[name], .weight = status.bytes});
      candidate_names.push_back(name);
    }
  }
  const uint64_t limit = max_bytes_ - std::min(published_bytes, max_bytes_);
  for (const size_t at : leaving(candidates, limit)) {
    if (!folder_.remove(candidate_names[at])) continue;
    bytes -= candidates[at].weight;
    kept.erase(candidate_names[at]);
  }
  uses_.shorten(kept);
  return max_bytes_ - std::min(bytes, max_bytes_);
}

// What a writer that was killed left behind: nobody has the lock that it was written under, or we
// have it, that of the entry `ours`.
void DiskStore::remove_left_temporaries(const std::vector<std::string>& names,
                                        std::string_view ours) const {
  for (const std::string& name : names) {
    const std::string_view entry = entry_of_temporary(name);
    if (entry.empty()) continue;
    if (entry == ours || folder_.lock(lock_of_entry(entry), /*wait=*/false).held())
      folder_.remove(name);
  }
}

void DiskStore::clear() {
  if (!usable()) return;
  const FileLock cleaning = folder_.lock(kCleaningLock, /*wait=*/true);
  const std::vector<std::string> names = folder_.names();
  remove_left_temporaries(names, "");
  for (const std::string& name : names) {
    if (is_entry_name(name)) folder_.remove(name);
  }
  uses_.remove();
}

}  // namespace tenon::cache
