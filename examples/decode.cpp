// Decoding with a KV cache: the model reads a prompt, then goes on token by token. Keys and values
// of the tokens before stay in states of the compiled graph; each run appends those of its own.
// One compile serves the prompt, every token after it, and every length of the past. Given a file,
// it saves the compiled model there: decode_artifact.c goes on with it.
#include <algorithm>
#include <cmath>
#include <cstdio>
#include <string>
#include <vector>

#include "tenon/tenon.h"

namespace {

constexpr int64_t kVocabulary = 100, kHidden = 32, kHeads = 4, kKvHeads = 2, kHeadDim = 8,
                  kFfn = 64, kLayers = 2, kCapacity = 2048;
constexpr int64_t kKv = kKvHeads * kHeadDim;

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
    values[i] = 0.2F * std::sin(static_cast<float>(i * 7 + name.size()));
  return m.param(name, {tenon::Shape(dims), tenon::DType::F32}, std::as_bytes(std::span(values)));
}

// A state of [batch, past, width], with room for kCapacity tokens.
HirValue cache(HirModule& m, const std::string& name) {
  const tenon::TensorType type{{tenon::sym::batch(), tenon::sym::past(), kKv}, tenon::DType::F32};
  return m.state(name, type, {.axis = 1, .capacity = kCapacity});
}

HirValue layer(HirModule& m, const HirValue& x, const std::string& name) {
  const tenon::hir::DecoderWeights weights = {
      .attention_norm = weight(m, name + ".attention_norm", {kHidden}),
      .q = {weight(m, name + ".q", {kHidden, kHeads * kHeadDim})},
      .k = {weight(m, name + ".k", {kHidden, kKv})},
      .v = {weight(m, name + ".v", {kHidden, kKv})},
      .output = {weight(m, name + ".o", {kHeads * kHeadDim, kHidden})},
      .ffn_norm = weight(m, name + ".ffn_norm", {kHidden}),
      .ffn = {.gate = weight(m, name + ".gate", {kHidden, kFfn}),
              .up = weight(m, name + ".up", {kHidden, kFfn}),
              .down = weight(m, name + ".down", {kFfn, kHidden})}};
  const tenon::hir::KvCache kv = {.keys = cache(m, name + ".keys"),
                                  .values = cache(m, name + ".values")};
  return m.decoder_block(
      x, weights,
      {.attention = {.heads = kHeads, .kv_heads = kKvHeads, .causal = true, .cache = kv}});
}

HirModule decoder() {
  HirModule m;
  const HirValue ids =
      m.input("ids", {{tenon::sym::batch(), tenon::sym::seq()}, tenon::DType::I64});
  HirValue x = m.op1("gather", {weight(m, "embedding", {kVocabulary, kHidden}), ids},
                     {{"axis", int64_t{0}}});
  for (int64_t i = 0; i < kLayers; ++i) x = layer(m, x, "layer" + std::to_string(i));
  x = m.rms_norm(x, weight(m, "norm", {kHidden}));
  m.set_outputs({{"logits", m.linear(x, weight(m, "lm_head", {kHidden, kVocabulary}))}});
  return m;
}

std::vector<std::string> cache_names() {
  std::vector<std::string> names;
  for (int64_t i = 0; i < kLayers; ++i) {
    for (const char* part : {".keys", ".values"})
      names.push_back("layer" + std::to_string(i) + part);
  }
  return names;
}

// Nothing was read yet: no rows.
void begin(tenon::CompiledGraph& model) {
  for (const std::string& name : cache_names())
    model.bind_handle(name, tenon::TensorView(nullptr, tenon::DType::F32, {1, 0, kKv}));
}

std::vector<float> read(tenon::CompiledGraph& model, const std::vector<int64_t>& tokens) {
  return model.run({{"ids", tenon::view(tokens, {1, static_cast<int64_t>(tokens.size())})}})[0];
}

int64_t likeliest(const std::vector<float>& logits) {
  return std::max_element(logits.end() - kVocabulary, logits.end()) - (logits.end() - kVocabulary);
}

void run(const char* file) {
  tenon::CompiledGraph model = tenon::Session().compile(decoder());
  if (file) model.save(file);
  begin(model);
  std::vector<int64_t> tokens = {3, 1, 4, 1, 5, 9, 2, 6};
  std::vector<float> logits = read(model, tokens);
  for (int i = 0; i < 24; ++i) {
    tokens.push_back(likeliest(logits));
    logits = read(model, {tokens.back()});
  }

  // All of it at once, from the beginning.
  tenon::CompiledGraph other = model.clone();
  begin(other);
  const std::vector<float> whole = read(other, tokens);
  double off = 0;
  for (size_t i = 0; i < logits.size(); ++i)
    off = std::max(off, double{std::abs(logits[i] - whole[whole.size() - logits.size() + i])});
  std::printf("24 tokens one by one, off by at most %s\n", off <= 1e-5 ? "1e-05" : "more");

  // The same beginning, continued by another token in a clone; the first four tokens stay.
  for (const std::string& name : cache_names()) {
    other.bind_handle(name, model.fork_handle(name));
    other.trim_handle(name, 4);
  }
  read(other, {7});
  std::printf("a fork goes another way: %lld tokens are left, here still %lld\n",
              static_cast<long long>(other.read_handle("layer0.keys")->shape[1]),
              static_cast<long long>(model.read_handle("layer0.keys")->shape[1]));
}

}  // namespace

int main(int argc, char** argv) {
  try {
    run(argc > 1 ? argv[1] : nullptr);
    return 0;
  } catch (const std::exception& error) {
    std::fprintf(stderr, "decode: %s\n", error.what());
    return 1;
  }
}
