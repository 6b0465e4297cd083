// A bucket that runs shorter, on a CPU and on a GPU: chains of everything that a layer is made of
// give what the graph does that is built for the active rows, close to what the interpreter says,
// and the rows past them stay what a longer run left there.
#include <gtest/gtest.h>

#include "tests/driver/run_bucket.h"
#include "tests/lower/random_tensors.h"

namespace tenon::graph_test {
namespace {

using graph::Graph;
using graph::Op;
using graph::Value;

constexpr int64_t kUpper = 24, kWidth = 16;

Value weights(Graph& g, const std::string& name, const Shape& shape) {
  return g.param(name, {shape, DType::F32});
}

// Norm, attention, a feed-forward part, and residuals.
Graph layer(int64_t rows) {
  Graph g;
  const Value x = g.input("x", {{1, rows, kWidth}, DType::F32});
  const Value normed =
      g.layer_norm(x, weights(g, "scale", {kWidth}), weights(g, "bias", {kWidth}), 1e-5);
  const Value q = g.matmul(normed, weights(g, "wq", {kWidth, kWidth}));
  const Value k = g.matmul(normed, weights(g, "wk", {kWidth, kWidth}));
  const Value seen = g.attention(q, k, normed, {.heads = 2, .head_dim = 8, .causal = true});
  const Value added = g.add(x, seen);
  const Value wide = g.gelu(g.matmul(added, weights(g, "up", {kWidth, 24})));
  g.set_outputs({{"y", g.add(added, g.matmul(wide, weights(g, "down", {24, kWidth})))}});
  return g;
}

// What looks along the bucket's axis: means, softmax, products; and what is taken from it.
Graph along(int64_t rows) {
  Graph g;
  const Value x = g.input("x", {{rows, kWidth}, DType::F32});
  const Value mean = g.reduce(Op::ReduceMean, x, {0});
  const Value centred = g.sub(x, mean);
  const Value chances = g.softmax(centred, 0);
  const Value scores = g.matmul(centred, g.transpose(x, {1, 0}));
  const Value mixed = g.matmul(g.softmax(scores, 1), g.unary(Op::Tanh, x));
  g.set_outputs({{"mean", mean},
                 {"turned", g.transpose(chances, {1, 0})},
                 {"mixed", g.mul(mixed, g.unary(Op::Sigmoid, centred))},
                 {"gram", g.matmul(g.transpose(x, {1, 0}), x)},
                 {"both", scores},
                 {"pooled", g.reduce(Op::ReduceMax, mixed, {0})}});
  return g;
}

// A window over rows, as images have them, and a mean of all that is left.
Graph windows(int64_t rows) {
  Graph g;
  const Value x = g.input("x", {{1, 3, rows, 5}, DType::F32});
  const std::vector<int64_t> ones{1, 1};
  const Value y = g.apply(Op::Conv, {x, weights(g, "w", {4, 3, 3, 3})},
                          {{"begins", std::vector<Dim>{1, 1}},
                           {"dilations", ones},
                           {"extents", std::vector<Dim>{rows, 5}},
                           {"groups", int64_t{1}},
                           {"strides", ones}});
  g.set_outputs({{"y", g.relu(y)}, {"pooled", g.reduce(Op::ReduceMean, g.relu(y), {2, 3})}});
  return g;
}

struct Chain {
  const char* name;
  Graph (*build)(int64_t rows);
  int axis;
};
constexpr Chain kChains[] = {{"layer", layer, 1}, {"along", along, 0}, {"windows", windows, 2}};

void expect_as_built(const Chain& chain, program::DeviceKind device) {
  RunBucket bucket(chain.build(kUpper), {{"x", chain.axis}}, device);
  ASSERT_EQ(bucket.report().fallback, "") << chain.name;
  std::vector<graph::Tensor> before = bucket.run(random_tensors(chain.build(kUpper), {}));
  for (const int64_t rows : {int64_t{7}, int64_t{1}, int64_t{16}}) {
    const Graph small = chain.build(rows);
    Tensors inputs = random_tensors(small, {});
    inputs["x"] = random_tensor(small.inputs()[0], {}, static_cast<unsigned>(rows));
    const std::vector<graph::Tensor> close = graph::interpret(small, inputs);
    const std::vector<graph::Tensor> built = RunBucket(small, {}, device).run(inputs);
    bucket.set(rows);
    const std::vector<graph::Tensor> got = bucket.run(inputs);
    for (size_t i = 0; i < got.size(); ++i) {
      const std::string where =
          fmt::format("{} of {} at {}", small.outputs()[i].name, chain.name, rows);
      EXPECT_EQ(difference(got[i], built[i], before[i], share_of(device, DType::F32)), "") << where;
      expect_close(built[i], close[i], 1e-5, where);
    }
    before = got;
  }
}

TEST(ActiveExtent, IsAsGoodAsAGraphForTheRowsOnACpu) {
  for (const Chain& chain : kChains) expect_as_built(chain, program::DeviceKind::Cpu);
}

TEST(ActiveExtent, IsAsGoodAsAGraphForTheRowsOnAGpu) {
  for (const Chain& chain : kChains) expect_as_built(chain, program::DeviceKind::EmulatedGpu);
}

}  // namespace
}  // namespace tenon::graph_test
