// What the blocks of a HirModule (tenon/hir.h) take beside their first operands: weights that
// belong together, and options that have defaults.
#pragma once

#include <cstdint>
#include <memory>
#include <vector>

#include "tenon/fusion_options.h"
#include "tenon/graph.h"
#include "tenon/shape.h"

namespace tenon {

namespace hir {
class Module;
}

// A tensor of a module: what blocks take and give. Cheap to copy. A copy of a module takes the
// values that were there when it was made.
class HirValue {
 public:
  HirValue() = default;  // no tensor: an operand that is left out
  explicit operator bool() const { return type_ != nullptr; }
  const TensorType& type() const;  // of no tensor: an Error
  const Shape& shape() const { return type().shape; }
  DType dtype() const { return type().dtype; }

 private:
  friend class hir::Module;
  std::shared_ptr<const TensorType> type_;  // a module knows its values by this pointer
  int index_ = -1;
};

namespace hir {

// activation(x @ w + bias) + residual
struct LinearOptions {
  HirValue bias = {};      // [n]
  HirValue residual = {};  // like the result
  ActivationKind activation = ActivationKind::None;
};

// A matrix and its bias, where there is one.
struct LinearWeights {
  HirValue w;          // [k, n]
  HirValue bias = {};  // [n]
};

// (activation(x @ gate) * (x @ up)) @ down + residual
struct SwiGluWeights {
  HirValue gate, up;  // [k, n]
  HirValue down;      // [n, k]
};
struct SwiGluOptions {
  HirValue residual = {};
  ActivationKind activation = ActivationKind::Silu;
};

// Keys and values of the tokens before, which stay between runs: states [batch, past,
// kv_heads*head_dim] that grow along axis 1. Those of this run are appended, and queries attend to
// all.
struct KvCache {
  HirValue keys = {}, values = {};
};

// Limits and masks add up: a query sees a key that all of them let it see.
struct AttentionOptions {
  int64_t heads = 1;
  int64_t kv_heads = 0;  // groups of heads share a key and a value; 0: as many as heads
  int64_t head_dim = 0;  // 0: the width of q / heads
  double scale = 0;      // of the scores; 0: 1 / sqrt(head_dim)
  double softcap = 0;    // c * tanh(score / c), before masks; 0: none
  bool causal = false;   // query i sees key j where j <= i + keys - queries
  int64_t window = 0;    // with causal: the last so many of these keys only; 0: all
  HirValue mask = {};  // bool, true where a key is seen; broadcast to [batch, heads, queries, keys]
  HirValue bias = {};  // added to the scores; broadcast like the mask
  KvCache cache = {};
};

// Pairs of elements of a head are turned by an angle that grows with the position.
struct RotaryOptions {
  int64_t heads = 1;
  int64_t dim = 0;              // elements of a head that are turned; 0: all
  bool interleaved = false;     // pairs are (2i, 2i + 1), not (i, i + dim / 2)
  double theta = 10000;         // pair i of position p: the angle p / theta^(2i / dim)
  HirValue positions = {};      // i64 [batch, seq]; none: 0, 1, 2, ..., after those of a cache
  HirValue cos = {}, sin = {};  // [seq, dim/2] or [batch, seq, dim/2], instead of theta
};

// A mixture of experts: each row goes through the top_k experts that the router likes best, and
// their results are added, weighted by the softmax of the router.
struct MoeWeights {
  HirValue router;    // [k, experts]
  HirValue gate, up;  // [experts, k, n]
  HirValue down;      // [experts, n, k]
};
struct MoeOptions {
  int64_t top_k = 2;
  bool renormalize = true;  // the weights of a row's experts sum to 1
  ActivationKind activation = ActivationKind::Silu;
};

// (values - zero_points) * scales, in blocks along k.
struct QuantizedWeight {
  HirValue values;            // i8, u8, i4 or u4 [k, n]
  HirValue scales;            // [k / block, n], of x's dtype
  HirValue zero_points = {};  // like scales, of the values' dtype; none: 0
  int64_t block = 0;          // 0: all of k
};

struct EncoderWeights {
  LinearWeights q, k, v, output;
  HirValue norm1_scale, norm1_bias;  // of the attention
  LinearWeights ffn_in, ffn_out;
  HirValue norm2_scale, norm2_bias;  // of the feed-forward network
};
struct EncoderOptions {
  AttentionOptions attention = {};
  ActivationKind activation = ActivationKind::Gelu;
  bool pre_norm = false;  // norms before attention and network, not after the additions (BERT)
  double epsilon = 1e-12;
};

struct DecoderWeights {
  HirValue attention_norm;
  LinearWeights q, k, v, output;
  HirValue ffn_norm;
  SwiGluWeights ffn;
};
struct DecoderOptions {
  AttentionOptions attention = {.causal = true};
  RotaryOptions rotary = {};  // its heads are the attention's
  ActivationKind activation = ActivationKind::Silu;
  double epsilon = 1e-5;
};

}  // namespace hir
}  // namespace tenon
