// Small graphs with symbolic extents kB, kS and kT, for the tests of lowering and of the whole
// pipeline: every op of the table, movement in chains, and the fused ops in the forms they occur.
#pragma once

#include <functional>
#include <ostream>
#include <string>
#include <vector>

#include "graph/graph.h"

namespace tenon::graph_test {

using graph::Activation;
using graph::Graph;
using graph::Op;
using graph::Value;

struct GraphCase {
  std::string name;
  std::function<void(Graph&)> build;
  Graph graph() const {
    Graph g;
    build(g);
    return g;
  }
};
inline std::ostream& operator<<(std::ostream& stream, const GraphCase& test) {
  return stream << test.name;
}

inline const Dim kB = Symbol("b", {1, 1024}), kS = Symbol("s", {1, 512}),
                 kT = Symbol("t", {1, 512});

inline Value in(Graph& g, const std::string& name, Shape shape, DType dtype = DType::F32) {
  return g.input(name, {std::move(shape), dtype});
}
inline Value par(Graph& g, const std::string& name, Shape shape, DType dtype = DType::F32) {
  return g.param(name, {std::move(shape), dtype});
}

// One graph per elementwise op with one operand of f32; log and sqrt see positive numbers.
inline std::vector<GraphCase> unary_cases() {
  std::vector<GraphCase> cases;
  for (const Op op : {Op::Neg, Op::Abs, Op::Sqrt, Op::Reciprocal, Op::Exp, Op::Log, Op::Erf,
                      Op::Tanh, Op::Sigmoid, Op::Relu, Op::Gelu, Op::GeluTanh, Op::Silu}) {
    cases.push_back({std::string(graph::info(op).text), [op](Graph& g) {
                       Value x = in(g, "x", {kB, kS, 5});
                       const bool positive =
                           op == Op::Sqrt || op == Op::Log || op == Op::Reciprocal;
                       if (positive) x = g.add(g.mul(x, x), g.scalar(DType::F32, 0.125));
                       g.set_outputs({{"y", g.unary(op, x)}});
                     }});
  }
  return cases;
}

// With operands broadcast on either side.
inline std::vector<GraphCase> binary_cases() {
  std::vector<GraphCase> cases;
  for (const Op op :
       {Op::Add, Op::Sub, Op::Mul, Op::Div, Op::Min, Op::Max, Op::Equal, Op::Less, Op::LessEqual}) {
    for (const DType dtype : {DType::F32, DType::I64}) {
      cases.push_back({std::string(graph::info(op).text) + "_" + std::string(to_string(dtype)),
                       [op, dtype](Graph& g) {
                         const Value x = in(g, "x", {kB, 1, 5}, dtype),
                                     z = in(g, "z", {kS, 1}, dtype);
                         const Value one = g.scalar(dtype, 1);
                         const Value divisor = op == Op::Div ? g.add(g.mul(z, z), one) : z;
                         g.set_outputs({{"y", g.binary(op, x, divisor)}});
                       }});
    }
  }
  cases.push_back({"logic", [](Graph& g) {
                     const Value x = in(g, "x", {kB, kS}), z = in(g, "z", {kS}, DType::Bool);
                     const Value c = g.binary(Op::Less, x, g.scalar(DType::F32, 0.25));
                     const Value d = g.binary(Op::Or, g.binary(Op::And, c, z), g.unary(Op::Not, z));
                     g.set_outputs({{"y", g.apply(Op::Where, {d, x, g.scalar(DType::F32, -1)})}});
                   }});
  cases.push_back({"cast", [](Graph& g) {
                     const Value x = in(g, "x", {kB, kS});
                     const Value i = g.cast(g.mul(x, g.scalar(DType::F32, 100)), DType::I64);
                     g.set_outputs({{"i", i},
                                    {"j", g.cast(i, DType::I32)},
                                    {"f", g.cast(g.cast(i, DType::I32), DType::F32)},
                                    {"c", g.cast(x, DType::Bool)}});
                   }});
  return cases;
}

inline std::vector<GraphCase> movement_cases() {
  return {
      {"split_and_merge_heads",
       [](Graph& g) {
         const Value x = in(g, "x", {kB, kS, 12});
         const Value heads = g.transpose(g.reshape(x, {kB, kS, 3, 4}), {0, 2, 1, 3});
         const Value merged = g.reshape(g.transpose(g.relu(heads), {0, 2, 1, 3}), {kB, kS, 12});
         g.set_outputs({{"heads", heads}, {"merged", g.add(merged, x)}});
       }},
      {"reshape_across_symbols",
       [](Graph& g) {
         const Value x = in(g, "x", {kB, kS, 6});
         g.set_outputs({{"flat", g.reshape(x, {kB * kS * 6})},
                        {"rows", g.reshape(x, {kB * kS, 2, 3})},
                        {"mixed", g.reshape(g.transpose(x, {1, 0, 2}), {kS * 2, kB * 3})}});
       }},
      {"slices",
       [](Graph& g) {
         const Value x = in(g, "x", {kB, kS, 12});
         g.set_outputs(
             {{"every_third", g.slice(x, {0, 0, 1}, {kB, kS, 4}, {1, 1, 3})},
              {"reversed", g.slice(x, {0, kS - 1, 11}, {kB, kS, 12}, {1, -1, -1})},
              {"last", g.reshape(g.slice(x, {0, kS - 1, 0}, {kB, 1, 12}, {1, 1, 1}), {kB, 12})}});
       }},
      {"expand",
       [](Graph& g) {
         const Value x = in(g, "x", {kB, 1, 4}), z = in(g, "z", {kS, 1});
         g.set_outputs({{"y", g.add(g.expand(x, {kB, kS, 4}), z)},
                        {"z", g.transpose(g.expand(x, {3, kB, kS, 4}), {2, 0, 3, 1})}});
       }},
      {"concat",
       [](Graph& g) {
         const Value x = in(g, "x", {kB, kS, 4}), z = in(g, "z", {kB, kT, 4});
         const Value rows = g.concat({x, g.relu(z), x}, 1);
         const Value columns = g.concat({g.slice(x, {0, 0, 2}, {kB, kS, 2}, {1, 1, 1}), x}, 2);
         g.set_outputs({{"rows", rows}, {"columns", g.transpose(columns, {2, 0, 1})}});
       }},
      {"split",
       [](Graph& g) {
         const auto parts = g.split(in(g, "x", {kB, kS, 12}), 2, {3, 5, 4});
         g.set_outputs({{"p", parts[0]}, {"q", g.relu(parts[1])}, {"r", parts[2]}});
       }},
      {"gathers",
       [](Graph& g) {
         const Value table = par(g, "table", {9, 6}), ids = in(g, "ids", {kB, kS}, DType::I64);
         const Value x = in(g, "x", {kB, 9, 2});
         g.set_outputs({{"rows", g.gather(table, ids, 0)},
                        {"columns", g.gather(x, g.integers({-1, 0, 3}), 1)},
                        {"element", g.gather(par(g, "v", {9}), ids, 0)}});
       }},
      {"gather_in_concat",
       [](Graph& g) {
         const Value table = par(g, "table", {9, 6}), ids = in(g, "ids", {kS}, DType::I64);
         const Value rows = g.gather(table, ids, 0);
         g.set_outputs({{"y", g.concat({rows, in(g, "x", {kT, 6})}, 0)}});
       }},
      {"gather_along_the_row_of_a_consumer",
       [](Graph& g) {
         const Value v = par(g, "v", {9}), w = par(g, "w", {20}), k = par(g, "k", {20, 20});
         const auto ids = [&](const char* name, const Dim& n) {
           return g.gather(v, in(g, name, {kB, n}, DType::I64), 0);
         };
         const Value x = in(g, "x", {kB, 20});
         g.set_outputs({{"softmax", g.softmax(ids("i", kS), 1)},
                        {"sum", g.reduce(Op::ReduceSum, ids("j", kS), {1})},
                        {"norm", g.layer_norm(ids("l", 20), w, w, 1e-5)},
                        {"linear", g.linear(x, k, {}, ids("m", 20), Activation::Relu)}});
       }},
      {"outputs_that_are_leaves_and_twice_the_same",
       [](Graph& g) {
         const Value x = in(g, "x", {kB, kS}), y = g.relu(x);
         g.set_outputs({{"x2", x}, {"y", y}, {"y2", y}});
       }},
      {"outputs_of_parameters_only",
       [](Graph& g) {
         const Value x = in(g, "x", {kB, kS}), p = par(g, "p", {3, 4});
         g.set_outputs({{"y", g.relu(x)}, {"p2", p}, {"q", g.relu(g.transpose(p, {1, 0}))}});
       }},
      {"shape_values",
       [](Graph& g) {
         const Value x = in(g, "x", {kB, kS});
         g.set_outputs({{"shape", g.shape_of(x)},
                        {"twice", g.mul(g.shape_of(x), g.integers({2, 3}))},
                        {"count", g.dims({kB * kS}, true)},
                        {"y", g.add(x, g.cast(g.dims({kS}, true), DType::F32))}});
       }},
  };
}

inline std::vector<GraphCase> reduction_cases() {
  std::vector<GraphCase> cases;
  for (const Op op : {Op::ReduceSum, Op::ReduceMean, Op::ReduceMax, Op::ReduceMin}) {
    cases.push_back({std::string(graph::info(op).text), [op](Graph& g) {
                       const Value x = in(g, "x", {kB, kS, 5});
                       g.set_outputs({{"last", g.reduce(op, x, {2})},
                                      {"middle", g.reduce(op, x, {1})},
                                      {"two", g.reduce(op, g.mul(x, x), {0, 2})},
                                      {"all", g.reduce(op, x, {0, 1, 2})},
                                      {"scaled", g.mul(g.reduce(op, x, {1}), x)}});
                     }});
  }
  cases.push_back({"reduce_integers", [](Graph& g) {
                     const Value x = in(g, "x", {kB, kS}, DType::I64);
                     g.set_outputs({{"sum", g.reduce(Op::ReduceSum, x, {1})},
                                    {"max", g.reduce(Op::ReduceMax, x, {1})},
                                    {"min", g.reduce(Op::ReduceMin, x, {0})}});
                   }});
  cases.push_back({"softmax", [](Graph& g) {
                     const Value x = in(g, "x", {kB, kS, 5});
                     g.set_outputs({{"last", g.softmax(x, 2)},
                                    {"middle", g.softmax(g.mul(x, x), 1)},
                                    {"first", g.softmax(x, 0)}});
                   }});
  cases.push_back({"layer_norm", [](Graph& g) {
                     const Value x = in(g, "x", {kB, kS, 40}), w = par(g, "w", {40});
                     const Value inside = g.layer_norm(g.add(x, g.relu(x)), w, w, 1e-5);
                     g.set_outputs(
                         {{"y", g.layer_norm(x, w, par(g, "v", {40}), 1e-12)}, {"inside", inside}});
                   }});
  cases.push_back({"rms_norm", [](Graph& g) {
                     const Value x = in(g, "x", {kB, kS, 40}), w = par(g, "w", {40});
                     g.set_outputs(
                         {{"y", g.rms_norm(x, w, 1e-6)},
                          {"inside", g.rms_norm(g.add(x, g.relu(x)), w, 0.5)},
                          {"short", g.rms_norm(in(g, "z", {kB, 3}), par(g, "v", {3}), 1)}});
                   }});
  return cases;
}

// Causal attention, also of fewer keys than queries, where the first rows see none; windows that
// end inside and beyond a block of keys; caps.
inline std::vector<GraphCase> causal_cases() {
  const auto attend = [](const char* name, const graph::AttentionOptions& options) -> GraphCase {
    return {name, [options](Graph& g) {
              const Value q = in(g, "q", {kB, kS, 32}), k = in(g, "k", {kB, kT, 32});
              const Value v = in(g, "v", {kB, kT, 32}), x = in(g, "x", {kB, kS, 32});
              g.set_outputs({{"across", g.attention(q, k, v, options)},
                             {"self", g.attention(x, x, x, options)}});
            }};
  };
  return {
      attend("causal_attention", {.heads = 2, .head_dim = 16, .causal = true}),
      attend("window_of_3", {.heads = 2, .head_dim = 16, .causal = true, .window = 3}),
      attend("window_of_1", {.heads = 4, .head_dim = 8, .causal = true, .window = 1}),
      attend("window_of_64", {.heads = 2, .head_dim = 16, .causal = true, .window = 64}),
      attend("softcap", {.heads = 2, .head_dim = 16, .scale = 2, .softcap = 1.5}),
      attend("causal_softcap",
             {.heads = 2, .head_dim = 16, .causal = true, .window = 9, .softcap = 0.75}),
      {"causal_attention_with_a_mask",
       [](Graph& g) {
         const Value q = in(g, "q", {kB, kS, 32}), k = in(g, "k", {kB, kT, 16});
         const Value v = in(g, "v", {kB, kT, 16}), mask = in(g, "mask", {kB, 1, 1, kT});
         const graph::AttentionOptions options = {.heads = 2,
                                                  .head_dim = 16,
                                                  .kv_heads = 1,
                                                  .mask = mask,
                                                  .causal = true,
                                                  .softcap = 30};
         g.set_outputs({{"y", g.attention(q, k, v, options)}});
       }},
  };
}

// Rotary positions, as a kernel and inside of attention.
inline std::vector<GraphCase> rotary_cases() {
  return {
      {"rotary",
       [](Graph& g) {
         const Value x = in(g, "x", {kB, kS, 48});
         const auto turn = [&](const char* name, Shape angles, bool interleaved) {
           const Value cos = in(g, std::string(name) + "_cos", angles);
           const Value sin = in(g, std::string(name) + "_sin", angles);
           return g.rotary(x, cos, sin, {.heads = 3, .interleaved = interleaved});
         };
         g.set_outputs({{"whole", turn("whole", {kS, 8}, false)},
                        {"part", turn("part", {kS, 3}, false)},
                        {"pairs", turn("pairs", {kS, 8}, true)},
                        {"some_pairs", turn("some_pairs", {kB, kS, 5}, true)}});
       }},
      {"attention_that_turns_its_queries",
       [](Graph& g) {
         const Value q = in(g, "q", {kB, kS, 64}), k = in(g, "k", {kB, kS, 32});
         const Value v = in(g, "v", {kB, kS, 32});
         const Value cos = in(g, "cos", {kB, kS, 6}), sin = in(g, "sin", {kB, kS, 6});
         const Value turned_q = g.rotary(q, cos, sin, {.heads = 4});
         const Value turned_k = g.rotary(k, cos, sin, {.heads = 2});
         const graph::AttentionOptions options = {
             .heads = 4, .head_dim = 16, .kv_heads = 2, .causal = true};
         g.set_outputs({{"y", g.attention(turned_q, turned_k, v, options)}});
       }},
  };
}

inline std::vector<GraphCase> contraction_cases() {
  std::vector<GraphCase> cases = {
      {"matmuls",
       [](Graph& g) {
         const Value x = in(g, "x", {kB, kS, 9}), z = in(g, "z", {kB, 9, kT});
         const Value scores = g.matmul(x, z);
         g.set_outputs({{"weight", g.matmul(x, par(g, "w", {9, 20}))},
                        {"transposed", g.matmul(x, g.transpose(par(g, "v", {20, 9}), {1, 0}))},
                        {"scores", scores},
                        {"back", g.matmul(g.softmax(scores, 2), g.transpose(z, {0, 2, 1}))}});
       }},
      {"matmul_of_heads",
       [](Graph& g) {
         const auto heads = [&](const char* name, const Dim& n) {
           return g.transpose(g.reshape(in(g, name, {kB, n, 8}), {kB, n, 2, 4}), {0, 2, 1, 3});
         };
         const Value q = heads("q", kS), k = heads("k", kT);
         g.set_outputs({{"y", g.matmul(q, g.transpose(k, {0, 1, 3, 2}))}});
       }},
      {"attention",
       [](Graph& g) {
         const Value q = in(g, "q", {kB, kS, 24}), k = in(g, "k", {kB, kT, 24});
         const Value v = in(g, "v", {kB, kT, 24}), mask = in(g, "mask", {kB, 1, 1, kT});
         g.set_outputs({{"y", g.attention(q, k, v, {.heads = 3, .head_dim = 8, .mask = mask})}});
       }},
      {"grouped_attention",
       [](Graph& g) {
         const Value q = in(g, "q", {kB, kS, 64}), k = in(g, "k", {kB, kT, 32});
         const Value v = in(g, "v", {kB, kT, 32});
         const graph::AttentionOptions options = {
             .heads = 4, .head_dim = 16, .kv_heads = 2, .scale = 0.5};
         g.set_outputs({{"y", g.attention(q, k, v, options)}});
       }},
      {"attention_with_a_mask_per_query",
       [](Graph& g) {
         const Value x = in(g, "x", {kB, kS, 32}), mask = in(g, "mask", {kS, kS});
         g.set_outputs({{"y", g.attention(x, x, x, {.heads = 2, .head_dim = 16, .mask = mask})}});
       }},
      {"scaled_rows",
       [](Graph& g) {
         const Value x = in(g, "x", {kB, kS, 9}), w = par(g, "w", {9, 20}),
                     u = par(g, "u", {9, 20});
         const Value r = in(g, "r", {kB, kS, 20}), v = par(g, "v", {20});
         const Value scale = g.relu(in(g, "scale", {kB, kS, 1}));
         g.set_outputs({{"linear", g.linear(x, w, {}, {}, Activation::None, scale)},
                        {"all", g.linear(x, w, v, r, Activation::Silu, scale)},
                        {"gated", g.gated_linear(x, w, u, Activation::Silu)},
                        {"scaled", g.gated_linear(x, u, w, Activation::Gelu, scale)}});
       }},
      {"embedding",
       [](Graph& g) {
         const Value words = par(g, "words", {9, 32}), places = par(g, "places", {512, 32});
         const Value ids = in(g, "ids", {kB, kS}, DType::I64);
         const Value place = g.slice(places, {0, 0}, {kS, 32}, {1, 1});
         const Value x = g.add(g.gather(words, ids, 0), g.reshape(place, {1, kS, 32}));
         const Value w = par(g, "w", {32});
         g.set_outputs({{"y", g.layer_norm(x, w, w, 1e-5)}});
       }},
  };
  for (const Activation act :
       {Activation::None, Activation::Relu, Activation::Gelu, Activation::GeluTanh,
        Activation::Silu, Activation::Tanh, Activation::Sigmoid}) {
    cases.push_back({"linear" + std::to_string(static_cast<int>(act)), [act](Graph& g) {
                       const Value x = in(g, "x", {kB, kS, 9}), w = par(g, "w", {9, 20});
                       const Value r = in(g, "r", {kB, kS, 20}), v = par(g, "v", {20});
                       g.set_outputs({{"plain", g.linear(x, w, {}, {}, act)},
                                      {"biased", g.linear(x, w, v, {}, act)},
                                      {"all", g.linear(x, w, v, r, act)}});
                     }});
  }
  return cases;
}

inline std::vector<GraphCase> all_graphs() {
  std::vector<GraphCase> all;
  for (const auto& part : {unary_cases(), binary_cases(), movement_cases(), reduction_cases(),
                           contraction_cases(), causal_cases(), rotary_cases()}) {
    all.insert(all.end(), part.begin(), part.end());
  }
  return all;
}

}  // namespace tenon::graph_test
