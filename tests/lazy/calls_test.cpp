// Every call of a Tensor that no other test here makes, on numbers whose results are known: those
// of the C++ library, or worked out by hand.
#include <gtest/gtest.h>

#include <cmath>

#include "tests/lazy/read.h"

namespace tenon {
namespace {

Tensor matrix() { return Tensor::from<float>({1, 2, 3, 4, 5, 6}, {2, 3}); }

struct Elementwise {
  const char* name;
  Tensor (*call)(const Tensor& x);
  double (*expected)(double x);
};

const Elementwise kElementwise[] = {
    {"abs", [](const Tensor& x) { return x.abs(); }, std::fabs},
    {"exp2", [](const Tensor& x) { return x.exp2(); }, std::exp2},
    {"expm1", [](const Tensor& x) { return x.expm1(); }, std::expm1},
    {"log2", [](const Tensor& x) { return x.log2(); }, std::log2},
    {"log1p", [](const Tensor& x) { return x.log1p(); }, std::log1p},
    {"sin", [](const Tensor& x) { return x.sin(); }, std::sin},
    {"cos", [](const Tensor& x) { return x.cos(); }, std::cos},
    {"tan", [](const Tensor& x) { return x.tan(); }, std::tan},
    {"asin", [](const Tensor& x) { return x.asin(); }, std::asin},
    {"acos", [](const Tensor& x) { return x.acos(); }, std::acos},
    {"atan", [](const Tensor& x) { return x.atan(); }, std::atan},
    {"sinh", [](const Tensor& x) { return x.sinh(); }, std::sinh},
    {"cosh", [](const Tensor& x) { return x.cosh(); }, std::cosh},
    {"asinh", [](const Tensor& x) { return x.asinh(); }, std::asinh},
    {"acosh", [](const Tensor& x) { return (x + 1).acosh(); },
     [](double x) { return std::acosh(x + 1); }},
    {"atanh", [](const Tensor& x) { return x.atanh(); }, std::atanh},
    {"erf", [](const Tensor& x) { return x.erf(); }, std::erf},
    {"rsqrt", [](const Tensor& x) { return x.rsqrt(); }, [](double x) { return 1 / std::sqrt(x); }},
    {"reciprocal", [](const Tensor& x) { return x.reciprocal(); }, [](double x) { return 1 / x; }},
    {"softplus", [](const Tensor& x) { return x.softplus(); },
     [](double x) { return std::log1p(std::exp(x)); }},
    {"gelu", [](const Tensor& x) { return x.gelu(); },
     [](double x) { return x / 2 * (1 + std::erf(x * M_SQRT1_2)); }},
    {"gelu_tanh", [](const Tensor& x) { return x.gelu_tanh(); },
     [](double x) {
       return x / 2 * (1 + std::tanh(std::sqrt(2 / M_PI) * (x + 0.044715 * x * x * x)));
     }},
    {"pow", [](const Tensor& x) { return x.pow(2.5); }, [](double x) { return std::pow(x, 2.5); }},
};

TEST(Calls, OfOneElementAreThoseOfTheLibrary) {
  const Floats data = {0.125F, 0.25F, 0.5F, 0.75F};
  for (const Elementwise& each : kElementwise) {
    const Floats values = floats(each.call(Tensor::from(data)));
    for (size_t i = 0; i < data.size(); ++i)
      EXPECT_NEAR(values[i], each.expected(data[i]), 2e-6) << each.name << " of " << data[i];
  }
}

TEST(Calls, ThatRoundAndBound) {
  const Tensor x = Tensor::from<float>({-1.5, -0.5, 0.5, 2.5});
  EXPECT_EQ(floats(x.sign()), (Floats{-1, -1, 1, 1}));
  EXPECT_EQ(floats(x.floor()), (Floats{-2, -1, 0, 2}));
  EXPECT_EQ(floats(x.ceil()), (Floats{-1, 0, 1, 3}));
  EXPECT_EQ(floats(x.round()), (Floats{-2, 0, 0, 2}));
  EXPECT_EQ(floats(x.trunc()), (Floats{-1, 0, 0, 2}));
  EXPECT_EQ(floats(x.clamp(-1, 1)), (Floats{-1, -0.5, 0.5, 1}));
  EXPECT_EQ(floats(x.leaky_relu(0.5)), (Floats{-0.75, -0.25, 0.5, 2.5}));
  EXPECT_NEAR(floats(x.elu())[0], std::expm1(-1.5), 1e-6);
  EXPECT_EQ(floats(x.minimum(0)), (Floats{-1.5, -0.5, 0, 0}));
  EXPECT_EQ(floats(x.maximum(0)), (Floats{0, 0, 0.5, 2.5}));
  EXPECT_EQ(floats(x.neg()), (Floats{1.5, 0.5, -0.5, -2.5}));
}

TEST(Calls, OfIntegersAndBits) {
  const Tensor x = Tensor::from<int64_t>({-7, 7});
  EXPECT_EQ(integers(x.floor_divide(2)), (Integers{-4, 3}));
  EXPECT_EQ(integers(x.mod(3)), (Integers{2, 1}));
  EXPECT_EQ(Tensor::from<float>({1}).bit_cast(DType::U32).realize().item<uint32_t>(), 0x3F800000U);
  const Tensor odd = Tensor::from<float>({NAN, INFINITY, 1});
  EXPECT_EQ(odd.is_nan().realize().as_vec<bool>(), (std::vector<bool>{true, false, false}));
  EXPECT_EQ(odd.is_inf().realize().as_vec<bool>(), (std::vector<bool>{false, true, false}));
  EXPECT_EQ((x > 0).logical_not().realize().as_vec<bool>(), (std::vector<bool>{true, false}));
}

TEST(Calls, ThatMoveElements) {
  EXPECT_EQ(floats(matrix().permute({1, 0})), (Floats{1, 4, 2, 5, 3, 6}));
  EXPECT_EQ(floats(matrix().transpose()), (Floats{1, 4, 2, 5, 3, 6}));
  EXPECT_EQ(matrix().unsqueeze(1).squeeze().type().to_string(), "f32[2, 3]");
  EXPECT_EQ(floats(matrix()[0].pad({{1, 2}}, 9)), (Floats{9, 1, 2, 3, 9, 9}));
  EXPECT_EQ(floats(matrix().flip({1})), (Floats{3, 2, 1, 6, 5, 4}));
  EXPECT_EQ(floats(matrix()[0].repeat({2, 1})), (Floats{1, 2, 3, 1, 2, 3}));
  EXPECT_EQ(floats(matrix().roll(1, 1)), (Floats{3, 1, 2, 6, 4, 5}));
  EXPECT_EQ(floats(matrix().tril()), (Floats{1, 0, 0, 4, 5, 0}));
  EXPECT_EQ(floats(matrix().triu(1)), (Floats{0, 2, 3, 0, 0, 6}));
  EXPECT_EQ(floats(matrix().split({1, 2}, 1)[1]), (Floats{2, 3, 5, 6}));
  EXPECT_EQ(floats(Tensor::concat({matrix(), matrix()[0].unsqueeze(0)})),
            (Floats{1, 2, 3, 4, 5, 6, 1, 2, 3}));
}

TEST(Calls, ThatReduce) {
  EXPECT_EQ(floats(matrix().prod({1})), (Floats{6, 120}));
  EXPECT_NEAR(floats(matrix().var())[0], 35.0 / 12, 1e-5);
  EXPECT_NEAR(floats(matrix().var({}, false, 1))[0], 3.5, 1e-5);
  EXPECT_NEAR(floats(matrix().std({1}))[1], std::sqrt(2.0 / 3), 1e-5);
  EXPECT_NEAR(floats(matrix().logsumexp({1}))[0], std::log(std::exp(1) + std::exp(2) + std::exp(3)),
              1e-5);
  EXPECT_EQ(integers(matrix().argmax(1)), (Integers{2, 2}));
  EXPECT_EQ(integers(matrix().argmin(0)), (Integers{0, 0, 0}));
  EXPECT_EQ(floats(matrix().cumsum(1)), (Floats{1, 3, 6, 4, 9, 15}));
  EXPECT_EQ(floats(matrix().cumprod(0)), (Floats{1, 2, 3, 4, 10, 18}));
  EXPECT_TRUE((matrix() > 0).all().realize().item<bool>());
  EXPECT_FALSE((matrix() > 6).any().realize().item<bool>());
  EXPECT_NEAR(floats(matrix().log_softmax())[2],
              3 - std::log(std::exp(1) + std::exp(2) + std::exp(3)), 1e-5);
}

TEST(Calls, ByPosition) {
  const Tensor at = Tensor::from<int64_t>({1, 0, -1});
  EXPECT_EQ(floats(matrix().take(at, 1)), (Floats{2, 1, 3, 5, 4, 6}));
  const Tensor each = Tensor::from<int64_t>({2, 0}, {2, 1});
  EXPECT_EQ(floats(matrix().gather(each, 1)), (Floats{3, 4}));
  EXPECT_EQ(floats(matrix().scatter(each, Tensor::from<float>({10, 20}, {2, 1}), 1)),
            (Floats{1, 2, 10, 20, 5, 6}));
  EXPECT_EQ(floats(matrix().scatter_add(each, Tensor::from<float>({10, 20}, {2, 1}), 1)),
            (Floats{1, 2, 13, 24, 5, 6}));
  EXPECT_EQ(floats(Tensor::from<int64_t>({1, 0}).one_hot(3)), (Floats{0, 1, 0, 1, 0, 0}));
  const Tensor mixed = Tensor::from<float>({2, 3, 1});
  EXPECT_EQ(floats(mixed.sort()), (Floats{1, 2, 3}));
  EXPECT_EQ(integers(mixed.argsort(-1, true)), (Integers{1, 0, 2}));
}

TEST(Calls, ThatSlideWindows) {
  const Tensor line = Tensor::from<float>({1, 2, 3, 4, 5, 6}, {1, 1, 6});
  EXPECT_EQ(floats(line.conv(Tensor::ones({1, 1, 2}), {}, {.dilation = {3}})), (Floats{5, 7, 9}));
  const Tensor pair = Tensor::from<float>({1, 2, 3, 10, 20, 30}, {1, 2, 3});
  EXPECT_EQ(floats(pair.conv(Tensor::ones({2, 1, 2}), Tensor::from<float>({0, 1}), {.groups = 2})),
            (Floats{3, 5, 31, 51}));
  EXPECT_EQ(floats(line.max_pool({2})), (Floats{2, 4, 6}));
  EXPECT_EQ(floats(line.max_pool({2}, {.stride = {1}})), (Floats{2, 3, 4, 5, 6}));
  EXPECT_EQ(floats(line.avg_pool({2}, {.stride = {3}})), (Floats{1.5, 4.5}));
}

TEST(Calls, ThatNormalizeGroups) {
  const Tensor x = Tensor::from<float>({1, 3, 10, 30}, {1, 4, 1});
  const Floats values = floats(x.group_norm(2));
  const Floats expected = {-1, 1, -1, 1};
  for (size_t i = 0; i < 4; ++i) EXPECT_NEAR(values[i], expected[i], 1e-4);
}

TEST(Calls, ByTheNameOfAnOp) {
  EXPECT_EQ(floats(Tensor::op1("add", {matrix(), matrix()})), (Floats{2, 4, 6, 8, 10, 12}));
  EXPECT_EQ(Tensor::op("relu", {matrix()}).size(), 1U);
}

TEST(Calls, WithAConfiguration) {
  PrepareConfig config = PrepareConfig::from_environment();
  config.schedule_cache = false;
  const Tensor a = matrix() + 1, b = matrix() * 2;
  realize_batch_with({a, b}, config);
  EXPECT_EQ(a.as_vec<float>()[5] + b.as_vec<float>()[5], 19);
  Tensor c = matrix() - 1, copied = c.to(Device::Null());
  ExecutionPlan plan = prepare_batch_with({&c, &copied}, config);
  plan.execute();
  EXPECT_EQ(c.as_vec<float>()[5], 5);
  int copies = 0;
  for (const PlanStep& step : plan.steps()) copies += step.kind == PlanStep::Kind::Copy;
  EXPECT_EQ(copies, 1);
}

// What may be written over where it lies is.
TEST(Calls, ThatAreDoneInPlaceAreViews) {
  const Tensor x = Tensor::from(Floats(64 * 64, 0.5F), {64, 64});
  Tensor y =
      x.matmul(x).scatter(Tensor::zeros({1, 64}, DType::I64), Tensor::ones({1, 64}), 0).matmul(x);
  const ExecutionPlan plan = y.prepare();
  int views = 0;
  for (const PlanStep& step : plan.steps()) views += step.kind == PlanStep::Kind::View;
  EXPECT_EQ(views, plan.stats().views);
  EXPECT_GE(views, 1);
}

}  // namespace
}  // namespace tenon
