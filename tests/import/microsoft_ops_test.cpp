// Ops of com.microsoft: answers known by hand, and nodes that must be refused with an error of the
// right kind. Numbers are compared with ONNX Runtime by tests/python/compare_ops_ort.py.
#include <gtest/gtest.h>

#include <cmath>
#include <limits>

#include "tests/import/one_node.h"

namespace tenon::onnx {
namespace {

constexpr float kNaN = std::numeric_limits<float>::quiet_NaN();
constexpr int64_t kHuge = std::numeric_limits<int64_t>::max();

graph::Tensor i32(Ints shape, const std::vector<int32_t>& values) {
  return tensor<int32_t>(DType::I32, std::move(shape), values);
}
graph::Tensor u8(Ints shape, const std::vector<uint8_t>& values) {
  return tensor<uint8_t>(DType::U8, std::move(shape), values);
}
graph::Tensor u8s(const Ints& shape) {
  int64_t count = 1;
  for (int64_t extent : shape) count *= extent;
  return u8(shape, std::vector<uint8_t>(static_cast<size_t>(count), 1));
}
graph::Tensor f32s(const Ints& shape) {
  int64_t count = 1;
  for (int64_t extent : shape) count *= extent;
  return f32(shape, Floats(static_cast<size_t>(count), 1));
}

Node microsoft(const std::string& op, Names inputs, Attributes attributes = {},
               Names outputs = {"y"}) {
  return {op, "com.microsoft", 21, std::move(inputs), std::move(attributes), std::move(outputs)};
}

void expect_error(const Node& node, const Inputs& in, ErrorKind kind, const std::string& part) {
  try {
    node.import(in);
    ADD_FAILURE() << node.op << " was imported";
  } catch (const Error& error) {
    EXPECT_EQ(error.kind(), kind) << error.what();
    EXPECT_NE(std::string(error.what()).find(part), std::string::npos) << error.what();
    EXPECT_NE(std::string(error.what()).find(node.op), std::string::npos) << error.what();
  }
}

// q = k = (1, 0) and v = (second element, 0), of tokens (1, second).
const Floats kWeights = {1, 0, 1, 0, 0, 0, 0, 0, 0, 0, 1, 0};

TEST(FusedAttention, TurnsQueriesAndKeysByTheirPositions) {
  const Node node =
      microsoft("Attention", {"x", "w"},
                {{"num_heads", int64_t{1}}, {"do_rotary", int64_t{1}}, {"scale", 1.0f}});
  const Floats y = node({{"x", f32({1, 2, 2}, {1, 0, 1, 1})}, {"w", f32({2, 6}, kWeights)}});
  const float near = std::exp(1.0f), far = std::exp(std::cos(1.0f));  // scores: cos of the distance
  EXPECT_NEAR(y[0], far / (near + far), 1e-5);
  EXPECT_NEAR(y[2], near / (near + far), 1e-5);
}

const Attributes kShared = {{"num_heads", int64_t{1}}, {"past_present_share_buffer", int64_t{1}}};

Inputs shared_buffer(int32_t before) {
  return {{"x", f32({1, 1, 1}, {4})},
          {"w", f32({1, 3}, {0, 0, 1})},
          {"past", f32({2, 1, 1, 3, 1}, {0, kNaN, kNaN, 2, kNaN, kNaN})},
          {"n", i32({1}, {before})}};
}

TEST(FusedAttention, WritesIntoTheRoomOfItsBuffer) {
  const Node node =
      microsoft("Attention", {"x", "w", "", "", "past", "", "n"}, kShared, {"y", "p"});
  const std::vector<graph::Tensor> out = node.run(shared_buffer(1));
  EXPECT_EQ(values<float>(out[0]), (Floats{3}));  // what lies behind is not read
  EXPECT_EQ(out[1].shape, (Ints{2, 1, 1, 3, 1}));
  EXPECT_EQ(values<float>(out[1])[4], 4);
  EXPECT_TRUE(std::isnan(values<float>(out[1])[5]));
  EXPECT_EQ(values<float>(node.run(shared_buffer(0))[0]), (Floats{4}));
  EXPECT_THROW(node.run(shared_buffer(3)), Error);
  EXPECT_THROW(node.run(shared_buffer(-1)), Error);
}

TEST(FusedAttention, WantsBufferAndLengthTogether) {
  Inputs in = shared_buffer(1);
  expect_error(microsoft("Attention", {"x", "w", "", "", "past"}, kShared), in, ErrorKind::User,
               "come together");
  expect_error(
      microsoft("Attention", {"x", "w", "", "", "past", "", "n"}, {{"num_heads", int64_t{1}}}), in,
      ErrorKind::User, "come together");
  in["n"] = i32({2}, {1, 1});
  expect_error(microsoft("Attention", {"x", "w", "", "", "past", "", "n"}, kShared), in,
               ErrorKind::User, "one integer");
}

TEST(FusedAttention, RejectsSizesThatDoNotFit) {
  const Inputs in = {{"x", f32s({1, 2, 2})}, {"w", f32s({2, 6})}};
  const auto sizes = [](Ints parts) {
    return microsoft("Attention", {"x", "w"},
                     {{"num_heads", int64_t{1}}, {"qkv_hidden_sizes", parts}});
  };
  expect_error(sizes({2, 2}), in, ErrorKind::User, "sizes");
  expect_error(sizes({-2, -2, 10}), in, ErrorKind::User, "sizes");
  expect_error(sizes({kHuge, kHuge, 8}), in, ErrorKind::User, "sizes");
  const auto rotary = [](int64_t width) {
    return microsoft(
        "Attention", {"x", "w"},
        {{"num_heads", int64_t{1}}, {"do_rotary", int64_t{1}}, {"rotary_embedding_dim", width}});
  };
  expect_error(rotary(-2), in, ErrorKind::User, "rotary_embedding_dim");
  expect_error(rotary(kHuge), in, ErrorKind::User, "rotary_embedding_dim");
  expect_error(rotary(3), in, ErrorKind::User, "rotary_embedding_dim");
  expect_error(microsoft("Attention", {"x", "w"}, {{"num_heads", kHuge}}), in, ErrorKind::User,
               "heads");
}

TEST(GroupQueryAttention, RefusesCachesItDoesNotKnow) {
  const Inputs in = {{"q", f32s({1, 1, 2})}, {"k", f32s({1, 1, 2})},   {"pk", u8s({1, 1, 3, 2})},
                     {"n", i32({1}, {1})},   {"total", i32({1}, {2})}, {"s", f32s({1})},
                     {"flat", f32s({1, 3})}, {"odd", f32s({2, 2})}};
  const auto node = [](Names scales, Attributes more, const std::string& past) {
    Names inputs = {"q", "k", "k", past, past, "n", "total", "", "", "", "", ""};
    inputs.insert(inputs.end(), scales.begin(), scales.end());
    more.push_back({"num_heads", int64_t{1}});
    more.push_back({"kv_num_heads", int64_t{1}});
    return microsoft("GroupQueryAttention", inputs, more);
  };
  const Attributes quantized = {{"k_quant_type", std::string("PER_TENSOR")},
                                {"v_quant_type", std::string("PER_TENSOR")}};
  expect_error(node({"s", "s"}, quantized, "pk"), in, ErrorKind::Unsupported, "kv_cache_bit_width");
  expect_error(node({}, quantized, "pk"), in, ErrorKind::Unsupported, "without a scale");
  expect_error(node({"s", "s"}, {}, "pk"), in, ErrorKind::User, "NONE");
  expect_error(node({"odd", "odd"}, quantized, "pk"), in, ErrorKind::User, "scale");
  expect_error(node({}, {{"k_quant_type", std::string("PER_MOON")}}, "pk"), in, ErrorKind::User,
               "PER_MOON");
  expect_error(node({}, {}, "flat"), in, ErrorKind::User, "four axes");
  expect_error(node({}, {{"sliding_window_cache", int64_t{1}}}, "pk"), in, ErrorKind::Unsupported,
               "sliding_window_cache");
}

TEST(MatMulNBits, RejectsShapesThatAreNone) {
  const Inputs in = {
      {"a", f32s({2, 16})}, {"b", u8s({4, 1, 8})}, {"s", f32s({4, 1})}, {"i", i32({1}, {0})}};
  const auto node = [](int64_t n, int64_t k, int64_t bits, int64_t block, Names inputs) {
    return microsoft("MatMulNBits", std::move(inputs),
                     {{"N", n}, {"K", k}, {"bits", bits}, {"block_size", block}});
  };
  const Names plain = {"a", "b", "s"};
  EXPECT_EQ(node(4, 16, 4, 16, plain).run(in)[0].shape, (Ints{2, 4}));
  for (const int64_t bad : {int64_t{-1}, int64_t{0}, kHuge}) {
    expect_error(node(bad, 16, 4, 16, plain), in, ErrorKind::User, "no shape");
    expect_error(node(4, bad, 4, 16, plain), in, ErrorKind::User, "no shape");
    expect_error(node(4, 16, 4, bad, plain), in, ErrorKind::User, "no shape");
    expect_error(node(4, 16, bad, 16, plain), in, ErrorKind::Unsupported, "bits");
  }
  expect_error(node(4, 16, 4, 16, {"a", "a", "s"}), in, ErrorKind::User, "u8");
  expect_error(node(4, 16, 4, 16, {"a", "b", "b"}), in, ErrorKind::User, "floats");
  EXPECT_THROW(node(8, 16, 4, 16, plain).import(in), Error);  // more rows than bytes
  EXPECT_THROW(node(4, 16, 4, 16, {"a", "b", "s", "", "i"}).import(in), Error);  // too few groups
}

TEST(GatherBlockQuantized, RejectsBlocksThatDoNotFit) {
  const Inputs in = {
      {"t", u8s({6, 8})}, {"i", i32({2}, {0, 1})}, {"s", f32s({6, 1})}, {"v", f32s({6})}};
  const auto node = [](Names inputs, int64_t axis, int64_t block) {
    return microsoft("GatherBlockQuantized", std::move(inputs),
                     {{"gather_axis", int64_t{0}}, {"quantize_axis", axis}, {"block_size", block}});
  };
  EXPECT_EQ(node({"t", "i", "s"}, 1, 16).run(in)[0].shape, (Ints{2, 16}));
  expect_error(node({"t", "i", "s"}, 1, -16), in, ErrorKind::Unsupported, "block_size");
  expect_error(node({"t", "i", "s"}, 1, kHuge), in, ErrorKind::Unsupported, "block_size");
  expect_error(node({"t", "i", "s"}, 7, 16), in, ErrorKind::User, "axis");
  expect_error(node({"t", "i", "v"}, 1, 16), in, ErrorKind::User, "scales");
}

TEST(FusedConv, KnowsItsActivations) {
  const Inputs in = {{"x", f32({1, 1, 1, 2}, {-2, 3})}, {"w", f32({1, 1, 1, 1}, {1})}};
  const auto node = [](const std::string& name, const std::vector<float>& parameters) {
    return microsoft("FusedConv", {"x", "w"},
                     {{"activation", name}, {"activation_params", parameters}});
  };
  EXPECT_EQ(node("Clip", {-1, 1})(in), (Floats{-1, 1}));
  EXPECT_EQ(node("LeakyRelu", {0.5f})(in), (Floats{-1, 3}));
  EXPECT_EQ(node("Relu", {})(in), (Floats{0, 3}));
  expect_error(node("Sparkle", {}), in, ErrorKind::Unsupported, "Sparkle");
  expect_error(node("Relu", {1}), in, ErrorKind::User, "parameters");
}

TEST(FusedGroupNorm, RejectsGroupsThatDoNotDivide) {
  const Inputs in = {{"x", f32s({1, 2, 2, 6})}, {"w", f32s({6})}, {"flat", f32s({2, 6})}};
  const auto node = [](int64_t groups, const std::string& x) {
    return microsoft("GroupNorm", {x, "w", "w"}, {{"groups", groups}, {"activation", int64_t{0}}});
  };
  for (const int64_t bad : {int64_t{-1}, int64_t{0}, int64_t{4}, kHuge}) {
    expect_error(node(bad, "x"), in, ErrorKind::User, "groups");
  }
  expect_error(node(2, "flat"), in, ErrorKind::User, "image");
}

TEST(PackedAttention, RejectsTokensOfAnotherRank) {
  const Inputs in = {{"x", f32s({3, 2})},     {"w", f32s({2, 6})},
                     {"b", f32s({6})},        {"o", i32({1, 3}, {0, 1, 2})},
                     {"n", i32({2}, {0, 3})}, {"x3", f32s({1, 3, 2})}};
  const auto node = [](const std::string& x, const std::string& o, const std::string& n) {
    return microsoft("PackedAttention", {x, "w", "b", o, n}, {{"num_heads", int64_t{1}}});
  };
  EXPECT_EQ(node("x", "o", "n").run(in)[0].shape, (Ints{3, 2}));
  expect_error(node("x3", "o", "n"), in, ErrorKind::User, "tokens");
  expect_error(node("x", "n", "n"), in, ErrorKind::User, "offsets");
  expect_error(node("x", "x", "n"), in, ErrorKind::User, "offsets");
  expect_error(node("x", "o", "o"), in, ErrorKind::User, "vector");
}

TEST(RelativePositionBias, RejectsDistancesBeyondItsLimit) {
  const Inputs in = {{"t", f32s({8, 2})}, {"n", tensor<int64_t>(DType::I64, {1}, {3})}};
  const auto node = [](int64_t most) {
    return microsoft("RelativePositionBias", {"t", "n", "n"}, {{"max_distance", most}});
  };
  EXPECT_EQ(node(16).run(in)[0].shape, (Ints{1, 2, 3, 3}));
  for (const int64_t bad : {int64_t{-1}, int64_t{0}, int64_t{2}, kHuge}) {
    expect_error(node(bad), in, ErrorKind::User, "max_distance");
  }
}

TEST(QuantizedGemm, RejectsWhatIsNoMatrix) {
  const Inputs in = {{"a", u8s({2, 3})}, {"s", f32({}, {1})}, {"z", u8({}, {0})}, {"v", u8s({3})}};
  expect_error(microsoft("QGemm", {"v", "s", "z", "a", "s", "z"}), in, ErrorKind::User, "matrix");
  EXPECT_THROW(microsoft("QGemm", {"a", "s", "z", "a", "s", "z"}).import(in), Error);
}

TEST(MicrosoftOps, NameAttributesTheyDoNotKnow) {
  expect_error(microsoft("BiasAdd", {"x", "x", "x"}, {{"sparkle", int64_t{1}}}), {{"x", f32s({2})}},
               ErrorKind::Unsupported, "sparkle");
}

}  // namespace
}  // namespace tenon::onnx
