// Tensors as their callers see them: made of data and of nothing, read back, printed, random.
#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <numeric>
#include <sstream>

#include "tenon/lazy_tensor.h"
#include "tests/error_of.h"
#include "tests/lazy/read.h"

namespace tenon {
namespace {

// --- Creation.

TEST(Creation, CopiesWhatItIsGiven) {
  Floats data = {1, 2, 3, 4};
  const Tensor x = Tensor::from(data, {2, 2}), y = Tensor::from(std::span<const float>(data), {4});
  const Tensor z = Tensor::from_bytes(std::as_bytes(std::span(data)), DType::F32, {4, 1});
  data = {0, 0, 0, 0};
  for (const Tensor& each : {x, y, z}) EXPECT_EQ(each.as_vec<float>(), (Floats{1, 2, 3, 4}));
  EXPECT_EQ(x.extents(), (Integers{2, 2}));
  EXPECT_EQ(z.shape().to_string(), "[4, 1]");
  EXPECT_EQ(x.rank(), 2);
  EXPECT_EQ(x.device(), Device::Cpu());
  EXPECT_FALSE(x.is_file());
}

TEST(Creation, RefusesShapesThatDoNotFit) {
  EXPECT_EQ(user_error_of([] { Tensor::from<float>({1, 2, 3}, {2, 2}); }),
            "[from] 12 bytes do not fill f32[2, 2] of 16");
  EXPECT_EQ(user_error_of([] { Tensor::from<float>({1, 2}, {2, -1}); }), "[from] an extent is -1");
  EXPECT_EQ(user_error_of([] { Tensor::from_bytes({}, DType::F64, {1}); }),
            "[from] 0 bytes do not fill f64[1] of 8");
  EXPECT_EQ(user_error_of([] { Tensor::from<float>({1}, {Variable("n", 1, 4)}); }),
            "[from] the extent n has no value: bind its variables");
}

TEST(Creation, OfOneValue) {
  EXPECT_EQ(floats(Tensor::full({2, 1}, 2.5)), (Floats{2.5, 2.5}));
  EXPECT_EQ(floats(Tensor::full({}, 3)), Floats{3});
  EXPECT_EQ(integers(Tensor::ones({3}, DType::I64)), (Integers{1, 1, 1}));
  EXPECT_EQ(Tensor::zeros({0, 3}).realize().extents(), (Integers{0, 3}));
  constexpr int64_t kLarge = (int64_t{1} << 53) + 1;  // no f64
  EXPECT_EQ(Scalar(kLarge).integer(), kLarge);
  EXPECT_EQ(Tensor::scalar(kLarge, DType::I64).realize().item<int64_t>(), kLarge);
  EXPECT_TRUE(Tensor::scalar(true, DType::Bool).realize().item<bool>());
  EXPECT_EQ(error_of([] { Tensor::zeros({-2}); }, ErrorKind::User).substr(0, 1), "[");
}

TEST(Creation, OfRanges) {
  EXPECT_EQ(integers(Tensor::arange(4)), (Integers{0, 1, 2, 3}));
  EXPECT_TRUE(integers(Tensor::arange(0)).empty());
  EXPECT_EQ(user_error_of([] { Tensor::arange(-1); }), "[arange] -1 is negative");
  EXPECT_EQ(floats(Tensor::arange(1, 2, 0.25)), (Floats{1, 1.25, 1.5, 1.75}));
  EXPECT_EQ(floats(Tensor::arange(3, 0, -1)), (Floats{3, 2, 1}));
  EXPECT_EQ(integers(Tensor::arange(2, 9, 3, DType::I64)), (Integers{2, 5, 8}));
  EXPECT_TRUE(floats(Tensor::arange(2, 1, 1)).empty());
  EXPECT_EQ(user_error_of([] { Tensor::arange(0, 1, 0); }),
            "[arange] 0 .. 1 by 0 has no count of elements");
  const Variable n("n", 1, 8);
  EXPECT_EQ(integers(Tensor::arange(n.bind(3)) * 2), (Integers{0, 2, 4}));
}

TEST(Creation, OfEvenSteps) {
  EXPECT_EQ(floats(Tensor::linspace(0, 1, 5)), (Floats{0, 0.25, 0.5, 0.75, 1}));
  EXPECT_EQ(floats(Tensor::linspace(3, 9, 1)), Floats{3});
  EXPECT_TRUE(floats(Tensor::linspace(0, 1, 0)).empty());
  EXPECT_EQ(floats(Tensor::linspace(2, -2, 3)), (Floats{2, 0, -2}));
  EXPECT_EQ(user_error_of([] { Tensor::linspace(0, 1, -1); }), "[linspace] -1 elements");
  EXPECT_EQ(user_error_of([] { Tensor::linspace(0, 1, 2, DType::I32); }),
            "[linspace] needs a floating-point dtype, not i32");
  EXPECT_EQ(floats(Tensor::eye(2, 3)), (Floats{1, 0, 0, 0, 1, 0}));
}

// --- Random numbers.

TEST(Random, AreDecidedByTheSeed) {
  EXPECT_EQ(floats(Tensor::rand({64}, 1)), floats(Tensor::rand({64}, 1)));
  EXPECT_NE(floats(Tensor::rand({64}, 1)), floats(Tensor::rand({64}, 2)));
  EXPECT_EQ(floats(Tensor::randn({64}, 3)), floats(Tensor::randn({64}, 3)));
  EXPECT_NE(floats(Tensor::randn({64}, 3)), floats(Tensor::randn({64}, 4)));
  EXPECT_EQ(integers(Tensor::randint({64}, 0, 1000, 5)),
            integers(Tensor::randint({64}, 0, 1000, 5)));
  EXPECT_NE(integers(Tensor::randint({64}, 0, 1000, 5)),
            integers(Tensor::randint({64}, 0, 1000, 6)));
}

// Bounds are ten standard deviations of the estimate.
TEST(Random, AreDistributedAsTheySay) {
  constexpr int64_t kCount = 100'000;
  const Tensor even = Tensor::rand({kCount}, 11), normal = Tensor::randn({kCount}, 12);
  EXPECT_NEAR(floats(even.mean())[0], 0.5, 0.01);
  EXPECT_NEAR(floats(even.var())[0], 1.0 / 12, 0.003);
  EXPECT_GE(floats(even.min())[0], 0);
  EXPECT_LT(floats(even.max())[0], 1);
  EXPECT_NEAR(floats(normal.mean())[0], 0, 0.035);
  EXPECT_NEAR(floats(normal.std())[0], 1, 0.025);
  const Integers drawn = integers(Tensor::randint({kCount}, -2, 3, 13));
  for (int64_t value = -2; value < 3; ++value)
    EXPECT_NEAR(static_cast<double>(std::ranges::count(drawn, value)), kCount / 5.0, 1300);
  EXPECT_EQ(user_error_of([] { Tensor::randint({1}, 3, 3, 0); }), "[randint] 3 is not below 3");
}

// --- Reading.

TEST(Reading, OfAnotherDtypeIsAnError) {
  const Tensor x = Tensor::from<float>({1, 2});
  EXPECT_EQ(user_error_of([&] { x.as_vec<double>(); }), "[as_vec] the tensor is f32[2], not f64");
  EXPECT_EQ(user_error_of([&] { x.as_vec<bool>(); }), "[as_vec] the tensor is f32[2], not bool");
  EXPECT_EQ(user_error_of([&] { x.array_view<int32_t>(); }),
            "[array_view] the tensor is f32[2], not i32");
  EXPECT_EQ(user_error_of([&] { x[0].realize().item<int64_t>(); }),
            "[item] the tensor is f32[], not i64");
}

TEST(Reading, OfOneElementNeedsOne) {
  EXPECT_EQ(user_error_of([] { Tensor::from<float>({1, 2}).item<float>(); }),
            "[item] the tensor has 2 elements, not one: f32[2]");
  EXPECT_EQ(user_error_of([] { Tensor::zeros({0}).realize().item<float>(); }),
            "[item] the tensor has 0 elements, not one: f32[0]");
  EXPECT_EQ(Tensor::from<float>({7}, {1, 1}).item<float>(), 7);
}

TEST(Reading, NeedsElements) {
  const Tensor y = Tensor::from<float>({1}) + 1;
  EXPECT_EQ(user_error_of([&] { y.item<float>(); }), "[item] the tensor is not realized: f32[1]");
  EXPECT_EQ(user_error_of([&] { y.extents(); }), "[extents] the tensor is not realized: f32[1]");
  EXPECT_EQ(user_error_of([&] { y.view_bytes(DType::U8, {1}); }),
            "[view_bytes] the tensor is not realized");
}

TEST(Reading, OfBools) {
  const Tensor x = (Tensor::from<float>({1, 2, 3}) > 1.5).realize();
  EXPECT_EQ(x.dtype(), DType::Bool);
  EXPECT_EQ(x.as_vec<bool>(), (std::vector<bool>{false, true, true}));
  EXPECT_EQ(x.as_vec<uint8_t>(), (std::vector<uint8_t>{0, 1, 1}));
}

TEST(Reading, OfACopyFromAnyDevice) {
  const Tensor x = Tensor::from<float>({1, 2, 3, 4}, {2, 2}).to(Device::Null()).realize();
  const OwnedTensor copy = x.to_owned();
  EXPECT_EQ(copy.shape, (Integers{2, 2}));
  EXPECT_EQ(copy.as<float>()[3], 4);
}

TEST(Reading, OfNoTensorIsAnError) {
  const Tensor none;
  EXPECT_FALSE(none);
  EXPECT_EQ(user_error_of([&] { (void)none.type(); }),
            "this Tensor is no tensor: it was never given one");
  EXPECT_EQ(user_error_of([&] { Tensor::zeros({1}) + none; }), "[add] an operand is no tensor");
  EXPECT_EQ(user_error_of([&] { Tensor::concat({Tensor::zeros({1}), none}); }),
            "[concat] an operand is no tensor");
  EXPECT_EQ(user_error_of([&] { none.realize(); }),
            "this Tensor is no tensor: it was never given one");
}

// --- Printing.

TEST(Printing, ShowsTypeAndElements) {
  EXPECT_EQ(Tensor::from<float>({1, -2.5, 1e-9F}).to_string(), "Tensor(f32[3], [1, -2.5, 1e-09])");
  EXPECT_EQ(Tensor::from<int8_t>({-1, 2}, {2, 1}).to_string(), "Tensor(i8[2, 1],\n[[-1],\n [2]])");
  EXPECT_EQ(Tensor::from<uint64_t>({~uint64_t{0}}).to_string(),
            "Tensor(u64[1], [18446744073709551615])");
  EXPECT_EQ(Tensor::from<float>({INFINITY, -INFINITY, NAN, -NAN}).to_string(),
            "Tensor(f32[4], [inf, -inf, nan, nan])");
  EXPECT_EQ(Tensor::scalar(2, DType::F32).realize().to_string(), "Tensor(f32[], 2)");
  EXPECT_EQ((Tensor::from<float>({1, 2}) > 1.5).realize().to_string(),
            "Tensor(bool[2], [false, true])");
  EXPECT_EQ(Tensor::zeros({0, 3}).realize().to_string(), "Tensor(f32[0, 3], [])");
  EXPECT_EQ(Tensor().to_string(), "Tensor()");
  std::ostringstream out;
  out << Tensor::from<float>({1});
  EXPECT_EQ(out.str(), "Tensor(f32[1], [1])");
}

TEST(Printing, ShortensLongAxesInTheMiddle) {
  Integers numbers(1000);
  std::iota(numbers.begin(), numbers.end(), 0);
  EXPECT_EQ(Tensor::from(numbers).to_string(), "Tensor(i64[1000], [0, 1, 2, ..., 997, 998, 999])");
  EXPECT_EQ(Tensor::from(numbers, {250, 4}).to_string(),
            "Tensor(i64[250, 4],\n[[0, 1, 2, 3],\n [4, 5, 6, 7],\n [8, 9, 10, 11],\n ...,\n"
            " [988, 989, 990, 991],\n [992, 993, 994, 995],\n [996, 997, 998, 999]])");
  const std::string whole = Tensor::from(Integers(200, 1)).to_string();
  EXPECT_EQ(whole.find("..."), std::string::npos);
}

TEST(Printing, OfWhatIsNotRealizedSaysSo) {
  const Tensor y = Tensor::from<float>({1, 2}).exp();
  EXPECT_EQ(y.to_string(), "Tensor(f32[2], exp, not realized)");
  EXPECT_EQ(y.name(), "exp");
  EXPECT_FALSE(y.is_realized());
}

TEST(Printing, OfSymbolicShapesShowsTheirNames) {
  const Variable n("n", 1, 8);
  const Tensor head = Tensor::arange(8)[Slice{.stop = n.bind(2)}];
  EXPECT_EQ(head.realize().to_string(), "Tensor(i64[n], [0, 1])");
}

}  // namespace
}  // namespace tenon
