// The file of an entry: a front and the payload. The front is this header, the text of the key, a
// digest for each chunk of the payload, and zeros up to a page. It has a digest of its own, so that
// reading it is enough to trust what it says about the payload.
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <span>
#include <vector>

#include "base/hash.h"
#include "base/result.h"
#include "cache/bytes.h"
#include "cache/key.h"

namespace tenon::cache {

inline constexpr size_t kPayloadAlignment = 4096;  // payloads are mapped and used in place
inline constexpr uint64_t kMostKeyBytes = uint64_t{1} << 20;  // of its text

struct EntryHeader {
  // Not text, and damaged where a transfer took it for text.
  static constexpr std::array<uint8_t, 8> kMagic = {0x89, 'T', 'N', 'C', '\r', '\n', 0x1a, '\n'};
  static constexpr uint32_t kVersion = 1;

  std::array<uint8_t, 8> magic = kMagic;
  uint32_t version = kVersion;
  uint32_t chunk_bytes = kChunkBytes;
  uint64_t key_bytes = 0;
  uint64_t payload_bytes = 0;
  std::array<uint8_t, 32> digest{};  // of what stands above, and of the rest of the front

  // Only where the sizes were checked, as read_header does.
  size_t front_bytes() const;
};
static_assert(sizeof(EntryHeader) == 64);

struct EntryFront {
  KeyFields key;
  std::vector<Digest> chunk_digests;
};

std::vector<std::byte> make_front(const KeyFields& key, std::span<const std::byte> payload);

// `first`: the file's first bytes, at least sizeof(EntryHeader) of them. What is returned fits the
// size of the file. Errors say what is wrong, and name no file.
Result<EntryHeader> read_header(std::span<const std::byte> first, uint64_t file_bytes);
// `front`: header.front_bytes() of them.
Result<EntryFront> read_front(const EntryHeader& header, std::span<const std::byte> front);

}  // namespace tenon::cache
