// The encoder as ONNX Runtime's transformer optimizer leaves it: one node per embedding, attention
// and norm, q, k and v in one packed weight.
#include <algorithm>

#include "tools/make_encoder/encoder_forms.h"

namespace tenon::make_encoder {
namespace {

const std::string kMicrosoft = "com.microsoft";
const std::vector<Attribute> kEpsilon = {{"epsilon", 1e-12f}};

class FusedForm : public EncoderForm {
 public:
  using EncoderForm::EncoderForm;

  std::string embed() override {
    const std::string ids = as_int32("input_ids"), types = as_int32("token_type_ids");
    const std::string mask = as_int32("attention_mask");
    const std::vector<std::string> outputs = w.nodes(
        "EmbedLayerNormalization",
        {ids, types, table("word_embeddings", o.vocab), table("position_embeddings", o.maxpos),
         table("token_type_embeddings", 2), norm_scale("emb_ln"), norm_shift("emb_ln"), mask},
        2, kEpsilon, kMicrosoft);
    mask_index_ = outputs[1];
    return outputs[0];
  }

  std::string layer(const std::string& x, const std::string& p) override {
    const std::string attended =
        w.node("Attention", {x, packed_weight(p), packed_bias(p), mask_index_},
               {{"num_heads", o.heads}}, kMicrosoft);
    const std::string y = add_norm(attended, x, p + "o", o.hidden, p + "ln1");
    const std::string inner = w.node("MatMul", {y, weight(p + "ffn1", o.hidden, o.ffn)});
    const std::string active = w.node("BiasGelu", {inner, bias(p + "ffn1", o.ffn)}, {}, kMicrosoft);
    return add_norm(active, y, p + "ffn2", o.ffn, p + "ln2");
  }

 private:
  std::string as_int32(const std::string& name) {
    return w.node("Cast", {name}, {{"to", int64_t{kInt32}}});
  }

  // norm(x @ weight + bias + residual)
  std::string add_norm(const std::string& x, const std::string& residual, const std::string& linear,
                       int64_t rows, const std::string& norm) {
    const std::string product = w.node("MatMul", {x, weight(linear, rows, o.hidden)});
    return w.node("SkipLayerNormalization",
                  {product, residual, norm_scale(norm), norm_shift(norm), bias(linear, o.hidden)},
                  kEpsilon, kMicrosoft);
  }

  std::string packed_weight(const std::string& p) {
    std::vector<float> packed(static_cast<size_t>(o.hidden * o.hidden * 3));
    const std::string parts[] = {"q", "k", "v"};
    for (int64_t part = 0; part < 3; ++part) {
      const std::vector<float> one = matrix(p + parts[part] + ".weight", o.hidden, o.hidden);
      for (int64_t row = 0; row < o.hidden; ++row) {
        std::copy_n(one.begin() + row * o.hidden, o.hidden,
                    packed.begin() + (row * 3 + part) * o.hidden);
      }
    }
    return w.floats(p + "qkv.weight", {o.hidden, 3 * o.hidden}, packed);
  }

  std::string packed_bias(const std::string& p) {
    std::vector<float> packed;
    for (const char* part : {"q", "k", "v"}) {
      const std::vector<float> one =
          WeightStream(o.seed, p + part + ".bias").values(o.hidden, 0.02f);
      packed.insert(packed.end(), one.begin(), one.end());
    }
    return w.floats(p + "qkv.bias", {3 * o.hidden}, packed);
  }

  std::string mask_index_;
};

}  // namespace

std::unique_ptr<EncoderForm> make_fused_form(OnnxWriter& writer, const EncoderOptions& options) {
  return std::make_unique<FusedForm>(writer, options);
}

}  // namespace tenon::make_encoder
