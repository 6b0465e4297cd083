// Elementwise ops, reductions, quantization and random numbers where the node cases of ONNX say
// little: old opsets, com.microsoft, packed types, distributions. Expected values are worked out by
// hand.
#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <limits>

#include "base/error.h"
#include "tests/import/model_helpers.h"

namespace tenon::onnx {
namespace {

using Ints = std::vector<int64_t>;
using Floats = std::vector<float>;
using Attributes = std::vector<make_encoder::Attribute>;
constexpr int kUint8 = 2, kInt8 = 3, kFloat16 = 10, kUint4 = 21, kInt2 = 26;

struct Model {
  OnnxWriter w;
  std::map<std::string, graph::Tensor> inputs;
  explicit Model(int64_t opset) : w({{"", opset}, {"com.microsoft", 1}}) {}

  template <typename T>
  void input(const std::string& name, int type, const Ints& shape, const std::vector<T>& values) {
    w.input(name, type, {shape.begin(), shape.end()});
    inputs[name] = tensor(*dtype_from_onnx(type), shape, values);
  }
  std::vector<graph::Tensor> run(const std::string& op, const std::vector<std::string>& operands,
                                 const Attributes& attributes = {}, const std::string& domain = "",
                                 const std::vector<std::string>& results = {"y"}) {
    w.raw_node("n", op, operands, results, attributes, domain);
    for (const std::string& result : results) w.untyped_output(result);
    return interpret(import_writer(w), inputs);
  }
};

std::vector<double> numbers(const graph::Tensor& tensor) {
  std::vector<double> result;
  for (size_t at = 0; at < tensor.bytes.size(); at += static_cast<size_t>(size_of(tensor.dtype))) {
    result.push_back(load_as_f64(tensor.dtype, tensor.bytes.data() + at));
  }
  return result;
}

TEST(OldBroadcast, StartsAtTheAxis) {
  Model m(6);
  m.input<float>("x", kFloat, {2, 3}, {1, 2, 3, 4, 5, 6});
  m.input<float>("b", kFloat, {2}, {10, 20});
  EXPECT_EQ(numbers(m.run("Add", {"x", "b"}, {{"broadcast", int64_t{1}}, {"axis", int64_t{0}}})[0]),
            (std::vector<double>{11, 12, 13, 24, 25, 26}));
}

TEST(Clip, HasItsBoundsAsAttributesInOldOpsets) {
  Model m(6);
  m.input<float>("x", kFloat, {3}, {-2, 0.5, 7});
  EXPECT_EQ(numbers(m.run("Clip", {"x"}, {{"max", 1.0f}})[0]), (std::vector<double>{-2, 0.5, 1}));
}

TEST(PRelu, OfOldOpsetsHasASlopePerChannel) {
  Model m(6);
  m.input<float>("x", kFloat, {1, 2, 1, 2}, {-1, 1, -1, 1});
  m.input<float>("slope", kFloat, {2}, {0.5, 0.25});
  EXPECT_EQ(numbers(m.run("PRelu", {"x", "slope"})[0]), (std::vector<double>{-0.5, 1, -0.25, 1}));
}

TEST(Pow, TruncatesToTheDtypeOfItsBase) {
  Model m(15);
  m.input<int32_t>("x", kInt32, {3}, {2, 3, -2});
  m.input<float>("e", kFloat, {3}, {0.5, 2, 3});
  EXPECT_EQ(numbers(m.run("Pow", {"x", "e"})[0]), (std::vector<double>{1, 9, -8}));
}

TEST(Gemm, OfIntegersTakesFractionsOfThem) {
  Model m(13);
  m.input<int32_t>("a", kInt32, {1, 2}, {3, 4});
  m.input<int32_t>("b", kInt32, {2, 1}, {1, 1});
  EXPECT_EQ(numbers(m.run("Gemm", {"a", "b"}, {{"alpha", 0.5f}})[0]), (std::vector<double>{3}));
}

TEST(Elu, IsExactNearZero) {
  Model m(16);
  m.input<float>("x", kFloat, {2}, {-1e-6f, std::numeric_limits<float>::quiet_NaN()});
  const std::vector<double> y = numbers(m.run("Elu", {"x"})[0]);
  EXPECT_NEAR(y[0], -1e-6, 1e-11);
  EXPECT_TRUE(std::isnan(y[1]));
}

TEST(ReduceL1, OverNoAxesStillTakesMagnitudes) {
  Model m(18);
  m.input<float>("x", kFloat, {2}, {-1, 2});
  EXPECT_EQ(numbers(m.run("ReduceL1", {"x"}, {{"noop_with_empty_axes", int64_t{1}}})[0]),
            (std::vector<double>{1, 2}));
}

TEST(ReduceLogSumExp, OfInfinitiesAndNothing) {
  const float inf = std::numeric_limits<float>::infinity();
  Model m(18);
  m.input<float>("x", kFloat, {3, 2}, {1000, 1000, -inf, -inf, inf, 0});
  m.input<int64_t>("axes", kInt64, {1}, {1});
  const std::vector<double> y =
      numbers(m.run("ReduceLogSumExp", {"x", "axes"}, {{"keepdims", int64_t{0}}})[0]);
  EXPECT_NEAR(y[0], 1000 + std::log(2.0), 1e-3);
  EXPECT_EQ(y[1], -inf);
  EXPECT_EQ(y[2], inf);
}

TEST(Initializer, OfPackedTypesIsUnpackedLowBitsFirst) {
  Model m(25);
  m.w.tensor("a", kUint4, {3}, std::string("\x21\x0f", 2));
  m.w.tensor("b", kInt2, {5}, std::string("\xe4\x01", 2));
  m.w.raw_node("n", "Cast", {"a"}, {"y"}, {{"to", int64_t{kFloat}}});
  EXPECT_EQ(numbers(m.run("Cast", {"b"}, {{"to", int64_t{kFloat}}}, "", {"z"})[0]),
            (std::vector<double>{0, 1, -2, -1, 1}));
  m.w.untyped_output("y");
  EXPECT_EQ(numbers(interpret(import_writer(m.w), {})[1]), (std::vector<double>{1, 2, 15}));
}

TEST(Initializer, OfAPackedTypeMustHaveItsBytes) {
  Model m(25);
  m.w.tensor("a", kUint4, {5}, std::string("\x21\x0f", 2));
  EXPECT_THROW(m.run("Cast", {"a"}, {{"to", int64_t{kFloat}}}), Error);
}

TEST(QuantizeLinear, CutsTheLastBlock) {
  Model m(21);
  m.input<float>("x", kFloat, {5}, {1, 2, 3, 4, 300});
  m.input<float>("scale", kFloat, {3}, {1, 2, 1});
  m.input<uint8_t>("zero", kUint8, {3}, {0, 10, 0});
  const Attributes attributes{{"axis", int64_t{0}}, {"block_size", int64_t{2}}};
  EXPECT_EQ(numbers(m.run("QuantizeLinear", {"x", "scale", "zero"}, attributes)[0]),
            (std::vector<double>{1, 2, 12, 12, 255}));
}

TEST(DynamicQuantizeMatMul, IsTheProductWithinOneStep) {
  Model m(13);
  m.input<float>("x", kFloat, {1, 2}, {0, 255});
  m.input<int8_t>("b", kInt8, {2, 2}, {1, 2, 3, 4});
  m.input<float>("scale", kFloat, {2}, {1, 0.5});
  m.input<float>("bias", kFloat, {2}, {1, 0});
  EXPECT_EQ(numbers(m.run("DynamicQuantizeMatMul", {"x", "b", "scale", "", "bias"}, {},
                          "com.microsoft")[0]),
            (std::vector<double>{766, 510}));
}

TEST(MatMulIntegerToFloat, ScalesColumns) {
  Model m(13);
  m.input<uint8_t>("a", kUint8, {1, 2}, {3, 4});
  m.input<int8_t>("b", kInt8, {2, 2}, {1, 2, 3, 4});
  m.input<float>("sa", kFloat, {}, {0.5});
  m.input<float>("sb", kFloat, {2}, {1, 10});
  m.input<uint8_t>("za", kUint8, {}, {1});
  EXPECT_EQ(
      numbers(m.run("MatMulIntegerToFloat", {"a", "b", "sa", "sb", "za"}, {}, "com.microsoft")[0]),
      (std::vector<double>{5.5, 80}));
}

TEST(QLinearAdd, AddsWhatTheNumbersStandFor) {
  Model m(13);
  m.input<uint8_t>("a", kUint8, {3}, {130, 128, 255});
  m.input<uint8_t>("b", kUint8, {3}, {4, 0, 255});
  m.w.scalar("sa", 0.5f), m.w.scalar("sb", 0.25f), m.w.scalar("sc", 1.0f);
  m.input<uint8_t>("za", kUint8, {}, {128});
  m.input<uint8_t>("zc", kUint8, {}, {10});
  const std::vector<std::string> operands{"a", "sa", "za", "b", "sb", "", "sc", "zc"};
  EXPECT_EQ(numbers(m.run("QLinearAdd", operands, {}, "com.microsoft")[0]),
            (std::vector<double>{12, 10, 137}));  // 63.5 + 63.75 = 127.25
}

TEST(QLinearConcat, BringsItsPartsToOneScale) {
  Model m(13);
  m.input<uint8_t>("a", kUint8, {2}, {2, 4});
  m.input<uint8_t>("b", kUint8, {1}, {13});
  m.w.scalar("sa", 0.5f), m.w.scalar("sb", 2.0f), m.w.scalar("sy", 1.0f);
  m.input<uint8_t>("z", kUint8, {}, {0});
  m.input<uint8_t>("zb", kUint8, {}, {3});
  EXPECT_EQ(numbers(m.run("QLinearConcat", {"sy", "z", "a", "sa", "z", "b", "sb", "zb"},
                          {{"axis", int64_t{0}}}, "com.microsoft")[0]),
            (std::vector<double>{1, 2, 20}));
}

TEST(QLinearGlobalAveragePool, AveragesThePlanes) {
  Model m(13);
  m.input<uint8_t>("x", kUint8, {1, 1, 2, 2}, {1, 2, 3, 6});
  m.w.scalar("sx", 2.0f), m.w.scalar("sy", 1.0f);
  m.input<uint8_t>("z", kUint8, {}, {1});
  EXPECT_EQ(numbers(m.run("QLinearGlobalAveragePool", {"x", "sx", "z", "sy", "z"}, {},
                          "com.microsoft")[0]),
            (std::vector<double>{5}));
}

// Two rows of 16 weights in blocks of 16: codes 0 .. 15 of the first row, all 9 in the second.
TEST(MatMulNBits, UnpacksTheLowBitsFirst) {
  std::vector<uint8_t> packed;
  for (int i = 0; i < 16; i += 2) packed.push_back(static_cast<uint8_t>(i | ((i + 1) << 4)));
  packed.insert(packed.end(), 8, 0x99);
  const Attributes attributes{
      {"K", int64_t{16}}, {"N", int64_t{2}}, {"bits", int64_t{4}}, {"block_size", int64_t{16}}};
  Floats a(16, 1);
  a[0] = 3;
  for (const bool zero : {false, true}) {
    Model m(13);
    m.input<float>("a", kFloat, {1, 16}, a);
    m.input<uint8_t>("b", kUint8, {2, 1, 8}, packed);
    m.input<float>("scales", kFloat, {2}, {0.5, 2});
    m.input<uint8_t>("zeros", kUint8, {2}, {1, 9});
    std::vector<std::string> operands{"a", "b", "scales"};
    if (zero) operands.emplace_back("zeros");
    const std::vector<double> y =
        numbers(m.run("MatMulNBits", operands, attributes, "com.microsoft")[0]);
    // sum of codes 120; with zero z: (3 * (0 - z) + 120 - 15 * z) / 2, and 18 * (9 - z) * 2
    EXPECT_EQ(y, zero ? (std::vector<double>{51, 0}) : (std::vector<double>{-12, 36}));
  }
}

TEST(Bernoulli, HitsWithItsProbability) {
  Model m(15);
  m.input<float>("p", kFloat, {3, 5000}, [] {
    Floats p(15000, 0);
    std::fill_n(p.begin() + 5000, 5000, 0.25f);
    std::fill_n(p.begin() + 10000, 5000, 1.0f);
    return p;
  }());
  const std::vector<double> y = numbers(m.run("Bernoulli", {"p"}, {{"seed", 3.0f}})[0]);
  const auto hits = [&](int row) {
    return std::count(y.begin() + 5000 * row, y.begin() + 5000 * (row + 1), 1.0);
  };
  EXPECT_EQ(hits(0), 0);
  EXPECT_NEAR(static_cast<double>(hits(1)), 1250, 100);
  EXPECT_EQ(hits(2), 5000);
}

TEST(Multinomial, DrawsClassesByTheirProbability) {
  Model m(15);
  const float none = -std::numeric_limits<float>::infinity();
  m.input<float>("p", kFloat, {1, 3}, {std::log(0.75f), none, std::log(0.25f)});
  const std::vector<double> y =
      numbers(m.run("Multinomial", {"p"}, {{"sample_size", int64_t{5000}}})[0]);
  EXPECT_NEAR(static_cast<double>(std::ranges::count(y, 0.0)), 3750, 150);
  EXPECT_EQ(std::ranges::count(y, 1.0), 0);
}

TEST(Dropout, ScalesWhatItKeepsAndSaysSo) {
  Model m(13);
  m.input<float>("x", kFloat, {4000}, Floats(4000, 3));
  m.input<float>("ratio", kFloat, {}, {0.25});
  m.input<uint8_t>("training", kBool, {}, {1});
  const auto results =
      m.run("Dropout", {"x", "ratio", "training"}, {{"seed", int64_t{1}}}, "", {"y", "mask"});
  const std::vector<double> y = numbers(results[0]), mask = numbers(results[1]);
  EXPECT_NEAR(static_cast<double>(std::ranges::count(mask, 1.0)), 3000, 120);
  for (size_t i = 0; i < y.size(); ++i) ASSERT_EQ(y[i], mask[i] == 1 ? 4 : 0);
  m.inputs["training"].bytes[0] = std::byte{0};
  EXPECT_EQ(numbers(interpret(import_writer(m.w), m.inputs)[0]), std::vector<double>(4000, 3));
}

TEST(RandomUniform, OfTwoNodesDiffers) {
  Model m(15);
  m.w.raw_node("a", "RandomUniform", {}, {"a"}, {{"shape", Ints{8}}, {"seed", 1.0f}});
  m.w.untyped_output("a");
  const auto results = m.run("RandomUniform", {}, {{"shape", Ints{8}}, {"seed", 1.0f}});
  EXPECT_NE(numbers(results[0]), numbers(results[1]));
}

TEST(HalfFloats, AreRoundedOnce) {
  Model m(22);
  m.input<uint16_t>("x", kFloat16, {1}, {f32_to_f16(2.5f)});
  const float expected = 2.5f * std::tanh(std::log1p(std::exp(2.5f)));
  EXPECT_EQ(numbers(m.run("Mish", {"x"})[0])[0], f16_to_f32(f32_to_f16(expected)));
}

}  // namespace
}  // namespace tenon::onnx
