// Models of one node, run by the interpreter: for tests of single importers.
#pragma once

#include "base/error.h"
#include "tests/import/model_helpers.h"

namespace tenon::onnx {

using Ints = std::vector<int64_t>;
using Floats = std::vector<float>;
using Names = std::vector<std::string>;
using Attributes = std::vector<make_encoder::Attribute>;
using Inputs = std::map<std::string, graph::Tensor>;

inline graph::Tensor f32(Ints shape, const Floats& values) {
  return tensor<float>(DType::F32, std::move(shape), values);
}

// A model of one node; each input has the type of its tensor.
struct Node {
  std::string op, domain;
  int64_t opset;
  Names inputs;
  Attributes attributes = {};
  Names outputs = {"y"};

  graph::Graph import(const Inputs& given, const ImportOptions& options = {}) const {
    OnnxWriter w({{"", opset}, {"com.microsoft", 1}});
    for (const auto& [name, t] : given) {
      std::vector<make_encoder::Dimension> dims(t.shape.begin(), t.shape.end());
      w.input(name, info(t.dtype).onnx, dims);
    }
    w.raw_node("n", op, inputs, outputs, attributes, domain);
    for (const std::string& output : outputs) {
      if (!output.empty()) w.untyped_output(output);
    }
    return import_writer(w, options);
  }
  std::vector<graph::Tensor> run(const Inputs& given) const {
    return graph::interpret(import(given), given);
  }
  Floats operator()(const Inputs& given) const { return values<float>(run(given)[0]); }
};

}  // namespace tenon::onnx
