// The ops of graph/ops/index.def, for the graph in which every op occurs.
#pragma once

#include <vector>

#include "graph/graph.h"

namespace tenon::graph {

inline void add_index_ops(Graph& g, std::vector<Output>& outputs) {
  const auto name = [&] { return "index" + std::to_string(outputs.size()); };
  const auto add = [&](Op op, std::vector<Value> operands, Attributes attributes) {
    for (const Value& result : g.apply_all(op, std::move(operands), std::move(attributes))) {
      outputs.push_back({name(), result});
    }
  };
  const auto fresh = [&](int count) {
    std::vector<Dim> dims;
    for (int i = 0; i < count; ++i) dims.emplace_back(g.fresh_symbol("step", {0, kDimInf}));
    return dims;
  };
  const std::string none = "none", constant = "constant", shape = "shape";
  const Value x = g.input("matrix", {{4, 6}, DType::F32});
  const Value two = g.input("two", {{2}, DType::I64}), four = g.input("four", {{4}, DType::I64});
  const Value places = g.input("places", {{4, 2}, DType::I64});
  const Value one = g.input("one", {{}, DType::I64}), some = g.input("some", {{}, DType::F32});
  const auto plus = [&](Value value, std::vector<int64_t> more) {  // the inputs hold 0, 1, 0, 1
    const bool scalar = value.shape().rank() == 0;
    return g.add(value, g.dims({more.begin(), more.end()}, scalar));
  };
  add(Op::Split, {x, plus(two, {2, 3})}, {{"axis", int64_t{1}}, {"extents", fresh(2)}});
  add(Op::Define, {two}, {{"symbols", fresh(2)}});
  add(Op::ReshapeTo, {x, plus(two, {4, 5})}, {{"mode", shape}, {"shape", fresh(2)}});
  add(Op::ExpandTo, {x, plus(four, {2, 1, 4, 5})}, {{"shape", fresh(4)}});
  add(Op::SliceTo, {x, two, plus(two, {2, 3}), two, plus(two, {1, 0})}, {{"shape", fresh(2)}});
  add(Op::Pad, {x, four, two, some}, {{"mode", constant}, {"shape", fresh(2)}});
  add(Op::Range, {one, plus(one, {3}), plus(one, {1})}, {{"shape", fresh(1)}});
  add(Op::GatherElements, {x, places}, {{"axis", int64_t{0}}});
  add(Op::GatherND, {x, places}, {{"batch_dims", int64_t{0}}});
  add(Op::ScatterElements, {x, places, g.input("update", {{4, 2}, DType::F32})},
      {{"axis", int64_t{1}}, {"reduction", none}});
  add(Op::ScatterND, {x, places, g.input("points", {{4}, DType::F32})}, {{"reduction", none}});
  add(Op::NonZero, {x}, {{"count", fresh(1)}});
  add(Op::TopK, {x, plus(one, {2})},
      {{"axis", int64_t{1}}, {"largest", int64_t{1}}, {"count", fresh(1)}});
  add(Op::Unique, {x}, {{"axis", int64_t{0}}, {"sorted", int64_t{1}}, {"count", fresh(1)}});
  add(Op::NonMaxSuppression,
      {g.input("boxes", {{1, 5, 4}, DType::F32}), g.input("scores", {{1, 2, 5}, DType::F32}),
       plus(one, {3}), some, some},
      {{"center", int64_t{0}}, {"count", fresh(1)}});
  add(Op::CountGrams, {places},
      {{"pool", std::vector<int64_t>{5, 6, 7}},
       {"lengths", std::vector<int64_t>{1, 2}},
       {"places", std::vector<int64_t>{1, 0}},
       {"skips", int64_t{1}},
       {"size", int64_t{2}}});
  const Value counted = g.apply(Op::NonZero, {four}, {{"count", fresh(1)}});
  outputs.push_back({name(), g.shape_of(counted)});  // names a symbol, and uses no result of it
}

}  // namespace tenon::graph
