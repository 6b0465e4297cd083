// Modules through the front door: compiled, with their parameters, and run at two shapes.
#include <gtest/gtest.h>

#include "tenon/tenon.h"
#include "tests/graph/tensors.h"

namespace tenon {
namespace {

HirModule doubled() {
  HirModule m;
  const HirValue x = m.input_batch_seq("x", 2);
  const std::vector<float> twice = {2, 0, 0, 2};
  const HirValue w = m.param("w", {{2, 2}, DType::F32}, std::as_bytes(std::span(twice)));
  const HirValue one = m.constant<float>({1}, {});
  const HirValue y = m.op1("add", {m.linear(x, w), one});
  m.set_outputs({{"y", m.op1("transpose", {y}, {{"perm", std::vector<int64_t>{1, 0, 2}}})}});
  return m;
}

TEST(HirSession, CompilesAModuleOnceForEveryShape) {
  CompiledGraph compiled = Session().compile(doubled());
  const std::vector<float> two = {1, 2}, four = {1, 2, 3, 4};
  EXPECT_EQ(compiled.run({{"x", view(two, {1, 1, 2})}})[0], (std::vector<float>{3, 5}));
  EXPECT_EQ(compiled.run({{"x", view(four, {1, 2, 2})}})[0], (std::vector<float>{3, 5, 7, 9}));
  EXPECT_EQ(compiled.outputs()[0].name, "y");
}

TEST(HirSession, TakesOptionsAsForGraphs) {
  const HirModule m = doubled();
  EXPECT_EQ(graph::error_of([&] { Session().compile(m, {.threads = -1}); }),
            "User [compile] -1 threads: 0 or more are needed");
}

TEST(HirSession, ParametersWithoutDataAreSetOnTheCompiledGraph) {
  HirModule m;
  const HirValue w = m.param("w", {{2, 1}, DType::F32});
  m.set_outputs({{"y", m.linear(m.input_batch_seq("x", 2), w)}});
  CompiledGraph compiled = Session().compile(m);
  const std::vector<float> sum = {1, 1}, x = {3, 4};
  compiled.set_param("w", view(sum, {2, 1}));
  EXPECT_EQ(compiled.run({{"x", view(x, {1, 1, 2})}})[0], (std::vector<float>{7}));
}

}  // namespace
}  // namespace tenon
