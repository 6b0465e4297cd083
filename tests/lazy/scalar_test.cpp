// Numbers beside tensors: an integer that a dtype does not hold is an Error, as in NumPy, and never
// another number.
#include <gtest/gtest.h>

#include "tenon/lazy_tensor.h"
#include "tests/error_of.h"

namespace tenon {
namespace {

Tensor bytes() { return Tensor::from<uint8_t>({1, 2, 255}); }

TEST(Scalars, ThatTheDtypeDoesNotHoldAreErrors) {
  EXPECT_EQ(user_error_of([] { bytes() + 256; }), "[add] 256 is no u8");
  EXPECT_EQ(user_error_of([] { -1 - bytes(); }), "[subtract] -1 is no u8");
  EXPECT_EQ(user_error_of([] { bytes().minimum(300); }), "[minimum] 300 is no u8");
  EXPECT_EQ(user_error_of([] { Tensor::full({2}, 128, DType::I8); }), "[full] 128 is no i8");
  EXPECT_EQ(user_error_of([] { Tensor::scalar(-1, DType::U64); }), "[scalar] -1 is no u64");
  EXPECT_EQ(user_error_of([] { bytes().pad({{1, 1}}, -1); }), "[pad] -1 is no u8");
}

TEST(Scalars, AtTheEndsOfADtypeAreFine) {
  EXPECT_EQ((Tensor::full({1}, -128, DType::I8)).realize().as_vec<int8_t>(),
            (std::vector<int8_t>{-128}));
  const uint64_t most = ~uint64_t{0};
  EXPECT_EQ(user_error_of([&] { Tensor::full({1}, most, DType::I64); }),
            "[full] 1.8446744073709552e+19 is no i64");
  EXPECT_NO_THROW(Tensor::full({1}, most, DType::U64));
  EXPECT_NO_THROW(Tensor::full({1}, INT64_MAX, DType::I64));
}

}  // namespace
}  // namespace tenon
