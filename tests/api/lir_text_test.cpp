// LIR as text: the plan of its memory and steps, what it was planned by, its graph.
#include <gtest/gtest.h>

#include "tenon/tenon.h"

namespace tenon {
namespace {

// Four steps: the buffer of the first is free when the third writes.
Graph chain() {
  Graph g;
  const Value x = g.input("x", {{sym::batch(), 32}, DType::F32});
  const Value w = g.param("w", {{32, 32}, DType::F32});
  const Value inner = g.matmul(g.softmax(g.matmul(x, w), 1), w);
  g.set_outputs({{"y", g.matmul(inner, w)}});
  return g;
}

TEST(PlanText, HasALineForEverything) {
  const LirModule lir = CompilePipeline().compile_graph(chain()).lir;
  EXPECT_EQ(to_string(lir.plan()), R"(plan
  alignment 64
  arena batch*256 bytes
  unshared batch*384 bytes
  saved batch*128 bytes
  reused 1 buffers
  dynamic batch
  input "x" : f32[batch, 32]
  param "w" : f32[32, 32]
  output "y" : f32[batch, 32]
  slot 0 at 0 : batch*128 bytes
  slot 1 at batch*128 : batch*128 bytes
  buffer 0 : batch*128 bytes, slot 0 at 0
  buffer 1 : batch*128 bytes, slot 1 at 0
  buffer 2 : batch*128 bytes, slot 0 at 0
  prologue linear_pack(param "w") -> packed 0
  steady linear(input "x", packed 0) -> arena 0
  steady softmax(arena 0) -> arena 1
  steady linear(arena 1, packed 0) -> arena 2
  epilogue linear(arena 2, packed 0) -> output "y"
)");
}

}  // namespace
}  // namespace tenon
