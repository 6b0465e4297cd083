// What a module looks like as text.
#include <gtest/gtest.h>

#include "tenon/hir.h"

namespace tenon {
namespace {

TEST(HirPrint, SaysEachBlockWithItsOperandsOptionsAndTypes) {
  HirModule m;
  const HirValue x = m.input_batch_seq("x", 4);
  const HirValue w = m.param("w", {{4, 6}, DType::F32});
  const HirValue scale = m.param("scale", {{4}, DType::F32});
  m.set_origin("layer0");
  const auto [normed, sum] = m.rms_norm_of_sum(x, x, scale, 0.5);
  const HirValue y = m.linear(normed, w, {.activation = ActivationKind::Silu});
  const HirValue turned = m.op1("transpose", {y}, {{"perm", std::vector<int64_t>{1, 0, 2}}});
  m.set_outputs({{"y", turned}, {"sum", sum}});
  EXPECT_EQ(m.print(),
            "%0 = input(name=\"x\", type=f32[batch, seq, 4]): f32[batch, seq, 4]\n"
            "%1 = param(name=\"w\", type=f32[4, 6]): f32[4, 6]\n"
            "%2 = param(name=\"scale\", type=f32[4]): f32[4]\n"
            "%3, %4 = rms_norm(x=%0, residual=%0, scale=%2, epsilon=0.5): f32[batch, seq, 4], "
            "f32[batch, seq, 4]  // layer0\n"
            "%5 = linear(x=%3, w=%1, activation=silu): f32[batch, seq, 6]  // layer0\n"
            "%6 = op(name=\"transpose\", %5, perm=[1, 0, 2]): f32[seq, batch, 6]  // layer0\n"
            "output \"y\" = %6\n"
            "output \"sum\" = %4\n");
}

}  // namespace
}  // namespace tenon
