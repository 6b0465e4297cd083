// A BERT-like encoder as an ONNX model with random weights, in the forms that exporters write: what
// tests and benchmarks run on a machine that has no model to download.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>

namespace tenon::make_encoder {

// Inputs input_ids, attention_mask, token_type_ids: i64[batch, seq]; output last_hidden_state:
// f32[batch, seq, hidden] (or bf16).
enum class Form {
  Decomposed,  // torch.onnx, opset 14: LayerNorm and Gelu as primitives, constant reshape targets
  Opset17,     // newer exports: LayerNormalization; reshape targets and mask computed from Shape
  Fused,       // ONNX Runtime's transformer optimizer: com.microsoft ops
};
std::optional<Form> parse_form(std::string_view text);  // decomposed, opset17, fused

struct EncoderOptions {
  int64_t layers = 6, hidden = 384, heads = 12, ffn = 1536, vocab = 30522, maxpos = 512;
  uint64_t seed = 0;
  Form form = Form::Decomposed;
  bool bf16 = false;          // weights and everything computed are bf16, not f32
  bool bf16_weights = false;  // weights are f32, but numbers that bf16 has
};

// The model's bytes. All forms of the same options have the same weights. Throws
// std::invalid_argument.
std::string encoder_model(const EncoderOptions& options);

}  // namespace tenon::make_encoder
