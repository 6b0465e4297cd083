// Shapes and tensor types.
#include "tenon/shape.h"

#include <gtest/gtest.h>

#include "base/error.h"

namespace tenon {
namespace {

const Dim kBatch = sym::batch(), kSeq = sym::seq();

TEST(Shape, HasElementsAndRowMajorStrides) {
  const Shape shape{kBatch, kSeq, 384};
  EXPECT_EQ(shape.elements(), kBatch * kSeq * 384);
  EXPECT_EQ(shape.strides(), (std::vector<Dim>{kSeq * 384, 384, 1}));
  EXPECT_EQ(Shape().elements(), Dim(1));
  EXPECT_TRUE(Shape().strides().empty());
  EXPECT_FALSE(shape.is_static());
  EXPECT_TRUE((Shape{2, 3}).is_static());
}

TEST(Shape, HasNoAxisBeyondItsRank) {
  const Shape shape{kBatch, 4};
  EXPECT_EQ(shape[1], Dim(4));
  EXPECT_THROW(shape[2], Error);
  EXPECT_THROW(shape[-1], Error);
  EXPECT_THROW(Shape()[0], Error);
}

TEST(Shape, ReadsWell) {
  EXPECT_EQ((Shape{kBatch, kSeq, 384}).to_string(), "[batch, seq, 384]");
  EXPECT_EQ(Shape().to_string(), "[]");
  const TensorType type{{kBatch, 8}, DType::BF16};
  EXPECT_EQ(type.to_string(), "bf16[batch, 8]");
  EXPECT_EQ(type.bytes(), kBatch * 16);
}

}  // namespace
}  // namespace tenon
