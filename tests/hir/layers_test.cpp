// Whole layers against loops over doubles.
#include <cmath>

#include "tests/hir/model.h"

namespace tenon::hir_test {
namespace {

using naive::map;
using naive::matmul;
using naive::plus;
using naive::random;

constexpr int64_t kHidden = 12, kHeads = 3, kFfn = 20, kLength = 4;

struct Dense {  // a matrix and its bias
  Array w, bias;
  Dense(int64_t k, int64_t n, unsigned seed)
      : w(random({k, n}, seed)), bias(random({n}, seed + 1)) {}
  Array operator()(const Array& x) const { return plus(matmul(x, w), bias); }
  hir::LinearWeights in(Model& model) const { return {model.param(w), model.param(bias)}; }
};

TEST(HirEncoderBlock, IsThatOfBertWithNormsAfterOrBefore) {
  const Array x = random({2, kLength, kHidden}, 1);
  const Dense q(kHidden, kHidden, 2), k(kHidden, kHidden, 4), v(kHidden, kHidden, 6);
  const Dense output(kHidden, kHidden, 8), in(kHidden, kFfn, 10), out(kFfn, kHidden, 12);
  const Array scale1 = random({kHidden}, 20), bias1 = random({kHidden}, 21);
  const Array scale2 = random({kHidden}, 22), bias2 = random({kHidden}, 23);
  const auto norm1 = [&](const Array& y) { return naive::layer_norm(y, scale1, bias1, 1e-3); };
  const auto norm2 = [&](const Array& y) { return naive::layer_norm(y, scale2, bias2, 1e-3); };
  const auto attend = [&](const Array& y) {
    const double scale = 1 / std::sqrt(double{kHidden} / kHeads);
    return output(naive::attention(q(y), k(y), v(y), kHeads, kHeads, scale,
                                   [](double score, const naive::Place&) { return score; }));
  };
  const auto ffn = [&](const Array& y) { return out(map(in(y), naive::gelu)); };
  for (const bool pre : {false, true}) {
    Model model;
    const HirValue y =
        model.m.encoder_block(model.input("x", x),
                              {.q = q.in(model),
                               .k = k.in(model),
                               .v = v.in(model),
                               .output = output.in(model),
                               .norm1_scale = model.param(scale1),
                               .norm1_bias = model.param(bias1),
                               .ffn_in = in.in(model),
                               .ffn_out = out.in(model),
                               .norm2_scale = model.param(scale2),
                               .norm2_bias = model.param(bias2)},
                              {.attention = {.heads = kHeads}, .pre_norm = pre, .epsilon = 1e-3});
    const Array middle = pre ? plus(x, attend(norm1(x))) : norm1(plus(x, attend(x)));
    model.expect({{y, pre ? plus(middle, ffn(norm2(middle))) : norm2(plus(middle, ffn(middle)))}});
  }
}

TEST(HirDecoderBlock, NormsAttendsCausallyAndGates) {
  constexpr int64_t kDecoderHeads = 4, kKvHeads = 2, kDim = 6;
  const Array x = random({2, kLength, kHidden}, 1);
  const Array norm1 = random({kHidden}, 2), norm2 = random({kHidden}, 3);
  const Array q = random({kHidden, kDecoderHeads * kDim}, 4);
  const Array k = random({kHidden, kKvHeads * kDim}, 5), v = random({kHidden, kKvHeads * kDim}, 6);
  const Array output = random({kDecoderHeads * kDim, kHidden}, 7);
  const Array gate = random({kHidden, kFfn}, 8), up = random({kHidden, kFfn}, 9);
  const Array down = random({kFfn, kHidden}, 10);

  Model model;
  const HirValue y = model.m.decoder_block(
      model.input("x", x),
      {.attention_norm = model.param(norm1),
       .q = {model.param(q)},
       .k = {model.param(k)},
       .v = {model.param(v)},
       .output = {model.param(output)},
       .ffn_norm = model.param(norm2),
       .ffn = {model.param(gate), model.param(up), model.param(down)}},
      {.attention = {.heads = kDecoderHeads, .kv_heads = kKvHeads, .causal = true},
       .rotary = {.theta = 100}});

  const Array seen = naive::rms_norm(x, norm1, 1e-5);
  const auto turned = [&](const Array& each, int64_t heads) {
    return naive::rotary(each, heads, kDim, false, naive::angles(kLength, kDim, 100));
  };
  const Array context = naive::attention(
      turned(matmul(seen, q), kDecoderHeads), turned(matmul(seen, k), kKvHeads), matmul(seen, v),
      kDecoderHeads, kKvHeads, 1 / std::sqrt(double{kDim}), naive::causal);
  const Array middle = plus(matmul(context, output), x);
  const Array read = naive::rms_norm(middle, norm2, 1e-5);
  model.expect({{y, plus(naive::swiglu(read, gate, up, down), middle)}}, 1e-4);
}

}  // namespace
}  // namespace tenon::hir_test
