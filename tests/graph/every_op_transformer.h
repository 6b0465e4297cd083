// The ops of graph/ops/transformer.def and state.def, for every_op.h.
#pragma once

#include "graph/graph.h"

namespace tenon::graph {

inline void add_transformer_ops(Graph& g, std::vector<Output>& outputs) {
  const Dim batch = sym::batch(), seq = sym::seq();
  const auto input = [&](const char* name, Shape shape) {
    return g.input(name, {std::move(shape), DType::F32});
  };
  const Value h = input("h", {batch, seq, 8}), angles = input("angles", {seq, 2});
  const Value w = g.param("gate", {{8, 6}, DType::F32});
  outputs.push_back({"rms", g.rms_norm(h, g.param("rms_scale", {{8}, DType::F32}), 1e-6)});
  outputs.push_back({"rotated", g.rotary(h, angles, angles, {.heads = 2, .interleaved = true})});
  outputs.push_back({"gated", g.gated_linear(h, w, w, Activation::Silu)});
  const std::vector<Value> attended =
      g.apply_all(Op::LinearAttention,
                  {input("query", {batch, 4, seq, 3}), input("key", {batch, 2, seq, 3}),
                   input("value", {batch, 2, seq, 5}), input("state", {batch, 2, 3, 5}),
                   input("decay", {batch, 2, seq, 3}), input("rate", {batch, 2, seq, 1})},
                  {{"delta", int64_t{1}}});
  outputs.push_back({"attended", attended[0]});
  outputs.push_back({"last_state", attended[1]});
  const Value cache =
      g.state("cache", {{batch, sym::past(), 8}, DType::F32}, {.axis = 1, .capacity = 16});
  outputs.push_back({"cache", g.update(cache, h, sym::past())});
}

}  // namespace tenon::graph
