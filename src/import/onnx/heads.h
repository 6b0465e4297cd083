// What all the ops with attention share: heads taken apart and joined, positions, masks, and
// softmax(q k^T * scale + bias) v, which becomes the graph's fused attention where it is no more
// than that, and a chain of primitives otherwise.
#pragma once

#include <functional>

#include "import/onnx/call.h"

namespace tenon::onnx {

// [batch, heads, length, width] each; k and v may have fewer heads.
struct Qkv {
  Value q, k, v;
};

// [batch, length, heads * width] <-> [batch, heads, length, width]. One after the other gives back
// the value itself.
Value split_heads(Call& call, Value x, int64_t heads);
Value join_heads(Call& call, Value x);
// 1 / sqrt(width) as f64[]; the width may be symbolic.
Value inverse_root(Call& call, const Dim& width);
// Each head of [batch, heads, length, width] `times` times, one after the other.
Value repeat_heads(Call& call, Value x, const Dim& times);

// Masks count in i32: positions are far below 2^31.
Value positions(Call& call, const Dim& count);  // 0, 1, 2, ...
Value positions(Call& call, Value count);       // as many as the run-time scalar says
Value to_i32(Call& call, Value x);

// A mask or bias made as long as the keys with `fill`; its last axis counts keys.
Value lengthened(Call& call, Value mask, const Dim& keys, double fill);
// Both conditions, where each may be null.
Value both(Call& call, Value a, Value b);
// 0 where `allowed`, `filter` elsewhere, plus `bias`; either may be null.
Value bias_of(Call& call, Value allowed, Value bias, DType dtype, double filter);

struct Attend {
  Value q, k, v;     // [batch, heads, length, width]; k and v may have fewer heads
  double scale = 0;  // 0: 1 / sqrt(width)
  double softcap = 0;
  Value bias = {};                          // added to the scores
  Value empty = {};                         // queries without a key: their result is 0
  std::optional<DType> softmax_dtype = {};  // of q where absent
  Value sink = {};                          // scores of one more key, of value 0: [.., 1]
  bool keep_scores = false;
  bool precise_values = false;  // the product with the values is in softmax_dtype too
  // What a model's own graphs make of the scores and weights, in softmax_dtype.
  std::function<Value(Value)> change_scores = {}, change_weights = {};
};
struct Attended {
  Value result = {};  // [batch, heads, queries, width]
  // [batch, heads, queries, keys], where kept
  Value product = {}, capped = {}, biased = {}, weights = {};
};
Attended attend(Call& call, const Attend& a);

}  // namespace tenon::onnx
