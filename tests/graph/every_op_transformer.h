// The ops of graph/ops/transformer.def, for every_op.h.
#pragma once

#include "graph/graph.h"

namespace tenon::graph {

inline void add_transformer_ops(Graph& g, std::vector<Output>& outputs) {
  const Dim batch = sym::batch(), seq = sym::seq();
  const auto input = [&](const char* name, Shape shape) {
    return g.input(name, {std::move(shape), DType::F32});
  };
  const std::vector<Value> attended =
      g.apply_all(Op::LinearAttention,
                  {input("query", {batch, 4, seq, 3}), input("key", {batch, 2, seq, 3}),
                   input("value", {batch, 2, seq, 5}), input("state", {batch, 2, 3, 5}),
                   input("decay", {batch, 2, seq, 3}), input("rate", {batch, 2, seq, 1})},
                  {{"delta", int64_t{1}}});
  outputs.push_back({"attended", attended[0]});
  outputs.push_back({"last_state", attended[1]});
}

}  // namespace tenon::graph
