// Weights of the encoder: matrices scaled by 1 / sqrt(rows), small biases, norms near one.
#include "tools/make_encoder/encoder_forms.h"

#include <cmath>

namespace tenon::make_encoder {

std::vector<float> EncoderForm::matrix(const std::string& name, int64_t rows,
                                       int64_t columns) const {
  const float scale = 1.0f / std::sqrt(static_cast<float>(rows));  // both exactly rounded (IEEE)
  return WeightStream(o.seed, name).values(rows * columns, scale);
}

std::string EncoderForm::weight(const std::string& name, int64_t rows, int64_t columns) {
  return w.floats(name + ".weight", {rows, columns}, matrix(name + ".weight", rows, columns));
}

std::string EncoderForm::bias(const std::string& name, int64_t n) {
  return w.floats(name + ".bias", {n}, WeightStream(o.seed, name + ".bias").values(n, 0.02f));
}

std::string EncoderForm::norm_scale(const std::string& name) {
  const WeightStream stream(o.seed, name + ".weight");
  return w.floats(name + ".weight", {o.hidden}, stream.values(o.hidden, 0.1f, 1.0f));
}

std::string EncoderForm::norm_shift(const std::string& name) {
  const WeightStream stream(o.seed, name + ".bias");
  return w.floats(name + ".bias", {o.hidden}, stream.values(o.hidden, 0.1f));
}

std::string EncoderForm::table(const std::string& name, int64_t rows) {
  return w.floats(name, {rows, o.hidden},
                  WeightStream(o.seed, name).values(rows * o.hidden, 0.02f));
}

std::unique_ptr<EncoderForm> make_form(OnnxWriter& writer, const EncoderOptions& options) {
  return options.form == Form::Fused ? make_fused_form(writer, options)
                                     : make_exported_form(writer, options);
}

}  // namespace tenon::make_encoder
