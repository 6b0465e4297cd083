// A small encoder as a graph, and inputs that it takes.
#pragma once

#include <cmath>

#include "import/onnx/onnx.h"
#include "tests/lower/random_tensors.h"
#include "tools/make_encoder/encoder_model.h"

namespace tenon::graph_test {

inline graph::Graph encoder(int64_t layers) {
  auto model = std::make_shared<const std::string>(make_encoder::encoder_model(
      {.layers = layers, .hidden = 64, .heads = 4, .ffn = 128, .vocab = 9, .maxpos = 128}));
  return onnx::import_bytes(std::as_bytes(std::span(*model)), model, "encoder");
}

inline Tensors encoder_inputs(const graph::Graph& g, int64_t batch, int64_t seq) {
  Tensors inputs = random_tensors(g, {{"batch", batch}, {"seq", seq}});
  for (auto& [name, tensor] : inputs) {
    for (size_t at = 0; at < tensor.bytes.size(); at += 8) {
      int64_t& value = reinterpret_cast<int64_t&>(tensor.bytes[at]);
      value = name == "input_ids" ? std::abs(value) % 9 : name == "attention_mask" ? 1 : value & 1;
    }
  }
  return inputs;
}

}  // namespace tenon::graph_test
