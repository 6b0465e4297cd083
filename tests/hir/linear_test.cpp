// Linears and the gated network against loops over doubles.
#include <algorithm>
#include <cmath>

#include "tests/hir/model.h"

namespace tenon::hir_test {
namespace {

using naive::matmul;
using naive::plus;
using naive::random;

TEST(HirLinear, AddsBiasAppliesTheActivationAndAddsTheResidual) {
  Model model;
  const Array x = random({2, 3, 8}, 1), w = random({8, 6}, 2), bias = random({6}, 3);
  const Array residual = random({2, 3, 6}, 4);
  const HirValue y = model.m.linear(model.input("x", x), model.param(w),
                                    {.bias = model.param(bias),
                                     .residual = model.input("residual", residual),
                                     .activation = ActivationKind::Gelu});
  model.expect({{y, plus(naive::map(plus(matmul(x, w), bias), naive::gelu), residual)}});
}

TEST(HirLinear, WithoutOptionsIsTheProduct) {
  Model model;
  const Array x = random({2, 3, 8}, 1), w = random({8, 6}, 2);
  model.expect({{model.m.linear(model.input("x", x), model.param(w)), matmul(x, w)}});
}

TEST(HirSharedLinears, GiveOneValueEach) {
  Model model;
  const Array x = random({2, 3, 8}, 1), a = random({8, 6}, 2), b = random({8, 4}, 3);
  const Array c = random({8, 10}, 4), of_a = random({6}, 5), of_b = random({4}, 6);
  const HirValue input = model.input("x", x);
  const HirValue pa = model.param(a), pb = model.param(b), pc = model.param(c);
  const auto plain = model.m.shared_linears(input, {{pa}, {pb}, {pc}});
  const auto biased = model.m.shared_linears(
      input, {{pa, model.param(of_a)}, {pb, model.param(of_b)}}, ActivationKind::Silu);
  ASSERT_EQ(plain.size(), 3U);
  ASSERT_EQ(biased.size(), 2U);
  model.expect({{plain[0], matmul(x, a)},
                {plain[1], matmul(x, b)},
                {plain[2], matmul(x, c)},
                {biased[0], naive::map(plus(matmul(x, a), of_a), naive::silu)},
                {biased[1], naive::map(plus(matmul(x, b), of_b), naive::silu)}});
}

TEST(HirSwiGlu, GatesAndProjectsBack) {
  Model model;
  const Array x = random({2, 3, 8}, 1), gate = random({8, 12}, 2), up = random({8, 12}, 3);
  const Array down = random({12, 8}, 4);
  const HirValue input = model.input("x", x);
  const hir::SwiGluWeights weights = {model.param(gate), model.param(up), model.param(down)};
  const HirValue plain = model.m.swiglu(input, weights);
  const HirValue summed = model.m.swiglu(input, weights, {.residual = input});
  const Array y = naive::swiglu(x, gate, up, down);
  model.expect({{plain, y}, {summed, plus(y, x)}});
}

TEST(HirSwiGlu, IsNineNodesWhereItIsFusable) {
  HirModule m;
  const TensorType wide{{8, 12}, DType::F32};
  const hir::SwiGluWeights weights = {m.param("gate", wide), m.param("up", wide),
                                      m.param("down", {{12, 8}, DType::F32})};
  m.set_outputs({{"y", m.swiglu(m.input_batch_seq("x", 8), weights)}});
  const graph::Graph fusable = lowered(m, FusionPolicy::Fusable);
  std::map<std::string_view, int> counts;
  for (const graph::Node* node : fusable.topological()) ++counts[info(node->op()).text];
  EXPECT_EQ(counts, (std::map<std::string_view, int>{
                        {"input", 1}, {"param", 3}, {"matmul", 3}, {"silu", 1}, {"mul", 1}}));
}

// (q - zero) * scale of the block that the row lies in.
Array dequantized(const Array& q, const Array& scales, const Array& zeros, int64_t block) {
  Array result(q.shape);
  for (int64_t k = 0; k < q.rows(); ++k) {
    for (int64_t n = 0; n < q.width(); ++n)
      result.at(k, n) = (q.at(k, n) - zeros.at(k / block, n)) * scales.at(k / block, n);
  }
  return result;
}

Array integers(std::vector<int64_t> shape, unsigned seed, double least, double most) {
  return naive::map(random(std::move(shape), seed),
                    [=](double r) { return std::floor(least + (r + 1) / 2 * (most - least + 1)); });
}

TEST(HirDequantizingLinear, TakesEightAndFourBitsInBlocks) {
  struct Case {
    DType dtype;
    double least, most;
  };
  for (const Case& c : {Case{DType::I8, -128, 127}, Case{DType::U8, 0, 255}, Case{DType::I4, -8, 7},
                        Case{DType::U4, 0, 15}}) {
    SCOPED_TRACE(to_string(c.dtype));
    Model model;
    const Array x = random({2, 3, 16}, 1), q = integers({16, 6}, 2, c.least, c.most);
    const Array scales = naive::map(random({4, 6}, 3), [](double s) { return 0.01 * s; });
    const Array zeros = integers({4, 6}, 4, c.least, c.most), none({4, 6}), bias = random({6}, 5);
    const HirValue input = model.input("x", x), values = model.param(q, c.dtype);
    const HirValue by = model.param(scales), from = model.param(zeros, c.dtype);
    const HirValue shifted = model.m.dequantizing_linear(
        input, {values, by, from, 4},
        {.bias = model.param(bias), .activation = ActivationKind::Relu});
    const HirValue plain = model.m.dequantizing_linear(input, {values, by, {}, 4});
    const auto relu = [](double v) { return std::max(v, 0.0); };
    model.expect(
        {{shifted, naive::map(plus(matmul(x, dequantized(q, scales, zeros, 4)), bias), relu)},
         {plain, matmul(x, dequantized(q, scales, none, 4))}},
        1e-4);
  }
}

TEST(HirDequantizingLinear, WithoutBlocksHasOneScalePerColumn) {
  Model model;
  const Array x = random({2, 3, 16}, 1), q = integers({16, 6}, 2, -128, 127);
  const Array scales = naive::map(random({1, 6}, 3), [](double s) { return 0.01 * s; });
  const HirValue y = model.m.dequantizing_linear(model.input("x", x),
                                                 {model.param(q, DType::I8), model.param(scales)});
  model.expect({{y, matmul(x, dequantized(q, scales, Array({1, 6}), 16))}}, 1e-4);
}

}  // namespace
}  // namespace tenon::hir_test
