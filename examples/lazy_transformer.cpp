// A transformer block as lazy tensors: norms, causal attention with shared keys, a gated MLP,
// residuals. One plan serves every length; the first tokens do not see the ones after them.
#include "lazy_weights.h"

namespace {

using examples::weights;
using tenon::Tensor;

constexpr int64_t kHidden = 16, kHeads = 4, kKeyHeads = 2, kFfn = 24, kMostTokens = 8;
constexpr int64_t kKeyWidth = kHidden / kHeads * kKeyHeads;

struct Block {
  Tensor norm1 = weights({kHidden}, 1, 0.2) + 1;
  Tensor q = weights({kHidden, kHidden}, 2), k = weights({kKeyWidth, kHidden}, 3);
  Tensor v = weights({kKeyWidth, kHidden}, 4), out = weights({kHidden, kHidden}, 5);
  Tensor norm2 = weights({kHidden}, 6, 0.2) + 1, bias2 = weights({kHidden}, 7, 0.2);
  Tensor gate = weights({kFfn, kHidden}, 8), up = weights({kFfn, kHidden}, 9);
  Tensor down = weights({kHidden, kFfn}, 10), bias = weights({kHidden}, 11);

  Tensor operator()(const Tensor& x) const {
    const Tensor normed = x.rms_norm(norm1);
    const Tensor seen =
        normed.linear(q).attention(normed.linear(k), normed.linear(v),
                                   {.heads = kHeads, .kv_heads = kKeyHeads, .causal = true});
    const Tensor h = x + seen.linear(out);
    const Tensor again = h.layer_norm(norm2, bias2);
    return h + (again.linear(gate).silu() * again.linear(up)).linear(down, bias);
  }
};

}  // namespace

int main(int, char** argv) {
  const std::string data = argv[1];
  const Tensor tokens = weights({2, kMostTokens, kHidden}, 12, 4);
  const tenon::Variable seq("seq", 1, kMostTokens);
  Tensor y = Block()(tokens.slice(1, {.stop = seq.bind(5)}));
  tenon::ExecutionPlan plan = y.prepare();
  plan.execute();
  const int wrong = examples::compare("5 tokens", y, data + "/lazy_transformer.npy");
  const Tensor five = y * 1;
  five.realize();
  plan.execute_with_vars({{"seq", 3}});
  const std::vector<float> three = y.as_vec<float>();
  const Tensor first = five.slice(1, {.stop = 3}).realize();
  std::printf("3 tokens: %s\n", three == first.as_vec<float>() ? "the same bits" : "other numbers");
  return wrong;
}
