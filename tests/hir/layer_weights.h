// Parameters of whole layers, of any widths.
#pragma once

#include <functional>
#include <string>

#include "tenon/hir.h"

namespace tenon::hir_test {

struct LayerWidths {
  int64_t hidden, kv, ffn;
};

inline HirValue matrix(HirModule& m, const std::string& name, int64_t k, int64_t n) {
  return m.param(name, {{k, n}, DType::F32});
}
inline HirValue vector(HirModule& m, const std::string& name, int64_t n) {
  return m.param(name, {{n}, DType::F32});
}

using MakeMatrix =
    std::function<HirValue(HirModule& m, const std::string& name, int64_t k, int64_t n)>;

inline hir::EncoderWeights encoder_weights(HirModule& m, const LayerWidths& w,
                                           const MakeMatrix& make = matrix) {
  const auto linear = [&](const std::string& name, int64_t k, int64_t n) {
    return hir::LinearWeights{make(m, "encoder." + name, k, n),
                              vector(m, "encoder." + name + ".bias", n)};
  };
  const auto row = [&](const std::string& name) { return vector(m, "encoder." + name, w.hidden); };
  return {.q = linear("q", w.hidden, w.hidden),
          .k = linear("k", w.hidden, w.kv),
          .v = linear("v", w.hidden, w.kv),
          .output = linear("output", w.hidden, w.hidden),
          .norm1_scale = row("norm1.scale"),
          .norm1_bias = row("norm1.bias"),
          .ffn_in = linear("in", w.hidden, w.ffn),
          .ffn_out = linear("out", w.ffn, w.hidden),
          .norm2_scale = row("norm2.scale"),
          .norm2_bias = row("norm2.bias")};
}

inline hir::SwiGluWeights swiglu_weights(HirModule& m, const LayerWidths& w,
                                         const MakeMatrix& make = matrix) {
  return {make(m, "gate", w.hidden, w.ffn), make(m, "up", w.hidden, w.ffn),
          make(m, "down", w.ffn, w.hidden)};
}

inline hir::DecoderWeights decoder_weights(HirModule& m, const LayerWidths& w,
                                           const MakeMatrix& make = matrix) {
  const auto linear = [&](const std::string& name, int64_t n) {
    return hir::LinearWeights{make(m, "decoder." + name, w.hidden, n)};
  };
  return {.attention_norm = vector(m, "decoder.attention_norm", w.hidden),
          .q = linear("q", w.hidden),
          .k = linear("k", w.kv),
          .v = linear("v", w.kv),
          .output = linear("output", w.hidden),
          .ffn_norm = vector(m, "decoder.ffn_norm", w.hidden),
          .ffn = swiglu_weights(m, w, make)};
}

}  // namespace tenon::hir_test
