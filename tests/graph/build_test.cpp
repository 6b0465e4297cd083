#include "graph/graph.h"
#include <gtest/gtest.h>
namespace tenon::graph {
TEST(Graph, InfersAtConstruction) {
  Graph g;
  const Value x = g.input("x", {{sym::batch(), sym::seq(), 384}, DType::F32});
  const Value w = g.param("w", {{384, 1536}, DType::F32});
  EXPECT_EQ(g.matmul(x, w).type().to_string(), "f32[batch, seq, 1536]");
}
}
