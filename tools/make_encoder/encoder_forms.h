// The forms of the encoder. The base class owns the weights, so that all forms draw the same ones
// by name.
#pragma once

#include <memory>
#include <string>
#include <vector>

#include "tools/make_encoder/encoder_model.h"
#include "tools/make_encoder/onnx_writer.h"
#include "tools/make_encoder/weights.h"

namespace tenon::make_encoder {

class EncoderForm {
 public:
  EncoderForm(OnnxWriter& writer, const EncoderOptions& options) : w(writer), o(options) {}
  virtual ~EncoderForm() = default;

  virtual std::string embed() = 0;  // the first norm's output
  virtual std::string layer(const std::string& x,
                            const std::string& prefix) = 0;  // one encoder block

 protected:
  std::vector<float> matrix(const std::string& name, int64_t rows, int64_t columns) const;
  std::string weight(const std::string& name, int64_t rows, int64_t columns);
  std::string bias(const std::string& name, int64_t n);
  std::string norm_scale(const std::string& name);
  std::string norm_shift(const std::string& name);
  std::string table(const std::string& name, int64_t rows);  // an embedding

  OnnxWriter& w;
  const EncoderOptions& o;
};

std::unique_ptr<EncoderForm> make_form(OnnxWriter& writer, const EncoderOptions& options);
std::unique_ptr<EncoderForm> make_exported_form(OnnxWriter& writer, const EncoderOptions& options);
std::unique_ptr<EncoderForm> make_fused_form(OnnxWriter& writer, const EncoderOptions& options);

}  // namespace tenon::make_encoder
