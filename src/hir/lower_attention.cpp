// Attention: mask and bias become what is added to the scores; everything else the op does itself.
#include <limits>

#include "base/error.h"
#include "hir/lowering.h"

namespace tenon::hir {

using graph::Value;

// How many keys are in the cache before.
Dim Lowering::past(const AttentionOptions& options) const {
  const Value keys = (*this)[options.cache.keys];
  if (!keys) return 0;
  if (keys.shape().rank() != 3)
    throw user_error("a cache needs three axes: {}", keys.type().to_string());
  return keys.shape()[1];
}

Value Lowering::attention(Value q, Value k, Value v, const AttentionOptions& options) {
  constexpr double kHidden = -std::numeric_limits<double>::infinity();
  if (options.window != 0 && !options.causal)
    throw user_error("a window of {} keys needs causal attention", options.window);
  if (static_cast<bool>(options.cache.keys) != static_cast<bool>(options.cache.values))
    throw user_error("a cache has keys and values, not one of them");
  if (options.cache.keys) {
    k = g.update((*this)[options.cache.keys], k, past(options));
    v = g.update((*this)[options.cache.values], v, past(options));
  }
  Value added = (*this)[options.bias];
  if (const Value mask = (*this)[options.mask]) {
    if (mask.dtype() != DType::Bool)
      throw user_error("the mask must be bool: {}", mask.type().to_string());
    const Value shown = added ? added : number(0, q);
    added = g.apply(graph::Op::Where, {mask, shown, number(kHidden, q)});
  }
  return g.attention(q, k, v,
                     {.heads = options.heads,
                      .head_dim = options.head_dim,
                      .kv_heads = options.kv_heads,
                      .scale = options.scale,
                      .mask = added,
                      .causal = options.causal,
                      .window = options.window,
                      .softcap = options.softcap});
}

Results lower_block(Lowering& to, const Attention& block) {
  return {to.attention(to[block.q], to[block.k], to[block.v], block.options)};
}

}  // namespace tenon::hir
