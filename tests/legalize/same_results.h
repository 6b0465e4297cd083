// A decomposed graph means what it meant before: both are interpreted on the same inputs. What is
// an error of the user in one is one in the other.
#pragma once

#include <gtest/gtest.h>

#include "base/error.h"
#include "graph/interpret.h"
#include "legalize/decompose.h"
#include "tests/lower/random_tensors.h"

namespace tenon::legalize {

inline bool contains(const graph::Graph& graph, graph::Op op) {
  for (const graph::Node* node : graph.topological()) {
    if (node->op() == op) return true;
  }
  return false;
}

inline void expect_same_results(const graph::Graph& source, const graph_test::Tensors& inputs,
                                double tolerance = 1e-6) {
  const graph::Graph decomposed = decompose(source);
  graph::verify(decomposed);
  const auto expected = graph::interpret(source, inputs);
  const auto actual = graph::interpret(decomposed, inputs);
  ASSERT_EQ(actual.size(), expected.size());
  for (size_t i = 0; i < expected.size(); ++i) {
    graph_test::expect_close(actual[i], expected[i], tolerance, source.outputs()[i].name);
  }
}

inline void expect_same_error(const graph::Graph& source, const graph_test::Tensors& inputs) {
  const auto kind_of = [&](const auto& run) -> std::optional<ErrorKind> {
    try {
      run();
    } catch (const Error& error) {
      return error.kind();
    }
    return {};
  };
  EXPECT_EQ(kind_of([&] { graph::interpret(source, inputs); }), ErrorKind::User);
  EXPECT_EQ(kind_of([&] { graph::interpret(decompose(source), inputs); }), ErrorKind::User);
}

}  // namespace tenon::legalize
