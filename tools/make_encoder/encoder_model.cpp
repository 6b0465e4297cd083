// The encoder's structure, written once: a form decides only how an embedding, a norm, an attention
// and a feed-forward block look in ONNX.
#include "tools/make_encoder/encoder_model.h"

#include <cmath>
#include <memory>
#include <stdexcept>

#include "tools/make_encoder/encoder_forms.h"

namespace tenon::make_encoder {

std::optional<Form> parse_form(std::string_view text) {
  if (text == "decomposed") return Form::Decomposed;
  if (text == "opset17") return Form::Opset17;
  if (text == "fused") return Form::Fused;
  return std::nullopt;
}

namespace {

void check(const EncoderOptions& o) {
  const bool positive =
      o.layers >= 0 && o.hidden > 0 && o.heads > 0 && o.ffn > 0 && o.vocab > 0 && o.maxpos > 0;
  if (!positive || o.hidden % o.heads != 0) {
    throw std::invalid_argument("sizes must be positive and hidden a multiple of heads");
  }
  if (o.bf16 && o.form == Form::Fused) throw std::invalid_argument("the fused form is f32 only");
  const int64_t limit = int64_t{1} << 28;  // floats: a protobuf message ends at 2 GB
  const int64_t floats = (o.vocab + o.maxpos + 2) * o.hidden +
                         o.layers * (4 * o.hidden * o.hidden + 2 * o.hidden * o.ffn);
  if (o.hidden > 1 << 16 || o.ffn > 1 << 18 || o.vocab > 1 << 24 || o.maxpos > 1 << 20 ||
      o.layers > 1000 || floats > limit) {
    throw std::invalid_argument("the model is too large");
  }
}

}  // namespace

std::string encoder_model(const EncoderOptions& options) {
  check(options);
  const int64_t opset = options.form == Form::Opset17 ? 17 : 14;
  OnnxWriter w({{"", opset}, {"com.microsoft", 1}});
  for (const char* name : {"input_ids", "attention_mask", "token_type_ids"}) {
    w.input(name, kInt64, {"batch", "seq"});
  }
  if (options.bf16) w.use_floats_of(kBfloat16);
  if (options.bf16_weights) w.use_short_floats();
  std::unique_ptr<EncoderForm> form = make_form(w, options);
  std::string x = form->embed();
  for (int64_t layer = 0; layer < options.layers; ++layer) {
    x = form->layer(x, "layer" + std::to_string(layer) + ".");
  }
  w.raw_node("out", "Identity", {x}, {"last_hidden_state"});
  w.output("last_hidden_state", w.float_type(), {"batch", "seq", options.hidden});
  return w.finish();
}

}  // namespace tenon::make_encoder
