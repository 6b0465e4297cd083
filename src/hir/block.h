// The blocks of a module, as plain data: a struct each, with a name and its fields in the order in
// which they are printed. Fields are what everything that treats blocks alike goes by: printing,
// errors, and the check that operands belong to the module.
#pragma once

#include <string>
#include <string_view>
#include <variant>
#include <vector>

#include "graph/graph.h"
#include "tenon/hir_options.h"

namespace tenon::hir {

struct Optional {  // an operand that may be left out
  const HirValue& value;
};

struct Input {
  static constexpr std::string_view kName = "input";
  std::string name;
  TensorType type;
  void fields(auto&& see) const { see("name", name), see("type", type); }
};

struct State {
  static constexpr std::string_view kName = "state";
  std::string name;
  TensorType type;
  StateOptions options;
  void fields(auto&& see) const {
    see("name", name), see("type", type);
    see("axis", options.axis), see("capacity", options.capacity);
  }
};

struct Param {
  static constexpr std::string_view kName = "param";
  std::string name;
  TensorType type;
  graph::Data data;  // none: set on the compiled graph
  void fields(auto&& see) const { see("name", name), see("type", type); }
};

struct Constant {
  static constexpr std::string_view kName = "constant";
  TensorType type;
  graph::Data data;
  void fields(auto&& see) const { see("type", type); }
};

// Any op of the tensor IR.
struct TensorOp {
  static constexpr std::string_view kName = "op";
  graph::Op op;
  std::vector<HirValue> operands;
  graph::Attributes attributes;
  void fields(auto&& see) const {
    see("name", std::string(info(op).text));
    for (const HirValue& operand : operands) see("", Optional{operand});
    for (const auto& [name, value] : attributes.items()) see(name, value);
  }
};

struct Linear {
  static constexpr std::string_view kName = "linear";
  HirValue x, w;
  LinearOptions options;
  void fields(auto&& see) const {
    see("x", x), see("w", w), see("bias", Optional{options.bias}),
        see("residual", Optional{options.residual});
    see("activation", options.activation);
  }
};

struct SharedLinears {
  static constexpr std::string_view kName = "shared_linears";
  HirValue x;
  std::vector<LinearWeights> linears;
  ActivationKind activation;
  void fields(auto&& see) const {
    see("x", x);
    for (const LinearWeights& linear : linears)
      see("w", linear.w), see("bias", Optional{linear.bias});
    see("activation", activation);
  }
};

struct DequantizingLinear {
  static constexpr std::string_view kName = "dequantizing_linear";
  HirValue x;
  QuantizedWeight w;
  LinearOptions options;
  void fields(auto&& see) const {
    see("x", x), see("values", w.values), see("scales", w.scales);
    see("zero_points", Optional{w.zero_points}), see("block", w.block);
    see("bias", Optional{options.bias}), see("residual", Optional{options.residual});
    see("activation", options.activation);
  }
};

struct SwiGlu {
  static constexpr std::string_view kName = "swiglu";
  HirValue x;
  SwiGluWeights weights;
  SwiGluOptions options;
  void fields(auto&& see) const {
    see("x", x), see("gate", weights.gate), see("up", weights.up), see("down", weights.down);
    see("residual", Optional{options.residual}), see("activation", options.activation);
  }
};

struct Moe {
  static constexpr std::string_view kName = "moe";
  HirValue x;
  MoeWeights weights;
  MoeOptions options;
  void fields(auto&& see) const {
    see("x", x), see("router", weights.router);
    see("gate", weights.gate), see("up", weights.up), see("down", weights.down);
    see("top_k", options.top_k), see("renormalize", options.renormalize);
    see("activation", options.activation);
  }
};

struct RmsNorm {
  static constexpr std::string_view kName = "rms_norm";
  HirValue x, residual, scale;  // a residual is added first; the sum is the second result
  double epsilon;
  void fields(auto&& see) const {
    see("x", x), see("residual", Optional{residual}), see("scale", scale), see("epsilon", epsilon);
  }
};

struct LayerNorm {
  static constexpr std::string_view kName = "layer_norm";
  HirValue x, residual, scale, bias;
  double epsilon;
  void fields(auto&& see) const {
    see("x", x), see("residual", Optional{residual}), see("scale", scale), see("bias", bias);
    see("epsilon", epsilon);
  }
};

void fields_of(const AttentionOptions& options, auto&& see) {
  see("heads", options.heads), see("kv_heads", options.kv_heads);
  see("head_dim", options.head_dim), see("scale", options.scale);
  see("softcap", options.softcap), see("causal", options.causal);
  see("window", options.window), see("mask", Optional{options.mask}),
      see("attention_bias", Optional{options.bias});
  see("key_cache", Optional{options.cache.keys}),
      see("value_cache", Optional{options.cache.values});
}

void fields_of(const RotaryOptions& options, auto&& see) {
  see("dim", options.dim), see("interleaved", options.interleaved), see("theta", options.theta);
  see("positions", Optional{options.positions}), see("cos", Optional{options.cos}),
      see("sin", Optional{options.sin});
}

struct Attention {
  static constexpr std::string_view kName = "attention";
  HirValue q, k, v;
  AttentionOptions options;
  void fields(auto&& see) const {
    see("q", q), see("k", k), see("v", v);
    fields_of(options, see);
  }
};

struct Rotary {
  static constexpr std::string_view kName = "rotary";
  HirValue x;
  RotaryOptions options;
  void fields(auto&& see) const {
    see("x", x), see("heads", options.heads);
    fields_of(options, see);
  }
};

struct EncoderBlock {
  static constexpr std::string_view kName = "encoder_block";
  HirValue x;
  EncoderWeights weights;
  EncoderOptions options;
  void fields(auto&& see) const {
    see("x", x), see("q", weights.q.w), see("q_bias", Optional{weights.q.bias});
    see("k", weights.k.w), see("k_bias", Optional{weights.k.bias});
    see("v", weights.v.w), see("v_bias", Optional{weights.v.bias});
    see("output", weights.output.w), see("output_bias", Optional{weights.output.bias});
    see("norm1_scale", weights.norm1_scale), see("norm1_bias", weights.norm1_bias);
    see("ffn_in", weights.ffn_in.w), see("ffn_in_bias", Optional{weights.ffn_in.bias});
    see("ffn_out", weights.ffn_out.w), see("ffn_out_bias", Optional{weights.ffn_out.bias});
    see("norm2_scale", weights.norm2_scale), see("norm2_bias", weights.norm2_bias);
    fields_of(options.attention, see);
    see("activation", options.activation), see("pre_norm", options.pre_norm);
    see("epsilon", options.epsilon);
  }
};

struct DecoderBlock {
  static constexpr std::string_view kName = "decoder_block";
  HirValue x;
  DecoderWeights weights;
  DecoderOptions options;
  void fields(auto&& see) const {
    see("x", x), see("attention_norm", weights.attention_norm);
    see("q", weights.q.w), see("q_bias", Optional{weights.q.bias});
    see("k", weights.k.w), see("k_bias", Optional{weights.k.bias});
    see("v", weights.v.w), see("v_bias", Optional{weights.v.bias});
    see("output", weights.output.w), see("output_bias", Optional{weights.output.bias});
    see("ffn_norm", weights.ffn_norm), see("gate", weights.ffn.gate);
    see("up", weights.ffn.up), see("down", weights.ffn.down);
    fields_of(options.attention, see);
    fields_of(options.rotary, see);
    see("activation", options.activation), see("epsilon", options.epsilon);
  }
};

using Block =
    std::variant<Input, State, Param, Constant, TensorOp, Linear, SharedLinears, DequantizingLinear,
                 SwiGlu, Moe, RmsNorm, LayerNorm, Attention, Rotary, EncoderBlock, DecoderBlock>;

inline std::string_view name_of(const Block& block) {
  return std::visit([](const auto& each) { return each.kName; }, block);
}

}  // namespace tenon::hir
