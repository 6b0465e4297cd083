// Norms against loops over doubles.
#include "tests/hir/model.h"

namespace tenon::hir_test {
namespace {

using naive::plus;
using naive::random;

TEST(HirNorm, NormsTheLastAxis) {
  Model model;
  const Array x = random({2, 3, 8}, 1), scale = random({8}, 2), bias = random({8}, 3);
  const HirValue input = model.input("x", x), by = model.param(scale);
  const HirValue rms = model.m.rms_norm(input, by, 1e-3);
  const HirValue layer = model.m.layer_norm(input, by, model.param(bias), 1e-3);
  model.expect(
      {{rms, naive::rms_norm(x, scale, 1e-3)}, {layer, naive::layer_norm(x, scale, bias, 1e-3)}});
}

TEST(HirNorm, OfASumGivesTheSumToo) {
  Model model;
  const Array x = random({2, 3, 8}, 1), scale = random({8}, 2), bias = random({8}, 3);
  const Array residual = random({2, 3, 8}, 4);
  const HirValue input = model.input("x", x), added = model.input("residual", residual);
  const HirValue by = model.param(scale);
  const HirModule::Normed rms = model.m.rms_norm_of_sum(input, added, by);
  const HirModule::Normed layer =
      model.m.layer_norm_of_sum(input, added, by, model.param(bias), 1e-3);
  const Array sum = plus(x, residual);
  model.expect({{rms.normed, naive::rms_norm(sum, scale, 1e-5)},
                {rms.sum, sum},
                {layer.normed, naive::layer_norm(sum, scale, bias, 1e-3)},
                {layer.sum, sum}});
}

}  // namespace
}  // namespace tenon::hir_test
