// Products of matrices, einsum, convolutions, pools, attention.
#include "tests/lazy_cases/ops.h"

namespace tenon::cases {
namespace {

using A = const Arguments&;
using R = Results;

// Stride, padding and dilation are the first lists.
WindowOptions window(A a, int64_t groups = 1) {
  return {.stride = a.list(0), .padding = a.list(1), .dilation = a.list(2), .groups = groups};
}

TensorAttentionOptions attention(A a) {
  return {
      .heads = a.integer(0), .kv_heads = a.integer(1), .scale = a.number(), .causal = a.flag(2)};
}

constexpr OpRow kOps[] = {
    {"matmul", [](A a) -> R { return a.x.matmul(a.y); }},
    {"einsum", [](A a) -> R { return Tensor::einsum(a.text(), a.all); }},
    {"linear", [](A a) -> R { return a.x.linear(a.y, a.z); }},
    {"conv", [](A a) -> R { return a.x.conv(a.y, a.z, window(a, a.integer(0, 3))); }},
    {"max_pool", [](A a) -> R { return a.x.max_pool(a.list(3), window(a)); }},
    {"avg_pool", [](A a) -> R { return a.x.avg_pool(a.list(3), window(a)); }},
    {"max_pool_side_by_side", [](A a) -> R { return a.x.max_pool(a.list()); }},
    {"avg_pool_side_by_side", [](A a) -> R { return a.x.avg_pool(a.list()); }},
    {"attention", [](A a) -> R { return a.x.attention(a.y, a.z, attention(a)); }},
    {"attention_masked", [](A a) -> R { return a.x.attention(a.y, a.z, attention(a), a[3]); }},
    {"two_layers",
     [](A a) -> R { return a.x.linear(a.y, a.z).gelu().linear(a[3], a[4]).softmax(); }},
};

}  // namespace

std::span<const OpRow> product_ops() { return kOps; }

}  // namespace tenon::cases
