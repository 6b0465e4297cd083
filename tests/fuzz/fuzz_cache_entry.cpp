// Any bytes as the front of a cache's entry, with and without a digest that is right about them,
// since that would stop nearly all; as the text of a key; and as the journal of uses. They are
// refused, or say what they say: a key that was read prints as the same text.
#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <cstdlib>
#include <cstring>
#include <string>
#include <vector>

#include "cache/entry_format.h"
#include "cache/use_journal.h"
#include "tests/fuzz/no_internal_error.h"

namespace tenon::fuzz {
namespace {

using namespace cache;  // NOLINT(google-build-using-namespace)

void read_key(std::string_view text) {
  const Result<KeyFields> key = KeyFields::parse(text);
  if (key && key.value().text() != text) std::abort();
}

void read_entry(std::span<const std::byte> file) {
  const Result<EntryHeader> header = read_header(file, file.size());
  if (!header) return;
  const size_t front_bytes = header.value().front_bytes();
  const Result<EntryFront> front = read_front(header.value(), file.first(front_bytes));
  if (!front) return;
  read_key(front.value().key.text());
  const std::span<const std::byte> payload = file.subspan(front_bytes);
  const std::shared_ptr<std::byte> memory = aligned_memory(payload.size());
  if (!payload.empty()) std::memcpy(memory.get(), payload.data(), payload.size());
  Bytes(memory, payload.size(), front.value().chunk_digests).verify_first(payload.size());
}

// Its sizes fit the file and its digest is right: what follows is the key and the chunk digests.
std::vector<std::byte> make_right(std::span<const std::byte> bytes) {
  EntryHeader header;
  if (bytes.size() < sizeof(header)) return {};
  std::memcpy(&header, bytes.data(), sizeof(header));
  const size_t rest = bytes.size() - sizeof(header);
  header = {.key_bytes = header.key_bytes % (rest + 1),
            .payload_bytes = header.payload_bytes % (3 * kChunkBytes)};
  std::vector<std::byte> file(header.front_bytes() + header.payload_bytes);
  std::memcpy(file.data() + sizeof(header), bytes.data() + sizeof(header),
              std::min(rest, header.front_bytes() - sizeof(header)));
  std::memcpy(file.data(), &header, sizeof(header));
  const auto front = std::span<const std::byte>(file).first(header.front_bytes());
  header.digest = Hasher()
                      .bytes(front.first(offsetof(EntryHeader, digest)))
                      .bytes(front.subspan(sizeof(header)))
                      .finish()
                      .bytes;
  std::memcpy(file.data(), &header, sizeof(header));
  return file;
}

}  // namespace
}  // namespace tenon::fuzz

extern "C" int LLVMFuzzerTestOneInput(const uint8_t* data, size_t size) {
  const std::string_view text(reinterpret_cast<const char*>(data), size);
  const auto bytes = std::as_bytes(std::span(data, size));
  tenon::fuzz::expect_no_internal_error([&] {
    tenon::fuzz::read_key(text);
    tenon::fuzz::read_entry(bytes);
    tenon::fuzz::read_entry(tenon::fuzz::make_right(bytes));
    tenon::cache::UseJournal::parse(text);
  });
  return 0;
}
