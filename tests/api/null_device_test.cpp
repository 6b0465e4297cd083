// The device that computes nothing: everything but the kernels.
#include <gtest/gtest.h>

#include "tenon/tenon.h"

namespace tenon {
namespace {

Graph model() {
  Graph g;
  const Value x = g.input("x", {{sym::batch(), 4}, DType::F32});
  g.set_outputs({{"y", g.relu(g.matmul(x, g.param("w", {{4, 2}, DType::F32})))}});
  return g;
}

TEST(NullDevice, ChecksAndPlansAndComputesNothing) {
  CompiledGraph graph = Session(Device::Null()).compile(model());
  EXPECT_EQ(to_string(graph.device()), "null");
  EXPECT_EQ(Device::parse("null"), Device::Null());
  EXPECT_TRUE(is_available(Device::Null()));
  const std::vector<float> x(12, 1), w(8, 1);
  EXPECT_THROW(graph.run({{"x", view(x, {3, 4})}}), Error);  // w is not set
  graph.set_param("w", w);
  EXPECT_THROW(graph.run({{"x", view(x, {4, 3})}}), Error);
  EXPECT_EQ(graph.run({{"x", view(x, {3, 4})}})[0], std::vector<float>(6, 0));
  EXPECT_EQ(Session().compile(model(), {.device = Device::Cpu()}).device(), Device::Cpu());
}

}  // namespace
}  // namespace tenon
