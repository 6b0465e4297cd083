// The encoder as torch.onnx writes it. Opset 14: norms from primitives, constant reshape targets,
// mask as (1 - mask) * -10000. Opset 17: LayerNormalization, reshape targets from Shape / Gather /
// Unsqueeze / Concat, and the mask expanded to [batch, 1, seq, seq] and filled through Where, with
// torch's guard against -1 in the target.
#include <cmath>
#include <limits>
#include <numeric>

#include "tools/make_encoder/encoder_forms.h"

namespace tenon::make_encoder {
namespace {

class ExportedForm : public EncoderForm {
 public:
  using EncoderForm::EncoderForm;

  std::string embed() override {
    mask_ = modern() ? expanded_mask() : additive_mask();
    const std::string words = w.node("Gather", {table("word_embeddings", o.vocab), "input_ids"});
    const std::string types =
        w.node("Gather", {table("token_type_embeddings", 2), "token_type_ids"});
    std::vector<int64_t> positions(static_cast<size_t>(o.maxpos));
    std::iota(positions.begin(), positions.end(), 0);
    const std::string ids = w.int64s("position_ids", {1, o.maxpos}, positions);
    const std::string slice = w.node(
        "Slice", {ids, w.int64s("start", {0}), extent("input_ids", 1), w.int64s("axis1", {1})});
    const std::string table_rows =
        w.node("Gather", {table("position_embeddings", o.maxpos), slice});
    return norm(w.node("Add", {w.node("Add", {words, types}), table_rows}), "emb_ln");
  }

  std::string layer(const std::string& x, const std::string& p) override {
    const std::string q = heads_of(linear(x, p + "q", o.hidden, o.hidden), {0, 2, 1, 3});
    const std::string k = heads_of(linear(x, p + "k", o.hidden, o.hidden), {0, 2, 3, 1});
    const std::string v = heads_of(linear(x, p + "v", o.hidden, o.hidden), {0, 2, 1, 3});
    const int64_t head_dim = o.hidden / o.heads;
    const float root = std::sqrt(static_cast<float>(head_dim));
    const std::string scores = w.node("Div", {w.node("MatMul", {q, k}), w.scalar("root", root)});
    const std::string weights =
        w.node("Softmax", {w.node("Add", {scores, mask_})}, {{"axis", int64_t{-1}}});
    const std::string context =
        w.node("Transpose", {w.node("MatMul", {weights, v})}, {{"perm", Perm{0, 2, 1, 3}}});
    const std::string merged = w.node("Reshape", {context, merged_shape(context)});
    const std::string y =
        norm(w.node("Add", {linear(merged, p + "o", o.hidden, o.hidden), x}), p + "ln1");
    const std::string inner = gelu(linear(y, p + "ffn1", o.hidden, o.ffn));
    return norm(w.node("Add", {linear(inner, p + "ffn2", o.ffn, o.hidden), y}), p + "ln2");
  }

 private:
  using Perm = std::vector<int64_t>;
  bool modern() const { return o.form == Form::Opset17; }

  std::string linear(const std::string& x, const std::string& name, int64_t rows, int64_t columns) {
    const std::string shift = bias(name, columns);
    return w.node("Add", {shift, w.node("MatMul", {x, weight(name, rows, columns)})});
  }

  std::string norm(const std::string& x, const std::string& name) {
    const std::string scale = norm_scale(name), shift = norm_shift(name);
    if (modern()) {
      return w.node("LayerNormalization", {x, scale, shift},
                    {{"axis", int64_t{-1}}, {"epsilon", 1e-12f}});
    }
    const std::vector<Attribute> last = {{"axes", std::vector<int64_t>{-1}}};
    const std::string centred = w.node("Sub", {x, w.node("ReduceMean", {x}, last)});
    const std::string squares = w.node("Pow", {centred, w.scalar("two", 2.0f)});
    const std::string variance = w.node("ReduceMean", {squares}, last);
    const std::string root =
        w.node("Sqrt", {w.node("Add", {variance, w.scalar("epsilon", 1e-12f)})});
    return w.node("Add", {w.node("Mul", {w.node("Div", {centred, root}), scale}), shift});
  }

  std::string gelu(const std::string& x) {
    const std::string root = w.scalar("sqrt2", std::sqrt(2.0f));
    const std::string e = w.node("Add", {w.node("Erf", {w.node("Div", {x, root})}), one()});
    return w.node("Mul", {w.node("Mul", {x, e}), w.scalar("half", 0.5f)});
  }

  std::string one() { return w.scalar("one", 1.0f); }

  // One extent of a tensor as an i64 vector of one element.
  std::string extent(const std::string& x, int64_t axis) {
    const std::string index = w.int64s("index" + std::to_string(axis), {}, {axis});
    const std::string scalar = w.node("Gather", {w.node("Shape", {x}), index});
    return w.node("Unsqueeze", {scalar, w.int64s("axis0", {0})});
  }

  std::string concat(const std::vector<std::string>& parts) {
    return w.node("Concat", parts, {{"axis", int64_t{0}}});
  }

  std::string heads_of(const std::string& x, const Perm& perm) {
    const int64_t width = o.hidden / o.heads;
    std::string shape;
    if (modern()) {
      shape = concat(
          {extent(x, 0), extent(x, 1), w.int64s("heads", {o.heads}), w.int64s("width", {width})});
    } else {
      shape = w.int64s("split_heads", {0, 0, o.heads, width});
    }
    return w.node("Transpose", {w.node("Reshape", {x, shape})}, {{"perm", perm}});
  }

  std::string merged_shape(const std::string& context) {
    if (!modern()) return w.int64s("merge_heads", {0, 0, o.hidden});
    return concat({extent(context, 0), extent(context, 1), w.int64s("hidden", {o.hidden})});
  }

  std::string mask_4d() {
    const std::string rows = w.node("Unsqueeze", {"attention_mask", w.int64s("axis1", {1})});
    return w.node("Unsqueeze", {rows, w.int64s("axis2", {2})});
  }

  std::string additive_mask() {
    const std::string mask = w.node("Cast", {mask_4d()}, {{"to", int64_t{w.float_type()}}});
    return w.node("Mul", {w.node("Sub", {one(), mask}), w.scalar("filter", -10000.0f)});
  }

  // mask.expand(batch, 1, seq, seq): torch replaces every -1 of the target by 1 before it expands.
  std::string expanded_mask() {
    const std::string batch = extent("input_ids", 0), seq = extent("input_ids", 1);
    const std::string target = concat({batch, w.int64s("unit", {1}), seq, seq});
    const std::string ones =
        w.node("ConstantOfShape", {w.node("Shape", {target})}, {{"value", Int64Vector{{1}}}});
    const std::string minus = w.node("Mul", {ones, w.int64s("minus_one", {}, {-1})});
    const std::string guarded = w.node("Where", {w.node("Equal", {target, minus}), ones, target});
    const std::string mask =
        w.node("Cast", {w.node("Expand", {mask_4d(), guarded})}, {{"to", int64_t{w.float_type()}}});
    const std::string inverted = w.node("Sub", {one(), mask});
    const std::string masked = w.node("Cast", {inverted}, {{"to", int64_t{kBool}}});
    const float lowest = std::numeric_limits<float>::lowest();
    return w.node("Where", {masked, w.scalar("lowest", lowest), inverted});
  }

  std::string mask_;
};

}  // namespace

std::unique_ptr<EncoderForm> make_exported_form(OnnxWriter& writer, const EncoderOptions& options) {
  return std::make_unique<ExportedForm>(writer, options);
}

}  // namespace tenon::make_encoder
