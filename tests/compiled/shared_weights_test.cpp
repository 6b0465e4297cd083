// Two graphs that open one file have its weights in common; others do not.
#include "compiled/shared_weights.h"

#include <gtest/gtest.h>

namespace tenon::compiled {
namespace {

using program::CheckedBytes;
using program::Weights;

constexpr std::byte kData[8] = {};

std::shared_ptr<const Weights> some_weights(const std::shared_ptr<const int>& file,
                                            const Digest& digest) {
  auto weights = std::make_shared<Weights>();
  weights->file = {kData, file, "file"};
  weights->items = {std::make_shared<CheckedBytes>(kData, std::vector{digest}, "file")};
  return weights;
}

TEST(SharedWeights, AreThoseOfWhoeverHasTheFileOpen) {
  const auto file = std::make_shared<const int>(1), other_file = std::make_shared<const int>(1);
  const Digest digest = digest_of("right"), wrong = digest_of("wrong");
  auto first = share(some_weights(file, digest));
  EXPECT_EQ(share(some_weights(file, digest)), first);
  EXPECT_NE(share(some_weights(other_file, digest)), first);
  const auto claims_other = some_weights(file, wrong);
  EXPECT_EQ(share(claims_other), claims_other);
}

TEST(SharedWeights, GoWithTheLastWhoHasThem) {
  const auto file = std::make_shared<const int>(1);
  std::weak_ptr<const Weights> first = share(some_weights(file, digest_of("right")));
  EXPECT_TRUE(first.expired());
  EXPECT_NE(share(some_weights(file, digest_of("right"))), nullptr);
}

}  // namespace
}  // namespace tenon::compiled
