// A graph in which each op of the table occurs, for tests that must cover all of them.
#pragma once

#include "graph/graph.h"
#include "tests/graph/every_op_control.h"
#include "tests/graph/every_op_index.h"
#include "tests/graph/every_op_math.h"
#include "tests/graph/every_op_spatial.h"
#include "tests/graph/every_op_transformer.h"

namespace tenon::graph {

inline Graph every_op() {
  Graph g;
  const Dim batch = sym::batch(), seq = sym::seq();
  const Value x = g.input("x", {{batch, seq, 8}, DType::F32});
  const Value flags = g.input("flags", {{batch, 1, 8}, DType::Bool});
  const Value ids = g.input("ids", {{batch, seq}, DType::I64});
  const Value w = g.param("w", {{8, 8}, DType::F32});
  const Value v = g.param("v", {{8}, DType::F32});
  Value y = x;
  for (int i = 0; i < kOpCount; ++i) {
    const Op op = static_cast<Op>(i);
    if (!has(op, kElementwise) || info(op).most != 1 || op == Op::Cast || op == Op::Not) continue;
    y = g.unary(op, y);
  }
  for (const Op op : {Op::Add, Op::Sub, Op::Mul, Op::Div, Op::Pow, Op::Min, Op::Max}) {
    y = g.binary(op, y, op == Op::Pow ? g.scalar(DType::F32, 2) : v);
  }
  Value c = flags;
  for (const Op op : {Op::Equal, Op::Less, Op::LessEqual}) {
    c = g.binary(op == Op::Less ? Op::And : Op::Or, g.unary(Op::Not, c), g.binary(op, x, y));
  }
  y = g.apply(Op::Where, {c, x, y});
  y = g.layer_norm(g.linear(y, w, v, x, Activation::GeluTanh), v, v, 1e-5);
  y = g.attention(y, y, y,
                  {.heads = 2, .head_dim = 4, .mask = g.input("mask", {{1, seq}, DType::F32})});
  y = g.transpose(g.softmax(g.matmul(y, w), -1), {0, 2, 1});
  const std::vector<Value> parts = g.split(y, 1, {3, 5});
  y = g.concat({parts[1], g.slice(parts[0], {0, 2, 0}, {batch, 3, seq}, {1, -1, 1})}, 1);
  y = g.reshape(g.expand(g.reduce(Op::ReduceSum, y, {1}), {batch, 2, seq}), {batch, seq * 2});
  for (const Op op : {Op::ReduceMean, Op::ReduceMax, Op::ReduceMin})
    y = g.add(y, g.reduce(op, y, {1}));
  const Value rows = g.gather(w, ids, 0);
  const Value shape = g.mul(g.shape_of(x), g.integers({1, 2, 3}));
  std::vector<Output> outputs = {{"y", y},
                                 {"rows", rows},
                                 {"shape", shape},
                                 {"cast", g.cast(ids, DType::BF16)},
                                 {"count", g.dims({batch * seq}, true)}};
  add_math_ops(g, outputs);
  add_index_ops(g, outputs);
  add_spatial_ops(g, outputs);
  add_control_ops(g, outputs);
  add_transformer_ops(g, outputs);
  g.set_outputs(std::move(outputs));
  return g;
}

}  // namespace tenon::graph
