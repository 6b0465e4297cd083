// See entry_format.h. Files may be damaged or forged: no size is believed before it was compared
// with the file's own.
#include "cache/entry_format.h"

#include <cstring>

namespace tenon::cache {
namespace {

constexpr size_t kDigestBytes = sizeof(Digest::bytes);

Digest front_digest(std::span<const std::byte> front) {
  return Hasher()
      .bytes(front.first(offsetof(EntryHeader, digest)))
      .bytes(front.subspan(sizeof(EntryHeader)))
      .finish();
}

}  // namespace

size_t EntryHeader::front_bytes() const {
  const size_t used = sizeof(EntryHeader) + static_cast<size_t>(key_bytes) +
                      chunks_of(payload_bytes) * kDigestBytes;
  return (used + kPayloadAlignment - 1) / kPayloadAlignment * kPayloadAlignment;
}

std::vector<std::byte> make_front(const KeyFields& key, std::span<const std::byte> payload) {
  const std::string text = key.text();
  TENON_CHECK(text.size() <= kMostKeyBytes, "[cache] a key of {} bytes", text.size());
  EntryHeader header{.key_bytes = text.size(), .payload_bytes = payload.size()};
  std::vector<std::byte> front(header.front_bytes());
  std::memcpy(front.data(), &header, sizeof(header));
  std::byte* at = front.data() + sizeof(header);
  std::memcpy(at, text.data(), text.size());
  at += text.size();
  for (size_t chunk = 0; chunk < chunks_of(payload.size()); ++chunk, at += kDigestBytes)
    std::memcpy(at, chunk_digest(payload, chunk).bytes.data(), kDigestBytes);
  const Digest digest = front_digest(front);
  std::memcpy(front.data() + offsetof(EntryHeader, digest), digest.bytes.data(), kDigestBytes);
  return front;
}

Result<EntryHeader> read_header(std::span<const std::byte> first, uint64_t file_bytes) {
  EntryHeader header;
  if (first.size() < sizeof(header)) return user_error("it is too short");
  std::memcpy(&header, first.data(), sizeof(header));
  if (header.magic != EntryHeader::kMagic) return user_error("it is no entry of a cache");
  if (header.version != EntryHeader::kVersion || header.chunk_bytes != kChunkBytes) {
    return user_error("it has format {}, not {}", header.version, EntryHeader::kVersion);
  }
  if (header.key_bytes > kMostKeyBytes || header.payload_bytes > file_bytes ||
      file_bytes - header.payload_bytes != header.front_bytes()) {
    return user_error("its {} bytes are not those that it should have", file_bytes);
  }
  return header;
}

Result<EntryFront> read_front(const EntryHeader& header, std::span<const std::byte> front) {
  if (front_digest(front).bytes != header.digest) return user_error("its front is damaged");
  const auto* text = reinterpret_cast<const char*>(front.data()) + sizeof(header);
  Result<KeyFields> key = KeyFields::parse({text, static_cast<size_t>(header.key_bytes)});
  if (!key) return key.error();
  EntryFront read{std::move(key.value()), {}};
  read.chunk_digests.resize(chunks_of(header.payload_bytes));
  const std::byte* at = front.data() + sizeof(header) + header.key_bytes;
  for (Digest& digest : read.chunk_digests) {
    std::memcpy(digest.bytes.data(), at, kDigestBytes);
    at += kDigestBytes;
  }
  return read;
}

}  // namespace tenon::cache
