// Graphs that models seldom hold and compilers often get wrong: scalars, vectors, broadcasts that
// only the run decides, long rows, other dtypes, views in unusual places.
#pragma once

#include "tests/lower/graph_cases.h"

namespace tenon::graph_test {

inline std::vector<GraphCase> odd_cases() {
  return {
      {"scalars",
       [](Graph& g) {
         const Value x = in(g, "x", {}), z = in(g, "z", {kB});
         g.set_outputs({{"y", g.gelu(x)},
                        {"sum", g.reshape(g.reduce(Op::ReduceSum, z, {0}), {})},
                        {"mixed", g.add(g.mul(x, z), g.scalar(DType::F32, 3))}});
       }},
      {"vectors",
       [](Graph& g) {
         const Value x = g.reshape(in(g, "x", {9}), {1, 9}), w = par(g, "w", {9, 20});
         const Value z = in(g, "z", {kB, kS, 9}), column = g.reshape(x, {9, 1});
         g.set_outputs({{"row", g.reshape(g.matmul(x, w), {20})},
                        {"dot", g.matmul(x, column)},
                        {"rows", g.matmul(z, column)}});
       }},
      {"matmul_with_broadcast_batches",
       [](Graph& g) {
         const Value x = in(g, "x", {kB, 1, kS, 4}), z = in(g, "z", {3, 4, kT});
         g.set_outputs({{"y", g.matmul(x, z)}});
       }},
      {"matmul_of_views",
       [](Graph& g) {
         const Value x = in(g, "x", {kB, 9, kS}), w = par(g, "w", {20, 9});
         const Value xt = g.transpose(x, {0, 2, 1});
         const Value part = g.slice(w, {3, 0}, {8, 9}, {2, 1});
         g.set_outputs({{"y", g.matmul(xt, g.transpose(part, {1, 0}))},
                        {"expanded", g.matmul(g.expand(in(g, "e", {1, 1, 9}), {kB, kS, 9}),
                                              g.reshape(w, {9, 20}))}});
       }},
      {"matmul_of_computed_weights",
       [](Graph& g) {
         const Value x = in(g, "x", {kB, 6}), w = par(g, "w", {6, 20}), v = par(g, "v", {6, 20});
         const Value mixed = g.concat({g.mul(w, v), g.relu(w)}, 1);
         g.set_outputs({{"y", g.matmul(x, mixed)},
                        {"z", g.add(g.matmul(x, w), g.reduce(Op::ReduceMax, v, {0}))}});
       }},
      {"attention_of_views",
       [](Graph& g) {
         const Value x = in(g, "x", {kB, kS, 96});
         const auto part = [&](int64_t at) {
           return g.slice(x, {0, 0, at}, {kB, kS, 32}, {1, 1, 1});
         };
         const Value y = g.attention(part(0), part(32), part(64), {.heads = 2, .head_dim = 16});
         g.set_outputs({{"y", g.transpose(y, {1, 0, 2})}});
       }},
      {"attention_of_computed_operands",
       [](Graph& g) {
         const Value x = in(g, "x", {kB, kS, 32}), z = in(g, "z", {kB, kT, 32});
         const Value keep = in(g, "keep", {kB, kT}, DType::Bool);
         const Value mask =
             g.apply(Op::Where, {keep, g.scalar(DType::F32, 0), g.scalar(DType::F32, -1e30)});
         const graph::AttentionOptions options = {
             .heads = 2, .head_dim = 16, .mask = g.reshape(mask, {kB, 1, 1, kT})};
         g.set_outputs({{"y", g.attention(g.gelu(x), g.gelu(z), g.relu(z), options)}});
       }},
      {"long_rows",
       [](Graph& g) {
         const Value x = in(g, "x", {kB, 9000}), w = par(g, "w", {9000});
         g.set_outputs(
             {{"norm", g.layer_norm(g.relu(x), w, w, 1e-5)}, {"softmax", g.softmax(x, 1)}});
       }},
      {"gathers_of_computed_data",
       [](Graph& g) {
         const Value table = par(g, "table", {9, 6}), ids = in(g, "ids", {kB, kS}, DType::I64);
         const Value x = in(g, "x", {9, 6});
         const Value other = g.gather(in(g, "more", {9}, DType::I64), ids, 0);
         g.set_outputs({{"weights", g.gather(g.relu(table), ids, 0)},
                        {"values", g.gather(g.add(x, table), ids, 0)},
                        {"twice", g.gather(table, other, 0)},
                        {"second_axis", g.gather(x, g.integers({5, -6, 2}), 1)}});
       }},
      {"linear_with_a_gathered_residual",
       [](Graph& g) {
         const Value ids = in(g, "ids", {kB}, DType::I64), x = in(g, "x", {kB, 6});
         const auto y = [&](const std::string& name, int64_t n) {
           const Value rows = g.gather(par(g, "table" + name, {9, n}), ids, 0);
           return g.linear(x, par(g, "w" + name, {6, n}), {}, rows, Activation::Relu);
         };
         g.set_outputs({{"y", y("1", 32)}, {"z", y("2", 20)}});
       }},
      {"small_integers",
       [](Graph& g) {
         const Value x = in(g, "x", {kB, kS}, DType::I32), y = in(g, "y", {kB, kS}, DType::I8);
         const Value z = in(g, "z", {kB, kS}, DType::U8);
         g.set_outputs({{"x2", g.relu(g.sub(x, g.cast(y, DType::I32)))},
                        {"y2", g.add(y, y)},
                        {"z2", g.binary(Op::Max, z, g.cast(y, DType::U8))},
                        {"less", g.binary(Op::Less, z, g.scalar(DType::U8, 200))},
                        {"sum", g.reduce(Op::ReduceSum, x, {1})}});
       }},
      {"fewer_than_a_vector",
       [](Graph& g) {
         const Value x = in(g, "x", {5}, DType::U8);
         g.set_outputs({{"y", g.binary(Op::Max, x, g.scalar(DType::U8, 7))}});
       }},
      {"doubles",
       [](Graph& g) {
         const Value x = in(g, "x", {kB, kS}, DType::F64);
         g.set_outputs({{"y", g.unary(Op::Sqrt, g.unary(Op::Abs, g.mul(x, x)))},
                        {"sum", g.reduce(Op::ReduceSum, x, {1})},
                        {"f", g.cast(x, DType::F32)}});
       }},
      {"double_functions",
       [](Graph& g) {
         const Value x = in(g, "x", {kB, kS}, DType::F64);
         g.set_outputs({{"exp", g.unary(Op::Exp, x)}, {"tanh", g.unary(Op::Tanh, x)}});
       }},
      {"deep_chain",
       [](Graph& g) {
         Value x = in(g, "x", {kB, kS});
         for (int i = 0; i < 600; ++i)
           x = g.add(g.mul(x, g.scalar(DType::F32, 0.25)),
                     g.mul(g.unary(Op::Abs, x), g.scalar(DType::F32, 0.75)));
         g.set_outputs({{"y", x}});
       }},
      {"an_output_that_others_use",
       [](Graph& g) {
         const Value x = in(g, "x", {kB, kS, 8}), y = g.relu(x);
         g.set_outputs({{"y", y},
                        {"sum", g.reduce(Op::ReduceSum, y, {2})},
                        {"t", g.transpose(y, {2, 0, 1})}});
       }},
      {"unused_inputs",
       [](Graph& g) {
         in(g, "unused", {kB, kS});
         const Value x = in(g, "x", {kT});
         g.set_outputs({{"y", g.relu(x)}});
       }},
  };
}

}  // namespace tenon::graph_test
