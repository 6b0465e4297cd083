// A small decoder described as blocks: embedding, layers, final norm, logits. Compiled once, run at
// two shapes. The weights are made up; a real model would read them from its file.
#include <cmath>
#include <cstdio>
#include <string>

#include "tenon/tenon.h"

namespace {

constexpr int64_t kVocabulary = 1000, kHidden = 64, kHeads = 4, kKvHeads = 2, kHeadDim = 16,
                  kFfn = 160, kLayers = 3;

using tenon::HirModule;
using tenon::HirValue;

HirValue weight(HirModule& m, const std::string& name, const std::vector<int64_t>& extents) {
  int64_t count = 1;
  std::vector<tenon::Dim> dims;
  for (const int64_t extent : extents) {
    count *= extent;
    dims.emplace_back(extent);
  }
  std::vector<float> values(static_cast<size_t>(count));
  for (size_t i = 0; i < values.size(); ++i)
    values[i] = 0.1F * std::sin(static_cast<float>(i * 7 + name.size()));
  return m.param(name, {tenon::Shape(dims), tenon::DType::F32}, std::as_bytes(std::span(values)));
}

HirValue layer(HirModule& m, const HirValue& x, const std::string& name) {
  m.set_origin(name);
  const tenon::hir::DecoderWeights weights = {
      .attention_norm = weight(m, name + ".attention_norm", {kHidden}),
      .q = {weight(m, name + ".q", {kHidden, kHeads * kHeadDim})},
      .k = {weight(m, name + ".k", {kHidden, kKvHeads * kHeadDim})},
      .v = {weight(m, name + ".v", {kHidden, kKvHeads * kHeadDim})},
      .output = {weight(m, name + ".o", {kHeads * kHeadDim, kHidden})},
      .ffn_norm = weight(m, name + ".ffn_norm", {kHidden}),
      .ffn = {.gate = weight(m, name + ".gate", {kHidden, kFfn}),
              .up = weight(m, name + ".up", {kHidden, kFfn}),
              .down = weight(m, name + ".down", {kFfn, kHidden})}};
  return m.decoder_block(x, weights,
                         {.attention = {.heads = kHeads, .kv_heads = kKvHeads, .causal = true}});
}

HirModule decoder() {
  HirModule m;
  const HirValue ids =
      m.input("ids", {{tenon::sym::batch(), tenon::sym::seq()}, tenon::DType::I64});
  const HirValue table = weight(m, "embedding", {kVocabulary, kHidden});
  HirValue x = m.op1("gather", {table, ids}, {{"axis", int64_t{0}}});
  for (int64_t i = 0; i < kLayers; ++i) x = layer(m, x, "layer" + std::to_string(i));
  m.set_origin("head");
  x = m.rms_norm(x, weight(m, "norm", {kHidden}));
  m.set_outputs({{"logits", m.linear(x, weight(m, "lm_head", {kHidden, kVocabulary}))}});
  return m;
}

void run() {
  tenon::CompiledGraph compiled = tenon::Session().compile(decoder());
  std::printf("%d kernels compiled in %.0f ms\n", compiled.stats().kernels,
              compiled.stats().milliseconds);
  for (const std::vector<int64_t>& shape : {std::vector<int64_t>{1, 5}, {2, 7}}) {
    std::vector<int64_t> ids(static_cast<size_t>(shape[0] * shape[1]));
    for (size_t i = 0; i < ids.size(); ++i) ids[i] = static_cast<int64_t>(i * 37 % kVocabulary);
    const tenon::OwnedTensor logits = compiled.run_typed({{"ids", tenon::view(ids, shape)}})[0];
    std::printf("%s f32[%lld, %lld, %lld]\n", logits.name.c_str(),
                static_cast<long long>(logits.shape[0]), static_cast<long long>(logits.shape[1]),
                static_cast<long long>(logits.shape[2]));
  }
}

}  // namespace

int main() {
  try {
    run();
    return 0;
  } catch (const std::exception& error) {
    std::fprintf(stderr, "decoder: %s\n", error.what());
    return 1;
  }
}
