// Content hash over libb2. Numbers and lengths are fed as little-endian bytes, so a digest is the
// same on every machine.
#include "base/hash.h"

#include <blake2.h>

#include "base/error.h"

namespace tenon {

struct Hasher::State {
  blake2b_state blake;
};

Hasher::Hasher() : state_(std::make_unique<State>()) {
  TENON_CHECK(blake2b_init(&state_->blake, sizeof(Digest::bytes)) == 0, "blake2b_init failed");
}
Hasher::~Hasher() = default;
Hasher::Hasher(Hasher&&) noexcept = default;
Hasher& Hasher::operator=(Hasher&&) noexcept = default;

Hasher& Hasher::bytes(std::span<const std::byte> data) {
  if (data.empty()) return *this;
  const auto* begin = reinterpret_cast<const uint8_t*>(data.data());
  TENON_CHECK(blake2b_update(&state_->blake, begin, data.size()) == 0, "blake2b_update failed");
  return *this;
}

Hasher& Hasher::text(std::string_view text) {
  number(static_cast<int64_t>(text.size()));
  return bytes(std::as_bytes(std::span(text)));
}

Hasher& Hasher::number(int64_t value) {
  std::array<std::byte, 8> little_endian;
  for (int i = 0; i < 8; ++i) {
    little_endian[static_cast<size_t>(i)] =
        static_cast<std::byte>(static_cast<uint64_t>(value) >> (8 * i));
  }
  return bytes(little_endian);
}

Digest Hasher::finish() {
  Digest digest;
  TENON_CHECK(blake2b_final(&state_->blake, digest.bytes.data(), digest.bytes.size()) == 0,
              "blake2b_final failed: finish() may be called once");
  return digest;
}

std::string Digest::hex() const {
  constexpr std::string_view kDigits = "0123456789abcdef";
  std::string text;
  text.reserve(bytes.size() * 2);
  for (const uint8_t byte : bytes) {
    text += kDigits[byte >> 4];
    text += kDigits[byte & 15];
  }
  return text;
}

uint64_t Digest::prefix() const {
  uint64_t value = 0;
  for (int i = 0; i < 8; ++i) value |= uint64_t{bytes[static_cast<size_t>(i)]} << (8 * i);
  return value;
}

Digest digest_of(std::string_view text) {
  return Hasher().bytes(std::as_bytes(std::span(text))).finish();
}

}  // namespace tenon
