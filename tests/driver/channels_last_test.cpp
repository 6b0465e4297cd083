// Networks of convolutions whose images lie with their channels innermost, compiled, against the
// interpreter: every kind of window, epilogue and reader, and the same with the layout left alone.
#include <gtest/gtest.h>

#include <algorithm>
#include <span>

#include "tests/driver/window_cases.h"

namespace tenon::graph_test {
namespace {

using graph::Graph;
using graph::Op;
using graph::Value;

const Dim kB = Symbol("b", {1, 64});

class Network {
 public:
  Graph g;

  Value image(std::vector<Dim> shape) { return g.input("x", {Shape(shape), DType::F32}); }
  Value conv(Value x, Windows c) {
    c.x = x.shape();
    graph::Attributes attributes = attributes_of(c, extents_of(c, kernel_of(c)));
    attributes.set("groups", c.groups);
    return g.apply(Op::Conv, {x, param(c.w.dims()), param({c.w[0]})}, std::move(attributes));
  }
  // One tap, one step.
  Value mixed(Value x, int64_t channels) {
    const auto rank = static_cast<size_t>(x.shape().rank()) - 2;
    std::vector<Dim> w{channels, x.shape()[1]};
    w.resize(rank + 2, 1);
    const std::vector<int64_t> ones(rank, 1);
    return conv(x, {"", {}, Shape(w), ones, ones, std::vector<int64_t>(2 * rank, 0)});
  }
  // Three taps of each axis; the image keeps its size.
  Value blurred(Value x, int64_t channels) {
    return conv(x, {"", {}, {channels, x.shape()[1], 3, 3}, {1, 1}, {1, 1}, {1, 1, 1, 1}});
  }
  Value normalized(Value x) {
    const Dim channels = x.shape()[1];
    const auto spread = [&](Value v) { return g.reshape(v, {channels, 1, 1}); };
    const Value deviation = g.unary(
        Op::Sqrt,
        g.add(g.mul(param({channels, 1, 1}), param({channels, 1, 1})), g.scalar(DType::F32, 0.5)));
    const Value centered = g.sub(x, spread(param({channels})));
    return g.add(g.mul(g.div(centered, g.unary(Op::Abs, deviation)), spread(param({channels}))),
                 spread(param({channels})));
  }
  Value param(std::vector<Dim> shape) {
    return g.param("p" + std::to_string(params_++), {Shape(std::move(shape)), DType::F32});
  }

 private:
  int params_ = 0;
};

class ChannelsLastTest : public ::testing::TestWithParam<Windows> {};

// The tested convolution stands between two others, so both its images may be turned.
TEST_P(ChannelsLastTest, GivesTheNumbersOfTheInterpreter) {
  Network n;
  const Windows& c = GetParam();
  std::vector<Dim> shape = c.x.dims();
  shape[1] = 3;
  const Value x = n.g.relu(n.mixed(n.image(shape), c.w[1].const_value()));
  n.g.set_outputs({{"y", n.mixed(n.g.relu(n.conv(x, c)), 17)}});
  expect_interpreted(n.g, {{{"b", 1}}, {{"b", 3}}});
}

INSTANTIATE_TEST_SUITE_P(
    All, ChannelsLastTest,
    ::testing::Values(
        Windows{"same", {kB, 0, 9, 20}, {32, 16, 3, 3}, {1, 1}, {1, 1}, {1, 1, 1, 1}},
        Windows{"odd_channels", {kB, 0, 7, 7}, {37, 21, 3, 3}, {1, 1}, {1, 1}, {1, 1, 1, 1}},
        Windows{"valid", {kB, 0, 8, 11}, {16, 18, 3, 5}, {1, 1}, {1, 1}, {0, 0, 0, 0}},
        Windows{"pointwise", {kB, 0, 7, 7}, {70, 33, 1, 1}, {1, 1}, {1, 1}, {0, 0, 0, 0}},
        Windows{"strided_pointwise", {kB, 0, 9, 9}, {48, 32, 1, 1}, {2, 2}, {1, 1}, {0, 0, 0, 0}},
        Windows{"strided", {kB, 0, 15, 17}, {20, 16, 5, 5}, {2, 2}, {1, 1}, {2, 2, 2, 2}},
        Windows{"dilated", {kB, 0, 14, 13}, {16, 24, 3, 3}, {1, 2}, {2, 3}, {2, 0, 1, 4}},
        Windows{"deep", {kB, 0, 5, 6}, {40, 144, 3, 3}, {1, 1}, {1, 1}, {1, 1, 1, 1}},
        Windows{"wide", {kB, 0, 4, 5}, {530, 32, 2, 2}, {1, 1}, {1, 1}, {1, 0, 0, 1}},
        Windows{"one_position", {kB, 0, 3, 3}, {32, 16, 3, 3}, {1, 1}, {1, 1}, {0, 0, 0, 0}},
        Windows{"one_axis", {kB, 0, 50}, {19, 17, 4}, {3}, {2}, {3, 1}},
        Windows{"three_axes",
                {kB, 0, 5, 6, 7},
                {16, 17, 2, 3, 2},
                {1, 2, 1},
                {1, 1, 2},
                {1, 0, 1, 0, 1, 1}},
        Windows{"negative_pads", {kB, 0, 9, 9}, {16, 16, 3, 3}, {1, 1}, {1, 1}, {-1, 0, 0, -2}}),
    [](const auto& info) { return info.param.name; });

// Few channels in, many out; pools; a block with a residual; two images side by side; a mean.
Graph small_network(int64_t side) {
  Network n;
  const Value first = n.g.relu(n.normalized(
      n.conv(n.image({kB, 3, side, side}), {"", {}, {24, 3, 7, 7}, {2, 2}, {1, 1}, {3, 3, 3, 3}})));
  const Windows pool{"", first.shape(), {1, 1, 3, 3}, {2, 2}, {1, 1}, {1, 1, 1, 1}};
  const auto pooled = [&](Op op, Value x) {
    Windows w = pool;
    w.x = x.shape();
    graph::Attributes attributes = attributes_of(w, extents_of(w, {3, 3}));
    attributes.set("kernel", std::vector<int64_t>{3, 3});
    if (op == Op::MaxPool) attributes.set("column_major", int64_t{0});
    return n.g.apply_all(op, {x}, std::move(attributes))[0];
  };
  const Value x = pooled(Op::MaxPool, first);
  Value y = n.g.relu(n.normalized(n.mixed(x, 16)));
  y = n.g.relu(n.normalized(n.blurred(y, 16)));
  y = n.g.relu(n.g.add(n.normalized(n.mixed(y, 24)), x));
  const Value both = n.g.concat({y, n.g.unary(Op::Sigmoid, x)}, 1);
  y = n.g.mul(n.blurred(both, 33), n.g.reduce(Op::ReduceMax, n.mixed(both, 33), {2, 3}));
  const Value last = n.mixed(pooled(Op::AveragePool, y), 20);
  n.g.set_outputs(
      {{"mean", n.g.reduce(Op::ReduceMean, last, {2, 3})},
       {"image", n.g.slice(last, {0, 3, 0, 0}, {kB, 5, last.shape()[2], 1}, {1, 2, 1, 1})}});
  return std::move(n.g);
}

TEST(ChannelsLast, NetworksGiveTheNumbersOfTheInterpreter) {
  for (const int64_t side : {22, 27}) {
    expect_interpreted(small_network(side), {{{"b", 1}}, {{"b", 2}}}, 5e-5);
  }
}

TEST(ChannelsLast, TheLayoutAndTheScalesOfWeightsCanBeSkipped) {
  const Graph g = small_network(22);
  const Tensors inputs = random_tensors(g, {{"b", 2}});
  const auto expected = graph::interpret(g, inputs);
  for (const std::string& skipped : {"channels_last", "scale_weights"}) {
    const auto actual = RunGraph(g, isas_here().back(), {skipped}).run(inputs);
    for (size_t i = 0; i < expected.size(); ++i)
      expect_close(actual[i], expected[i], 5e-5, skipped);
  }
}

TEST(ChannelsLast, TheStrategyChangesNoBit) {
  const Graph g = small_network(22);
  const Tensors inputs = random_tensors(g, {{"b", 2}});
  std::vector<std::vector<std::byte>> bits;
  for (const CpuIsa isa : isas_here()) {
    for (const OptStrategy& strategy :
         {OptStrategy(OptStrategy::Analytic{}), OptStrategy(OptStrategy::Plain{})}) {
      driver::Options options{.cpu = detect_cpu(isa)};
      options.optimizer = strategy;
      RunGraph compiled(g, options);
      for (const int threads : {1, 2}) {
        compiled.set_threads(threads);
        bits.push_back(compiled.run(inputs)[0].bytes);
        EXPECT_TRUE(bits.back() == bits.front()) << to_string(isa) << " threads " << threads;
      }
    }
  }
}

TEST(ChannelsLast, AnImageHasTheSameBitsInAnyBatch) {
  const Graph g = small_network(22);
  RunGraph compiled(g, isas_here().back());
  const Tensors inputs = random_tensors(g, {{"b", 5}});
  const graph::Tensor all = compiled.run(inputs)[0];
  Tensors last = inputs;
  graph::Tensor& x = last.at("x");
  const auto one = static_cast<std::ptrdiff_t>(x.bytes.size() / 5);
  x.shape[0] = 1;
  x.bytes.erase(x.bytes.begin(), x.bytes.end() - one);
  const graph::Tensor alone = compiled.run(last)[0];
  EXPECT_TRUE(std::ranges::equal(alone.bytes, std::span(all.bytes).last(alone.bytes.size())));
}

// A bottleneck of a residual network is a kernel for each convolution and nothing else.
TEST(ChannelsLast, ABlockIsAKernelForEachConvolution) {
  Network n;
  const Value x = n.g.relu(n.mixed(n.image({kB, 3, 14, 14}), 64));
  Value y = n.g.relu(n.normalized(n.mixed(x, 16)));
  y = n.g.relu(n.normalized(n.blurred(y, 16)));
  y = n.g.relu(n.g.add(n.normalized(n.mixed(y, 64)), x));
  n.g.set_outputs({{"y", n.g.reduce(Op::ReduceMean, y, {2, 3})}});
  const RunGraph run(n.g);
  EXPECT_EQ(run.program().steps.size(), 1U + 3U + 1U);
  // Weights are packed with their scales; nothing else of them is stored.
  int64_t weights = 0, stored = 0;
  for (const int64_t count : {64 * 16, 16 * 16 * 9, 16 * 64}) weights += count;
  for (const auto& packed : run.program().packed) stored += packed.bytes;
  EXPECT_LE(stored, 2 * weights * 4) << "narrow panels are padded to the width of a tile";
}

}  // namespace
}  // namespace tenon::graph_test
