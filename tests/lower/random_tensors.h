// Random inputs and parameters of a graph at given extents, the same in every run, and the
// comparison of results with those of the interpreter.
#pragma once

#include <gtest/gtest.h>

#include <cmath>
#include <map>
#include <random>
#include <string>

#include "graph/interpret.h"

namespace tenon::graph_test {

using Extents = std::map<std::string, int64_t>;
using Tensors = std::map<std::string, graph::Tensor>;

inline int64_t evaluate(const Dim& dim, const Extents& extents) {
  return dim
      .evaluate(
          [&](const Symbol& symbol) -> std::optional<int64_t> { return extents.at(symbol.name()); })
      .value();
}

// Floats in [-1, 1); integers in -9..8, so that they index tables of 9 rows from either end.
inline graph::Tensor random_tensor(graph::Value leaf, const Extents& extents, unsigned seed = 0) {
  graph::Tensor tensor{.dtype = leaf.dtype(), .shape = {}, .bytes = {}};
  for (const Dim& dim : leaf.shape()) tensor.shape.push_back(evaluate(dim, extents));
  const auto size = static_cast<size_t>(size_of(tensor.dtype));
  tensor.bytes.resize(static_cast<size_t>(tensor.elements()) * size);
  for (const char c : leaf.node->name()) seed = seed * 31 + static_cast<unsigned char>(c);
  std::mt19937 generator(seed);
  std::uniform_real_distribution<double> real(-1, 1);
  std::uniform_int_distribution<int64_t> integer(-9, 8);
  for (size_t at = 0; at < tensor.bytes.size(); at += size) {
    if (is_float(tensor.dtype)) {
      store_from_f64(tensor.dtype, &tensor.bytes[at], real(generator));
    } else {
      store_from_i64(tensor.dtype, &tensor.bytes[at], integer(generator));
    }
  }
  return tensor;
}

inline Tensors random_tensors(const graph::Graph& graph, const Extents& extents) {
  Tensors tensors;
  for (const auto& leaf : graph.inputs()) tensors[leaf.node->name()] = random_tensor(leaf, extents);
  for (const auto& leaf : graph.params()) {
    if (!graph.param_data(leaf.node->name()))
      tensors[leaf.node->name()] = random_tensor(leaf, extents);
  }
  return tensors;
}

inline void expect_close(const graph::Tensor& actual, const graph::Tensor& expected,
                         double tolerance, const std::string& what) {
  ASSERT_EQ(actual.dtype, expected.dtype) << what;
  ASSERT_EQ(actual.shape, expected.shape) << what;
  const auto size = static_cast<size_t>(size_of(expected.dtype));
  ASSERT_EQ(actual.bytes.size(), expected.bytes.size()) << what;
  for (size_t at = 0; at < expected.bytes.size(); at += size) {
    const double want = load_as_f64(expected.dtype, &expected.bytes[at]);
    const double got = load_as_f64(actual.dtype, &actual.bytes[at]);
    if (want == got || (std::isnan(want) && std::isnan(got))) continue;  // infinities too
    const double limit = is_float(expected.dtype) ? tolerance * (1 + std::abs(want)) : 0;
    ASSERT_LE(std::abs(got - want), limit)
        << what << ": element " << at / size << " is " << got << ", not " << want;
  }
}

inline std::string text_of(const Extents& extents) {
  std::string text;
  for (const auto& [name, value] : extents) text += name + "=" + std::to_string(value) + " ";
  return text;
}

// Small, odd, at and past the size of a vector and of a block of keys.
inline std::vector<Extents> some_extents() {
  return {{{"b", 1}, {"s", 1}, {"t", 1}},
          {{"b", 3}, {"s", 7}, {"t", 2}},
          {{"b", 2}, {"s", 17}, {"t", 65}},
          {{"b", 1}, {"s", 66}, {"t", 16}}};
}

}  // namespace tenon::graph_test
