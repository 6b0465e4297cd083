// The ops of ops/control.def, for every_op.h.
#pragma once

#include <vector>

#include "graph/graph.h"

namespace tenon::graph {

// x * 2 or x - 1: both bodies see x as their input.
inline Value branch_of(Graph& g, Value condition, Value x) {
  const auto body = [&](Op op, double by) {
    Graph inner = g.nested();
    const Value in = inner.input("in0", x.type());
    inner.set_outputs({{"out0", inner.binary(op, in, inner.scalar(x.dtype(), by))}});
    return Subgraph(std::move(inner));
  };
  return g.apply(
      Op::If, {condition, x, x},
      {{"then", body(Op::Mul, 2)}, {"else", body(Op::Sub, 1)}, {"extents", x.shape().dims()}});
}

// A vector that doubles its length each time, and its first element before each time.
inline std::vector<Value> doubling_loop(Graph& g, Value trips, Value condition, Value start) {
  Graph inner = g.nested();
  inner.input("in0", {{}, DType::I64});
  const Value go = inner.input("in1", {{}, DType::Bool});
  const Dim length = inner.fresh_symbol("length", {0, kDimInf});
  const Value x = inner.input("in2", {{length}, start.dtype()});
  const Value first = inner.gather(x, inner.dims({0}, true), 0);
  inner.set_outputs({{"out0", go}, {"out1", inner.concat({x, x}, 0)}, {"out2", first}});
  const Dim grown = g.fresh_symbol("grown", {0, kDimInf});
  const Dim count = g.fresh_symbol("count", {0, kDimInf});
  return g.apply_all(Op::Loop, {trips, condition, start},
                     {{"body", Subgraph(std::move(inner))},
                      {"carried", int64_t{1}},
                      {"extents", std::vector<Dim>{grown, count}}});
}

inline void add_control_ops(Graph& g, std::vector<Output>& outputs) {
  const Value flag = g.input("control.flag", {{}, DType::Bool});
  const Value trips = g.input("control.trips", {{}, DType::I64});
  const Value x = g.input("control.x", {{3}, DType::F32});
  outputs.push_back({"control.if", branch_of(g, flag, x)});
  outputs.push_back({"control.loop", doubling_loop(g, trips, flag, x)[0]});
}

}  // namespace tenon::graph
