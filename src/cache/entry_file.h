// The file of an entry, read and written. It is named by the digest of its key and appears whole or
// not at all.
#pragma once

#include <cstdint>
#include <optional>
#include <span>
#include <string>
#include <string_view>

#include "base/result.h"
#include "cache/bytes.h"
#include "cache/entry_format.h"
#include "cache/folder.h"

namespace tenon::cache {

bool is_entry_name(std::string_view name);
// The entry that a file which is being written, or was, is to become; empty: `name` is no such
// file.
std::string_view entry_of_temporary(std::string_view name);
// Where in the folder's locks an entry's is. Two entries may share one: they are then made one
// after the other.
uint64_t lock_of_entry(std::string_view name);
inline constexpr uint64_t kCleaningLock = uint64_t{1} << 62;  // above all of these

struct EntryFile {
  OpenFile file;
  EntryHeader header;
  EntryFront front;
  uint64_t bytes = 0;  // of the file

  // Larger payloads are mapped. Smaller ones are read, so that nobody can cut them short while they
  // are used, and verified whole; of larger ones the first `verify_bytes` are.
  static constexpr uint64_t kMostRead = uint64_t{8} << 20;
  Result<Bytes> payload(uint64_t verify_bytes) const;
};

// None: there is no such file. An error says why one is not the entry of that name.
Result<std::optional<EntryFile>> open_entry(const Folder& folder, const std::string& name);

// For who holds the entry's lock: a temporary file whose entry nobody has locked was left by a
// writer that was killed.
Status write_entry(const Folder& folder, const std::string& name, std::span<const std::byte> front,
                   std::span<const std::byte> payload);

}  // namespace tenon::cache
