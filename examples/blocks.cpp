// Every block of HirModule once, small enough to read. The module is compiled both ways, each block
// as its fused op or as primitives that the compiler fuses again: the numbers are the same.
#include <algorithm>
#include <cmath>
#include <cstdio>
#include <string>

#include "tenon/tenon.h"

namespace {

using tenon::ActivationKind;
using tenon::DType;
using tenon::HirModule;
using tenon::HirValue;

constexpr int64_t kHidden = 16, kInner = 32, kHeads = 4, kHeadDim = 4, kKvHeads = 2, kExperts = 3;
constexpr int64_t kBatch = 2, kSeq = 5;

// A module, the blocks that it gives, and weights that a real model would read from its file.
struct Model {
  HirModule m;
  std::vector<HirModule::Output> blocks;
  int weights = 0;

  void show(const std::string& name, const HirValue& value) { blocks.push_back({name, value}); }

  HirValue weight(const std::vector<tenon::Dim>& extents) {
    const tenon::TensorType type{tenon::Shape(extents), DType::F32};
    std::vector<float> values(static_cast<size_t>(type.shape.elements().const_value()));
    for (size_t i = 0; i < values.size(); ++i)
      values[i] = 0.3F * std::sin(static_cast<float>(i * 7 + static_cast<size_t>(weights)));
    return m.param("w" + std::to_string(weights++), type, std::as_bytes(std::span(values)));
  }
  tenon::hir::LinearWeights linear(int64_t from, int64_t to) {
    return {.w = weight({from, to}), .bias = weight({to})};
  }
};

void linears(Model& model, const HirValue& x) {
  HirModule& m = model.m;
  m.set_origin("linears");
  model.show("linear", m.linear(x, model.weight({kHidden, kHidden}),
                                {.bias = model.weight({kHidden}),
                                 .residual = x,
                                 .activation = ActivationKind::GeluTanh}));
  const std::vector<HirValue> pair =
      m.shared_linears(x, {model.linear(kHidden, kInner), model.linear(kHidden, kHidden)});
  model.show("first of one input", pair[0]);
  model.show("second of one input", pair[1]);

  std::vector<int8_t> eights(kHidden * kInner);
  for (size_t i = 0; i < eights.size(); ++i)
    eights[i] = static_cast<int8_t>(static_cast<int>(i % 255) - 127);
  const std::vector<int8_t> zeros(2 * kInner, 3);
  const auto bytes = [](const std::vector<int8_t>& values) {
    return std::as_bytes(std::span(values));
  };
  const tenon::hir::QuantizedWeight quantized = {
      .values = m.param("q8", {{kHidden, kInner}, DType::I8}, bytes(eights)),
      .scales = model.weight({2, kInner}),  // of each 8 rows of a column
      .zero_points = m.param("zeros", {{2, kInner}, DType::I8}, bytes(zeros)),
      .block = kHidden / 2};
  model.show("dequantizing_linear", m.dequantizing_linear(x, quantized));

  model.show("swiglu", m.swiglu(x,
                                {.gate = model.weight({kHidden, kInner}),
                                 .up = model.weight({kHidden, kInner}),
                                 .down = model.weight({kInner, kHidden})},
                                {.residual = x, .activation = ActivationKind::Silu}));
  model.show("moe", m.moe(x,
                          {.router = model.weight({kHidden, kExperts}),
                           .gate = model.weight({kExperts, kHidden, kInner}),
                           .up = model.weight({kExperts, kHidden, kInner}),
                           .down = model.weight({kExperts, kInner, kHidden})},
                          {.top_k = 2, .renormalize = true, .activation = ActivationKind::Silu}));
}

void norms(Model& model, const HirValue& x, const HirValue& before) {
  HirModule& m = model.m;
  m.set_origin("norms");
  const HirValue scale = model.weight({kHidden}), bias = model.weight({kHidden});
  model.show("rms_norm", m.rms_norm(x, scale, 1e-6));
  model.show("layer_norm", m.layer_norm(x, scale, bias));
  const HirModule::Normed rms = m.rms_norm_of_sum(x, before, scale);
  model.show("rms_norm of a sum", rms.normed);
  model.show("the sum", rms.sum);
  model.show("layer_norm of a sum", m.layer_norm_of_sum(x, before, scale, bias).normed);
}

void attention(Model& model, const HirValue& q, const HirValue& kv) {
  HirModule& m = model.m;
  m.set_origin("attention");
  const auto show = [&](const char* name, tenon::hir::AttentionOptions options) {
    options.heads = kHeads;
    options.kv_heads = kKvHeads;  // two heads share a key and a value
    model.show(name, m.attention(q, kv, kv, options));
  };
  const tenon::Dim seq = tenon::sym::seq();
  show("attention", {});
  show("causal attention", {.causal = true});
  show("attention to the last two", {.causal = true, .window = 2});
  show("attention, scaled and capped", {.scale = 0.5, .softcap = 20});
  show("attention where a mask says so",
       {.mask = m.input("seen", {{tenon::sym::batch(), 1, 1, seq}, DType::Bool})});
  show("attention with a bias", {.bias = model.weight({kHeads, 1, 1})});

  model.show("rotary", m.rotary(q, {.heads = kHeads, .theta = 10000}));
  model.show("rotary of some elements",
             m.rotary(q, {.heads = kHeads, .dim = kHeadDim / 2, .interleaved = true}));
  const HirValue positions = m.input("positions", {{tenon::sym::batch(), seq}, DType::I64});
  model.show("rotary at positions", m.rotary(q, {.heads = kHeads, .positions = positions}));
}

void layers(Model& model, const HirValue& x) {
  HirModule& m = model.m;
  const auto square = [&] { return model.linear(kHidden, kHidden); };
  const auto row = [&] { return model.weight({kHidden}); };
  m.set_origin("encoder");
  model.show("encoder_block", m.encoder_block(x,
                                              {.q = square(),
                                               .k = square(),
                                               .v = square(),
                                               .output = square(),
                                               .norm1_scale = row(),
                                               .norm1_bias = row(),
                                               .ffn_in = model.linear(kHidden, kInner),
                                               .ffn_out = model.linear(kInner, kHidden),
                                               .norm2_scale = row(),
                                               .norm2_bias = row()},
                                              {.attention = {.heads = kHeads},
                                               .activation = ActivationKind::Gelu,
                                               .pre_norm = true,
                                               .epsilon = 1e-6}));
  m.set_origin("decoder");
  model.show("decoder_block",
             m.decoder_block(x,
                             {.attention_norm = row(),
                              .q = square(),
                              .k = model.linear(kHidden, kKvHeads * kHeadDim),
                              .v = model.linear(kHidden, kKvHeads * kHeadDim),
                              .output = square(),
                              .ffn_norm = row(),
                              .ffn = {.gate = model.weight({kHidden, kInner}),
                                      .up = model.weight({kHidden, kInner}),
                                      .down = model.weight({kInner, kHidden})}},
                             {.attention = {.heads = kHeads, .kv_heads = kKvHeads, .causal = true},
                              .rotary = {.theta = 500000},
                              .activation = ActivationKind::Silu,
                              .epsilon = 1e-6}));
}

std::vector<std::vector<float>> run(const HirModule& module, tenon::FusionPolicy policy) {
  tenon::CompiledGraph compiled = tenon::Session().compile(module, {.fusion = {.policy = policy}});
  std::vector<float> x(kBatch * kSeq * kHidden);
  for (size_t i = 0; i < x.size(); ++i) x[i] = std::cos(static_cast<float>(i));
  std::vector<int64_t> positions(kBatch * kSeq);
  for (size_t i = 0; i < positions.size(); ++i) positions[i] = static_cast<int64_t>(i * 3);
  const std::vector<uint8_t> seen = {1, 1, 1, 1, 1, 1, 1, 1, 0, 0};  // the second is shorter
  return compiled.run({{"x", tenon::view(x, {kBatch, kSeq, kHidden})},
                       {"seen", {seen.data(), DType::Bool, {kBatch, 1, 1, kSeq}}},
                       {"positions", tenon::view(positions, {kBatch, kSeq})}});
}

}  // namespace

int main() {
  Model model;
  const HirValue x = model.m.input_batch_seq("x", kHidden);
  const HirValue y = model.m.op1("tanh", {x});  // any op of docs/ops.md, beside the blocks
  const HirValue kv = model.m.linear(x, model.weight({kHidden, kKvHeads * kHeadDim}));
  linears(model, x);
  norms(model, x, y);
  attention(model, x, kv);
  layers(model, x);
  model.m.set_outputs(model.blocks);
  for (const auto& [name, value] : model.blocks)
    std::printf("%-32s %s\n", name.c_str(), value.type().to_string().c_str());

  const auto fused = run(model.m, tenon::FusionPolicy::Direct);
  const auto found = run(model.m, tenon::FusionPolicy::Fusable);
  float apart = 0;
  for (size_t i = 0; i < fused.size(); ++i) {
    for (size_t j = 0; j < fused[i].size(); ++j)
      apart = std::max(apart, std::abs(fused[i][j] - found[i][j]));
  }
  std::printf("%zu values, fused at once or found again: %s\n", fused.size(),
              apart < 1e-4F ? "the same numbers" : "other numbers");
  return 0;
}
