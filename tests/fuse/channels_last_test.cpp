// Which images lie with their channels innermost: those that convolutions of many channels read,
// and what goes with them; never what a caller sees.
#include <gtest/gtest.h>

#include "fuse/fuse.h"

namespace tenon::fuse {
namespace {

using namespace graph;

const Dim kBatch = Symbol("batch", {1, 64});

class ChannelsLast : public ::testing::Test {
 protected:
  Graph g;
  int weights = 0;

  Value image(const std::string& name, int64_t channels, Dim side = 14) {
    return g.input(name, {{kBatch, channels, side, side}, DType::F32});
  }
  // 3x3, padded so that the image keeps its size.
  Value conv(Value x, int64_t channels, int64_t groups = 1) {
    const Dim in = floordiv(x.shape()[1], groups);
    const Value w = g.param("w" + std::to_string(weights++), {{channels, in, 3, 3}, DType::F32});
    return g.apply(Op::Conv, {x, w},
                   {{"extents", std::vector<Dim>{x.shape()[2], x.shape()[3]}},
                    {"begins", std::vector<Dim>{1, 1}},
                    {"strides", std::vector<int64_t>{1, 1}},
                    {"dilations", std::vector<int64_t>{1, 1}},
                    {"groups", groups}});
  }
  Value pool(Value x) {
    const std::vector<int64_t> two{2, 2};
    return g.apply_all(Op::MaxPool, {x},
                       {{"extents", std::vector<Dim>{7, 7}},
                        {"begins", std::vector<Dim>{0, 0}},
                        {"strides", two},
                        {"dilations", std::vector<int64_t>{1, 1}},
                        {"kernel", two},
                        {"column_major", int64_t{0}}})[0];
  }
  Regions regions(Value output) {
    g.set_outputs({{"y", output}});
    Regions r = partition(g);
    channels_last(g, r);
    return r;
  }
};

TEST_F(ChannelsLast, AnImageThatAConvolutionOfManyChannelsReads) {
  const Value a = g.relu(conv(image("x", 3), 32)), y = conv(a, 64);
  const Regions r = regions(y);
  EXPECT_TRUE(r.channels_last.contains(a));
  EXPECT_FALSE(r.channels_last.contains(y)) << "the caller sees it";
  // [batch, 32, 14, 14]: channels side by side, then columns, rows, images.
  EXPECT_EQ(strides_of(r, a), (std::vector<Dim>{14 * 14 * 32, 1, 14 * 32, 32}));
  EXPECT_EQ(strides_of(r, y), (std::vector<Dim>{14 * 14 * 64, 14 * 14, 14, 1}));
}

TEST_F(ChannelsLast, InputsStayAsTheyAreAndSoDoesWhatTheirReadersMake) {
  EXPECT_TRUE(regions(conv(g.relu(conv(image("x", 3), 8)), 64)).channels_last.empty());
  EXPECT_TRUE(regions(conv(image("z", 32), 64)).channels_last.empty());
}

TEST_F(ChannelsLast, PoolsResidualsAndConcatsGoWithThem) {
  const Value first = conv(image("x", 3), 32), pooled = pool(first);
  const Value inner = g.relu(conv(pooled, 32)), sum = g.relu(g.add(conv(inner, 32), pooled));
  const Value joined = g.concat({sum, inner}, 1);
  const Value mean = g.reduce(Op::ReduceMean, conv(joined, 48), {2, 3});
  const Regions r = regions(mean);
  for (const Value& value : {first, pooled, inner, sum, joined, mean.node->operand(0)})
    EXPECT_TRUE(r.channels_last.contains(value)) << info(value.op()).text;
  EXPECT_FALSE(r.channels_last.contains(mean));
}

TEST_F(ChannelsLast, GroupsAndReadersAlongTheLastAxisRefuse) {
  const Value a = conv(image("x", 3), 32);
  EXPECT_TRUE(regions(g.add(conv(a, 32), conv(a, 32, 32))).channels_last.empty());
  const Value b = conv(image("z", 3), 32);
  EXPECT_TRUE(regions(g.add(conv(b, 32), g.softmax(b, 3))).channels_last.empty());
  // What a grouped convolution makes stays as it is; another one reads it as it always did.
  EXPECT_TRUE(regions(conv(conv(image("u", 32), 32, 2), 16)).channels_last.empty());
}

TEST_F(ChannelsLast, WeightsThatAreDataAndExtentsThatAreSymbolsAreLeftAlone) {
  const Dim side = Symbol("side", {1, 64});
  EXPECT_TRUE(regions(conv(conv(image("x", 3, side), 32), 32)).channels_last.empty());
  const Value a = conv(image("z", 3), 32);
  const Value w = g.input("data", {{32, 32, 3, 3}, DType::F32});
  Attributes attributes = conv(a, 32).node->attributes();
  EXPECT_TRUE(regions(g.apply(Op::Conv, {a, w}, std::move(attributes))).channels_last.empty());
}

TEST_F(ChannelsLast, BytesOfOthersStayAsTheyAre) {
  const Value a = g.relu(conv(image("x", 3, 7), 32)), b = g.relu(conv(image("z", 3, 7), 32));
  const Value rows = g.concat({a, b}, 0);
  const Regions r = regions(conv(rows, 32));
  ASSERT_FALSE(r.places.empty());
  EXPECT_TRUE(r.channels_last.empty());
}

}  // namespace
}  // namespace tenon::fuse
