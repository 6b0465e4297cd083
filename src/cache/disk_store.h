// A bounded store of bytes by key, in a folder that processes share. What it returns is what was
// made for exactly that key, or is made now: a file that is stale, short, damaged or of another key
// counts as absent and is replaced. Of the threads and processes that need what is absent one makes
// it, by locks that the kernel releases when a process ends; nothing depends on a clock.
//
// It never fails: where the folder cannot be used, locked or written, each process makes what it
// needs and a warning says so once. Loading code from the folder is running it: see folder.h for
// whose it must be.
#pragma once

#include <atomic>
#include <cstdint>
#include <limits>
#include <mutex>
#include <optional>
#include <string>
#include <vector>

#include "base/function_ref.h"
#include "base/result.h"
#include "cache/bytes.h"
#include "cache/eviction_order.h"
#include "cache/files.h"
#include "cache/flights.h"
#include "cache/folder.h"
#include "cache/key.h"
#include "cache/use_journal.h"

namespace tenon::cache {

struct DiskStoreOptions {
  std::string folder;  // empty: nothing is kept
  uint64_t max_bytes = uint64_t{2} << 30;
  Order order = Order::Lru;
  Files* files = &real_files();
};

class DiskStore {
 public:
  explicit DiskStore(const DiskStoreOptions& options);

  static constexpr uint64_t kAll = std::numeric_limits<uint64_t>::max();

  // `verify_bytes`: how much of a large value is read and verified now; the rest is by
  // Bytes::verify_chunk, when it is used. What `make` throws is thrown, and nothing is kept. `make`
  // may ask for other entries if what makes those does not ask for this one.
  Bytes get_or_make(const KeyFields& key, FunctionRef<std::vector<std::byte>()> make,
                    uint64_t verify_bytes = kAll);
  std::optional<Bytes> find(const KeyFields& key, uint64_t verify_bytes = kAll);
  bool erase(const KeyFields& key);  // whether it was there

  struct Entry {
    KeyFields key;
    uint64_t bytes = 0;     // of its file
    uint64_t last_use = 0;  // in the order of uses; 0: not known
  };
  std::vector<Entry> entries() const;  // the last used first
  // The one that differs in the fewest fields; of those the last used.
  std::optional<Entry> nearest(const KeyFields& key) const;

  struct Damaged {
    std::string file, reason;
  };
  // Reads every entry whole.
  std::vector<Damaged> verify(bool remove_damaged);
  void clear();

  const std::string& folder() const { return folder_.path(); }
  bool usable() const { return folder_.usable(); }

 private:
  // None: absent. An error: there is something that counts as absent.
  Result<std::optional<Bytes>> read(const KeyFields& key, const std::string& name,
                                    uint64_t verify_bytes);
  Bytes make_alone(const KeyFields& key, const std::string& name, uint64_t verify_bytes,
                   FunctionRef<std::vector<std::byte>()> make);
  Bytes keep(const KeyFields& key, const std::string& name, std::span<const std::byte> value,
             uint64_t verify_bytes);
  void note_use(const std::string& name);
  void make_room(const std::string& published, uint64_t bytes);
  uint64_t clean(const std::string& published);
  void remove_left_temporaries(const std::vector<std::string>& names, std::string_view ours) const;
  void warn_once(const std::string& reason);

  const uint64_t max_bytes_;
  const Order order_;
  const Folder folder_;
  const UseJournal uses_;
  Flights<Digest, Bytes> flights_;
  std::atomic<bool> warned_ = false;

  std::mutex room_mutex_;
  uint64_t room_ = 0;             // that there was when the folder was last looked through
  uint64_t published_since_ = 0;  // bytes, by this process
};

// That of TENON_CACHE_DIR, for the whole process.
DiskStore& default_disk_store();

}  // namespace tenon::cache
