// Content hash (BLAKE2b-256 through libb2). Cryptographic, because cache keys and artifact digests
// must not collide, and independent of machine, process and build.
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <memory>
#include <span>
#include <string>
#include <string_view>

namespace tenon {

struct Digest {
  std::array<uint8_t, 32> bytes{};
  auto operator<=>(const Digest&) const = default;
  std::string hex() const;
  uint64_t prefix() const;  // the first 8 bytes, for hash tables
};

class Hasher {
 public:
  Hasher();
  ~Hasher();
  Hasher(Hasher&&) noexcept;
  Hasher& operator=(Hasher&&) noexcept;

  Hasher& bytes(std::span<const std::byte> data);
  Hasher& text(std::string_view text);  // length-prefixed: text("ab").text("c") differs from
                                        // text("a").text("bc")
  Hasher& number(int64_t value);        // little-endian
  Digest finish();

 private:
  struct State;
  std::unique_ptr<State> state_;
};

Digest digest_of(std::string_view text);

}  // namespace tenon

template <>
struct std::hash<tenon::Digest> {
  size_t operator()(const tenon::Digest& digest) const noexcept { return digest.prefix(); }
};
