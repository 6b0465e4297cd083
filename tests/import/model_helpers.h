// What the tests of the importer share: models built in memory, imported under a name, and
// interpreted.
#pragma once

#include <algorithm>
#include <map>
#include <memory>
#include <span>
#include <string>
#include <vector>

#include "graph/interpret.h"
#include "import/onnx/onnx.h"
#include "tools/make_encoder/encoder_model.h"
#include "tools/make_encoder/onnx_writer.h"

namespace tenon::onnx {

using make_encoder::EncoderOptions;
using make_encoder::Form;
using make_encoder::kBool;
using make_encoder::kFloat;
using make_encoder::kInt32;
using make_encoder::kInt64;
using make_encoder::OnnxWriter;

inline graph::Graph import_text(const std::string& bytes, const ImportOptions& options = {}) {
  auto owner = std::make_shared<std::string>(bytes);
  return import_bytes(std::as_bytes(std::span(*owner)), owner, "test.onnx", options);
}

inline graph::Graph import_writer(const OnnxWriter& writer, const ImportOptions& options = {}) {
  return import_text(writer.finish(), options);
}

inline EncoderOptions small_encoder(Form form) {
  return {.layers = 2,
          .hidden = 64,
          .heads = 4,
          .ffn = 128,
          .vocab = 100,
          .maxpos = 32,
          .seed = 7,
          .form = form};
}

template <typename T>
graph::Tensor tensor(DType dtype, std::vector<int64_t> shape, const std::vector<T>& values) {
  const auto bytes = std::as_bytes(std::span(values));
  return {dtype, std::move(shape), {bytes.begin(), bytes.end()}};
}

template <typename T>
std::vector<T> values(const graph::Tensor& tensor) {
  std::vector<T> result(tensor.bytes.size() / sizeof(T));
  std::ranges::copy(tensor.bytes, std::as_writable_bytes(std::span(result)).begin());
  return result;
}

// One f32 input "x" through one node.
inline std::vector<float> run_unary(const OnnxWriter& writer, std::vector<int64_t> shape,
                                    const std::vector<float>& x) {
  const graph::Graph g = import_writer(writer);
  return values<float>(interpret(g, {{"x", tensor(DType::F32, std::move(shape), x)}})[0]);
}

}  // namespace tenon::onnx
