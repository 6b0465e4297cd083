// Graphs of index ops: lookups, pads, scatters, scans and sorts, alone and inside their consumers.
#pragma once

#include "tests/lower/graph_cases.h"

namespace tenon::graph_test {

inline Value pad_of(Graph& g, Value x, std::vector<Dim> pads, const std::string& mode,
                    std::vector<Dim> shape) {
  std::vector<int64_t> axes;
  for (int i = 0; i < x.shape().rank(); ++i) axes.push_back(i);
  return g.apply(Op::Pad, {x, g.dims(std::move(pads)), g.integers(axes), g.scalar(x.dtype(), 3)},
                 {{"mode", mode}, {"shape", std::move(shape)}});
}

inline std::vector<GraphCase> lookup_cases() {
  std::vector<GraphCase> cases = {
      {"range",
       [](Graph& g) {
         const auto count = [&](const Dim& n) {
           return g.apply(Op::Range, {g.dims({0}, true), g.dims({n}, true), g.dims({1}, true)},
                          {{"shape", std::vector<Dim>{n}}});
         };
         const Value x = in(g, "x", {kB, kS});
         const Value last = g.sub(g.dims({kS - 1}, true), count(kS));
         g.set_outputs({{"count", count(kS)},
                        {"shifted", g.add(x, g.cast(count(kS), DType::F32))},
                        {"reversed", g.gather(x, last, 1)}});
       }},
      {"gather_elements",
       [](Graph& g) {
         const Value x = in(g, "x", {kB, 9, kS}), ids = in(g, "ids", {kB, 3, kS}, DType::I64);
         const Value found = g.apply(Op::GatherElements, {x, ids}, {{"axis", int64_t{1}}});
         g.set_outputs({{"y", g.relu(found)}, {"sum", g.reduce(Op::ReduceSum, found, {1})}});
       }},
      {"gather_nd",
       [](Graph& g) {
         const Value x = in(g, "x", {9, 10, kS}), ids = in(g, "ids", {kB, 2}, DType::I64);
         const Value batched = in(g, "b", {kB, 9, 12}), one = in(g, "one", {kB, 4, 1}, DType::I64);
         g.set_outputs(
             {{"rows", g.apply(Op::GatherND, {x, ids}, {{"batch_dims", int64_t{0}}})},
              {"y", g.apply(Op::GatherND, {batched, one}, {{"batch_dims", int64_t{1}}})}});
       }},
      {"gathers_inside_elementwise_work_and_concat",
       [](Graph& g) {
         const Value v = par(g, "v", {9}), ids = in(g, "ids", {kB, kS}, DType::I64);
         const Value x = in(g, "x", {kB, kS}), found = g.gather(v, ids, 0);
         const Value twice = g.gather(v, g.gather(in(g, "j", {9}, DType::I64), ids, 0), 0);
         g.set_outputs({{"y", g.mul(g.relu(found), x)},
                        {"z", g.add(twice, x)},
                        {"c", g.concat({g.gather(v, in(g, "k", {kB, kT}, DType::I64), 0), x}, 1)}});
       }},
      {"rows_of_one_index",
       [](Graph& g) {
         const Value x = in(g, "x", {9, kB, kS}), at = in(g, "at", {}, DType::I64);
         g.set_outputs({{"y", g.gather(x, at, 0)}, {"v", g.gather(par(g, "v", {9, 20}), at, 0)}});
       }},
  };
  for (const std::string mode : {"constant", "edge", "wrap", "reflect"}) {
    cases.push_back({"pad_" + mode, [mode](Graph& g) {
                       const Value x = in(g, "x", {kB, kS, 5});
                       const Value y = pad_of(g, x, {1, 3, 2, 0, 2, 1}, mode, {kB + 1, kS + 5, 8});
                       const Value cut = pad_of(g, x, {0, 1, -2, 0, 0, 0}, mode, {kB, kS + 1, 3});
                       g.set_outputs({{"y", y},
                                      {"inside", g.relu(cut)},
                                      {"sum", g.reduce(Op::ReduceSum, g.relu(y), {1, 2})}});
                     }});
  }
  return cases;
}

inline std::vector<GraphCase> line_cases() {
  std::vector<GraphCase> cases;
  for (const Op op : {Op::ArgMax, Op::ArgMin}) {
    for (const int64_t last : {0, 1}) {
      const std::string name(graph::info(op).text);
      cases.push_back({name + (last ? "_last" : ""), [op, last](Graph& g) {
                         const Value x = in(g, "x", {kB, kS, 5});
                         const Value few = g.cast(g.mul(x, g.scalar(DType::F32, 2)), DType::I32);
                         const auto arg = [&](Value of, int64_t axis) {
                           return g.apply(op, {of}, {{"axis", axis}, {"last", last}});
                         };
                         g.set_outputs({{"last", arg(x, 2)},
                                        {"middle", arg(g.relu(x), 1)},
                                        {"ties", arg(few, 1)}});
                       }});
    }
  }
  for (const Op op : {Op::CumSum, Op::CumProd}) {
    cases.push_back({std::string(graph::info(op).text), [op](Graph& g) {
                       const Value x = in(g, "x", {kB, kS, 5});
                       const auto scan = [&](Value of, int64_t axis, int64_t ex, int64_t rev) {
                         return g.apply(op, {of},
                                        {{"axis", axis}, {"exclusive", ex}, {"reverse", rev}});
                       };
                       const Value i = g.cast(g.mul(x, g.scalar(DType::F32, 9)), DType::I32);
                       g.set_outputs({{"last", scan(x, 2, 0, 0)},
                                      {"exclusive", scan(g.relu(x), 1, 1, 0)},
                                      {"reverse", scan(x, 1, 0, 1)},
                                      {"both", scan(i, 0, 1, 1)}});
                     }});
  }
  for (const std::string reduction : {"none", "add", "mul", "min", "max"}) {
    cases.push_back({"scatter_" + reduction, [reduction](Graph& g) {
                       const Value x = in(g, "x", {kB + 1, 9, 3});
                       const Value ids = in(g, "ids", {kB, kS, 2}, DType::I64);
                       const Value to = in(g, "to", {kS, 1}, DType::I64);
                       const Value rows = in(g, "rows", {9, kT});
                       const auto scatter = [&](Op op, Value data, Value at, Value by) {
                         graph::Attributes a = {{"reduction", reduction}};
                         if (op == Op::ScatterElements) a.set("axis", int64_t{1});
                         return g.apply(op, {data, at, by}, std::move(a));
                       };
                       const Value by = g.relu(in(g, "by", {kB, kS, 2}));
                       g.set_outputs(
                           {{"y", scatter(Op::ScatterElements, x, ids, by)},
                            {"z", scatter(Op::ScatterND, rows, to, in(g, "u", {kS, kT}))}});
                     }});
  }
  for (const int64_t largest : {0, 1}) {
    cases.push_back(
        {largest ? "largest" : "smallest", [largest](Graph& g) {
           const Value x = in(g, "x", {kB, 9, kS});
           const Value few = g.cast(g.mul(x, g.scalar(DType::F32, 3)), DType::I32);
           const auto top = [&](Value of, int64_t axis, const Dim& k) {
             return g.apply_all(
                 Op::TopK, {of, g.dims({k}, true)},
                 {{"axis", axis}, {"largest", largest}, {"count", std::vector<Dim>{k}}});
           };
           const auto some = top(x, 1, 4), all = top(few, 2, kS);
           g.set_outputs(
               {{"v", some[0]}, {"i", some[1]}, {"sorted", g.relu(all[0])}, {"order", all[1]}});
         }});
  }
  return cases;
}

}  // namespace tenon::graph_test
