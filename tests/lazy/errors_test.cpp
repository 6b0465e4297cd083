// What does not fit is an Error of the call that makes it: the op in brackets, then what is wrong,
// with the types. Nothing is realized here.
#include <gtest/gtest.h>

#include "tenon/lazy_tensor.h"
#include "tests/error_of.h"

namespace tenon {
namespace {

const Tensor& x() {
  static const Tensor kTensor = Tensor::from<float>({1, 2, 3, 4, 5, 6}, {2, 3});
  return kTensor;
}

struct Case {
  const char* error;
  void (*call)();
};

Tensor ones(const Extents& shape) { return Tensor::ones(shape); }

const Case kCases[] = {
    {"[add] extents 3 and 4 do not broadcast: f32[2, 3] x f32[4]", [] { x() + ones({4}); }},
    {"[matmul] inner extents differ: f32[2, 3] x f32[2, 3]", [] { x().matmul(ones({2, 3})); }},
    {"[matmul] a scalar has no axis: f32[2, 3] x f32[]",
     [] { x().matmul(Tensor::scalar(1, DType::F32)); }},
    {"[einsum] \"ij,jk->ik\": [expand] extents with the target [3, 2] differ: f32[2, 2]",
     [] { Tensor::einsum("ij,jk->ik", {x(), ones({2, 2})}); }},
    {"[einsum] there are no operands", [] { Tensor::einsum("ij->", {}); }},
    {"[linear] the weight has two axes: f32[4]", [] { x().linear(ones({4})); }},
    {"[linear] inner extents differ: f32[2, 3] x f32[2, 4]", [] { x().linear(ones({4, 2})); }},
    {"[conv] needs [batch, channels, axes...]: f32[2, 3]", [] { x().conv(ones({1, 1, 3})); }},
    {"[conv] channels of the image and of all groups differ: f32[1, 2, 5] x f32[1, 3, 3]",
     [] { ones({1, 2, 5}).conv(ones({1, 3, 3})); }},
    {"[conv] the window is larger than the image: f32[1, 2, 5]",
     [] { ones({1, 2, 5}).conv(ones({1, 2, 7})); }},
    {"[max_pool] a window of 2 axes for f32[1, 2, 5]", [] { ones({1, 2, 5}).max_pool({2, 2}); }},
    {"[max_pool] stride is 0", [] { ones({1, 2, 5}).max_pool({2}, {.stride = {0}}); }},
    {"[avg_pool] needs [batch, channels, axes...]: f32[2, 3]", [] { x().avg_pool({2}); }},
    {"[reshape] element counts with [4, 2] differ: f32[2, 3]", [] { x().reshape({4, 2}); }},
    {"[reshape] two extents are -1: f32[2, 3]", [] { x().reshape({-1, -1}); }},
    {"[reshape] element counts with [1, 4] differ: f32[2, 3]", [] { x().reshape({-1, 4}); }},
    {"[flatten] axis 1 is after axis 0", [] { x().flatten(1, 0); }},
    {"[squeeze] axis 0 is not of extent 1: f32[2, 3]", [] { x().squeeze(0); }},
    {"[unsqueeze] axis 4 is out of range: f32[2, 3]", [] { x().unsqueeze(4); }},
    {"[permute] perm [0, 0] is not a permutation of the axes: f32[2, 3]",
     [] { x().permute({0, 0}); }},
    {"[permute] perm [0] is not a permutation of the axes: f32[2, 3]", [] { x().permute({0}); }},
    {"[transpose] axis 2 is out of range: f32[2, 3]", [] { x().transpose(0, 2); }},
    {"[expand] 1 axes are fewer than those of f32[2, 3]", [] { x().expand({3}); }},
    {"[expand] extents with the target [2, 4] differ: f32[2, 3]", [] { x().expand({2, 4}); }},
    {"[pad] 1 pairs for f32[2, 3]", [] { x().pad({{1, 1}}); }},
    {"[pad] -1 may be negative: shrink instead", [] { x().pad({{1, 1}, {-1, 0}}); }},
    {"[shrink] 0..3 is not inside of axis 0: f32[2, 3]", [] { x().shrink({{0, 3}}); }},
    {"[shrink] 1..0 is not inside of axis 0: f32[2, 3]", [] { x().shrink({{1, 0}}); }},
    {"[flip] axis 2 is out of range: f32[2, 3]", [] { x().flip({2}); }},
    {"[flip] axis -1 is named twice: f32[2, 3]", [] { x().flip({1, -1}); }},
    {"[index] position 2 is outside of axis 0: f32[2, 3]", [] { x()[2]; }},
    {"[index] position -3 is outside of axis 0: f32[2, 3]", [] { x()[-3]; }},
    {"[index] 3 places for f32[2, 3]", [] { x().index({0, 0, 0}); }},
    {"[index] two places stand for the rest of the axes",
     [] { x().index({Place::Rest, Place::Rest}); }},
    {"[slice] a step is 0", [] { x().slice(0, {.step = 0}); }},
    {"[slice] axis 2 is out of range: f32[2, 3]", [] { x().slice(2, {}); }},
    {"[concat] there is nothing to join", [] { Tensor::concat({}); }},
    {"[concat] extents of axis 1 differ: f32[2, 3] x f32[2, 4]",
     [] { Tensor::concat({x(), ones({2, 4})}); }},
    {"[stack] shapes differ: f32[2, 3] and f32[2, 4]", [] { Tensor::stack({x(), ones({2, 4})}); }},
    {"[split] axis 1 and the sum of the parts, 2, differ: f32[2, 3]", [] { x().split({1, 1}, 1); }},
    {"[chunk] 0 parts", [] { x().chunk(0); }},
    {"[repeat] 1 numbers for f32[2, 3]", [] { x().repeat({2}); }},
    {"[repeat] -1 times", [] { x().repeat({1, -1}); }},
    {"[roll] axis 2 is out of range: f32[2, 3]", [] { x().roll(1, 2); }},
    {"[tril] needs a matrix: f32[3]", [] { ones({3}).tril(); }},
    {"[sum] axis 2 is out of range: f32[2, 3]", [] { x().sum({2}); }},
    {"[sum] an axis is named twice: f32[2, 3]", [] { x().sum({0, 0}); }},
    {"[argmax] axis -3 is out of range: f32[2, 3]", [] { x().argmax(-3); }},
    {"[max] there is no element: f32[0]", [] { ones({0}).max(); }},
    {"[min] there is no element: f32[2, 0]", [] { ones({2, 0}).min({1}); }},
    {"[argmin] there is no element to choose (1 is more than 0): f32[0, 2]",
     [] { ones({0, 2}).argmin(0); }},
    {"[cumsum] axis 2 is out of range: f32[2, 3]", [] { x().cumsum(2); }},
    {"[softmax] axis 2 is out of range: f32[2, 3]", [] { x().softmax(2); }},
    {"[layer_norm] last extent and scale differ: f32[2, 3] x f32[2] x f32[3]",
     [] { x().layer_norm(ones({2})); }},
    {"[batch_norm] needs channels: f32[3]", [] { ones({3}).batch_norm(ones({3}), ones({3})); }},
    {"[batch_norm] f32[2] is not one value for each channel of f32[1, 3, 2]",
     [] { ones({1, 3, 2}).batch_norm(ones({2}), ones({3})); }},
    {"[group_norm] 2 groups do not divide the channels of f32[1, 3, 2]",
     [] { ones({1, 3, 2}).group_norm(2); }},
    {"[attention] needs [batch, queries, width]: f32[2, 3]", [] { x().attention(x(), x(), {}); }},
    {"[attention] 4 heads do not divide the width of f32[1, 2, 6]",
     [] { ones({1, 2, 6}).attention(ones({1, 2, 6}), ones({1, 2, 6}), {.heads = 4}); }},
    {"[attention] last extent of k and kv_heads * head_dim differ: f32[1, 2, 6] x f32[1, 2, 4] x "
     "f32[1, 2, 4]",
     [] { ones({1, 2, 6}).attention(ones({1, 2, 4}), ones({1, 2, 4}), {.heads = 2}); }},
    {"[take] positions are integers, not f32[2]", [] { x().take(ones({2})); }},
    {"[take] axis 2 is out of range: f32[2, 3]", [] { x().take(Tensor::arange(2), 2); }},
    {"[gather] ranks differ: f32[2, 3] x i64[2]", [] { x().gather(Tensor::arange(2), 0); }},
    {"[scatter] update extents differ: f32[2, 3] x i64[2, 3] x f32[2, 2]",
     [] { x().scatter(Tensor::zeros({2, 3}, DType::I64), ones({2, 2}), 1); }},
    {"[one_hot] positions are integers, not f32[2, 3]", [] { x().one_hot(3); }},
    {"[one_hot] 0 classes", [] { Tensor::arange(2).one_hot(0); }},
    {"[sort] needs an axis: f32[]", [] { Tensor::scalar(1, DType::F32).sort(); }},
    {"[topk] k is more than there are (4 is more than 3): f32[2, 3] x i64[]", [] { x().topk(4); }},
    {"[topk] -1 elements", [] { x().topk(-1); }},
    {"[clamp] neither bound is given", [] { x().clamp({}, {}); }},
    {"[bit_and] needs integer operands: f32[2, 3] x f32[2, 3]", [] { x() & ones({2, 3}); }},
    {"[shift_left] needs integer operands: f32[2, 3] x f32[]", [] { x() << 1; }},
    {"[bit_not] needs integer operands: f32[2, 3] x f32[]", [] { ~x(); }},
    {"[bit_cast] f64 has other bits than f32: f32[2, 3]", [] { x().bit_cast(DType::F64); }},
    {"[where] the condition must be bool: f32[2, 3] x f32[2, 3] x f32[2, 3]",
     [] { Tensor::where(x(), x(), x()); }},
    {"[add] does not take 1 operands", [] { Tensor::op("add", {x()}); }},
    {"[top_k] needs the attribute \"axis\"",
     [] { Tensor::op1("top_k", {x(), Tensor::scalar(1, DType::I64)}, {}); }},
};

TEST(Errors, AreThoseOfTheCallAndShowTheTypes) {
  for (const Case& each : kCases) EXPECT_EQ(user_error_of(each.call), each.error);
}

}  // namespace
}  // namespace tenon
