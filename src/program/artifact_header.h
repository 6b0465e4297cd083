// The first 64 bytes of an artifact, and of a file of weights beside one.
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <span>

#include "base/hash.h"

namespace tenon::program {

inline constexpr size_t kArtifactAlignment = 64;  // of each part, and of every weight

// Tables and strings of a FlatBuffer may be referred to many times, so that a small file could ask
// for much memory: reading takes this many times the file's bytes and no more. What we write keeps
// to that: only short strings are referred to (by 4 bytes) more than once.
inline constexpr size_t kMostExpansion = 16;
inline constexpr size_t kMostSharedText = (kMostExpansion - 1) * 4;

inline constexpr int kMostBodies = 64;  // inside of each other

constexpr size_t align_artifact(size_t bytes) {
  return (bytes + kArtifactAlignment - 1) / kArtifactAlignment * kArtifactAlignment;
}

struct ArtifactHeader {
  // Not text, and damaged where a transfer took it for text.
  static constexpr std::array<uint8_t, 8> kMagic = {0x89, 'T', 'N', 'N', '\r', '\n', 0x1a, '\n'};
  static constexpr uint32_t kVersion = 4;

  std::array<uint8_t, 8> magic = kMagic;
  uint32_t version = kVersion;
  uint32_t zero = 0;
  uint64_t program_bytes = 0;        // the part that artifact.fbs describes
  uint64_t weight_bytes = 0;         // the part after it; 0 where they are beside
  std::array<uint8_t, 32> digest{};  // of what stands above, and of the programs' part

  Digest compute_digest(std::span<const std::byte> program) const {
    const auto self = std::as_bytes(std::span(this, 1));
    return Hasher().bytes(self.first(offsetof(ArtifactHeader, digest))).bytes(program).finish();
  }
};
static_assert(sizeof(ArtifactHeader) == kArtifactAlignment);

// The weights come after it.
struct WeightsHeader {
  static constexpr std::array<uint8_t, 8> kMagic = {0x89, 'T', 'N', 'W', '\r', '\n', 0x1a, '\n'};

  std::array<uint8_t, 8> magic = kMagic;
  uint32_t version = ArtifactHeader::kVersion;
  uint32_t zero = 0;
  uint64_t weight_bytes = 0;
  uint64_t also_zero = 0;
  std::array<uint8_t, 32> digest{};  // of the digests of all chunks

  static Digest compute_digest(std::span<const Digest> chunks) {
    return Hasher().bytes(std::as_bytes(chunks)).finish();
  }
};
static_assert(sizeof(WeightsHeader) == kArtifactAlignment);

}  // namespace tenon::program
