// Bytes and the digests of their chunks: damage is found in whichever chunk it is, and what was
// found good is not read again.
#include "program/checked_bytes.h"

#include <gtest/gtest.h>

namespace tenon::program {
namespace {

constexpr size_t kSize = 2 * kChunkBytes + 100;

std::vector<std::byte> some_data() {
  std::vector<std::byte> data(kSize);
  for (size_t i = 0; i < kSize; ++i) data[i] = static_cast<std::byte>(i * 2654435761U >> 24);
  return data;
}

std::vector<Digest> digests_of(std::span<const std::byte> bytes) {
  return chunk_digests(std::span(&bytes, 1), 1);
}

TEST(ChunkDigests, AreThoseOfEachChunkWithAnyNumberOfThreads) {
  const std::vector<std::byte> data = some_data();
  const std::span<const std::byte> all(data);
  const std::vector<Digest> digests = digests_of(all);
  ASSERT_EQ(digests.size(), 3U);
  EXPECT_EQ(digests[1], Hasher().bytes(all.subspan(kChunkBytes, kChunkBytes)).finish());
  EXPECT_EQ(digests[2], Hasher().bytes(all.last(100)).finish());
  EXPECT_EQ(chunk_digests(std::span(&all, 1), 0), digests);
  EXPECT_TRUE(chunk_digests({}, 0).empty());
}

TEST(CheckedBytes, AreDamagedWhereverOneBitIsAnother) {
  std::vector<std::byte> data = some_data();
  const std::vector<Digest> digests = digests_of(data);
  for (const size_t at : {size_t{0}, kChunkBytes - 1, kChunkBytes, kSize - 1}) {
    data[at] ^= std::byte{4};
    const CheckedBytes damaged(data, digests, "file");
    const CheckedBytes* const list[] = {&damaged};
    EXPECT_EQ(find_damaged(list, 2), &damaged) << at;
    data[at] ^= std::byte{4};
    EXPECT_EQ(find_damaged(list, 2), nullptr) << at;  // it is read until it is good
  }
}

TEST(CheckedBytes, AreReadOnce) {
  std::vector<std::byte> data = some_data(), other = some_data();
  const CheckedBytes first(data, digests_of(data), "file"),
      second(other, digests_of(other), "file");
  const CheckedBytes* const both[] = {&first, &second};
  EXPECT_EQ(find_damaged(std::span(both).first(1), 1), nullptr);
  data[5] ^= std::byte{1};
  other[5] ^= std::byte{1};
  EXPECT_EQ(find_damaged(both, 1), &second);
}

}  // namespace
}  // namespace tenon::program
