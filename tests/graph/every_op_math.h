// The ops of ops/math.def and ops/quantize.def, for every_op.h; its loop has the unary ones.
#pragma once

#include <string>
#include <vector>

#include "graph/graph.h"

namespace tenon::graph {

inline void add_math_ops(Graph& g, std::vector<Output>& outputs) {
  const auto add = [&](const Value& value) {
    outputs.push_back({"math" + std::to_string(outputs.size()), value});
  };
  const Value x = g.input("math_x", {{2, 3, 3}, DType::F32});
  const Value i = g.input("math_i", {{2, 3}, DType::I32});
  const Value axis = g.input("math_axis", {{1}, DType::I64});
  for (const Op op :
       {Op::Mod, Op::Remainder, Op::BitAnd, Op::BitOr, Op::BitXor, Op::ShiftLeft, Op::ShiftRight}) {
    add(g.binary(op, i, g.scalar(DType::I32, 3)));
  }
  add(g.reduce(Op::ReduceProd, x, {1}));
  const Dim extent = g.fresh_symbol("reduced", {0, kDimInf});
  add(g.apply(Op::ReduceOver, {i, axis},
              {{"op", "reduce_max"}, {"shape", std::vector<Dim>{extent}}, {"keep", int64_t{0}}}));
  add(g.apply(Op::ArgMax, {x}, {{"axis", int64_t{-1}}}));
  add(g.apply(Op::ArgMin, {x}, {{"axis", int64_t{0}}, {"last", int64_t{1}}}));
  add(g.apply(Op::CumSum, {x}, {{"axis", int64_t{1}}, {"exclusive", int64_t{1}}}));
  add(g.apply(Op::CumProd, {x, axis}, {{"reverse", int64_t{1}}}));
  add(g.apply(Op::Det, {x}));
  add(g.apply(Op::BitCast, {x}, {{"dtype", DType::I32}}));
  const Value narrow = g.apply(
      Op::Cast, {x}, {{"dtype", DType::F8E8M0}, {"saturate", int64_t{0}}, {"rounding", "nearest"}});
  add(g.transpose(narrow, {2, 1, 0}));
  const std::vector<Dim> shape{2, 4};
  add(g.apply(Op::RandomUniform, {},
              {{"shape", shape},
               {"dtype", DType::F32},
               {"low", -1.0},
               {"high", 1.0},
               {"seed", int64_t{7}},
               {"token", "u"}}));
  add(g.apply(Op::RandomNormal, {},
              {{"shape", shape},
               {"dtype", DType::F16},
               {"mean", 0.5},
               {"scale", 2.0},
               {"seed", int64_t{7}},
               {"token", "n"}}));
}

}  // namespace tenon::graph
