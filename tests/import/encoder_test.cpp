// Whole encoders in each form that exporters write: they import symbolically to the last op and
// compute the same.
#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>

#include "tests/import/model_helpers.h"

namespace tenon::onnx {
namespace {

using graph::Op;

class EncoderForms : public testing::TestWithParam<Form> {};

TEST_P(EncoderForms, ImportWithBatchAndSeqSymbolicToTheLastOp) {
  const graph::Graph g = import_text(make_encoder::encoder_model(small_encoder(GetParam())));
  ASSERT_EQ(g.outputs().size(), 1u);
  EXPECT_EQ(g.outputs()[0].name, "last_hidden_state");
  EXPECT_EQ(g.outputs()[0].value.type().to_string(), "f32[batch, seq, 64]");
  for (const graph::Node* node : g.topological()) {
    for (const TensorType& type : node->types()) {
      for (const Dim& dim : type.shape) {
        for (const Symbol& symbol : dim.symbols()) {
          EXPECT_TRUE(symbol.name() == "batch" || symbol.name() == "seq") << type.to_string();
        }
      }
    }
  }
}

TEST_P(EncoderForms, LeaveNoShapeArithmetic) {
  const graph::Graph g = import_text(make_encoder::encoder_model(small_encoder(GetParam())));
  for (const graph::Node* node : g.topological()) {
    EXPECT_NE(node->op(), Op::Dims);
    const bool leaf = has(node->op(), graph::kLeaf);
    EXPECT_TRUE(leaf || !node->shape_value()) << info(node->op()).text;
  }
}

TEST_P(EncoderForms, LearnFromThePositionTableHowLongSeqMayBe) {
  const graph::Graph g = import_text(make_encoder::encoder_model(small_encoder(GetParam())));
  EXPECT_EQ(g.outputs()[0].value.shape()[1].bounds(), (Bounds{1, 32}));
  for (const Constraint& fact : g.constraints()) ADD_FAILURE() << fact.to_string();
}

TEST_P(EncoderForms, NameTheOnnxNodeEachOpCameFrom) {
  const graph::Graph g = import_text(make_encoder::encoder_model(small_encoder(GetParam())));
  for (const graph::Node* node : g.topological()) {
    EXPECT_TRUE(node->op() == Op::Input || !g.origin(node).empty()) << info(node->op()).text;
  }
}

INSTANTIATE_TEST_SUITE_P(All, EncoderForms,
                         testing::Values(Form::Decomposed, Form::Opset17, Form::Fused));

// Right-padded rows: two sequences, the second with two keys masked.
std::vector<float> run_encoder(Form form) {
  const graph::Graph g = import_text(make_encoder::encoder_model(small_encoder(form)));
  const std::vector<int64_t> shape = {2, 5};
  const auto i64 = [&](std::vector<int64_t> values) { return tensor(DType::I64, shape, values); };
  return values<float>(interpret(g, {{"input_ids", i64({5, 17, 99, 0, 3, 8, 8, 41, 2, 60})},
                                     {"attention_mask", i64({1, 1, 1, 1, 1, 1, 1, 1, 0, 0})},
                                     {"token_type_ids", i64({0, 0, 1, 1, 1, 0, 0, 0, 0, 0})}})[0]);
}

double worst_difference(const std::vector<float>& a, const std::vector<float>& b) {
  EXPECT_EQ(a.size(), b.size());
  double worst = 0;
  for (size_t i = 0; i < std::min(a.size(), b.size()); ++i) {
    worst = std::max<double>(worst, std::isnan(a[i] - b[i]) ? 1e30 : std::abs(a[i] - b[i]));
  }
  return worst;
}

TEST(EncoderNumerics, FusedAndNewerExportsComputeWhatTheDecomposedOneDoes) {
  const std::vector<float> decomposed = run_encoder(Form::Decomposed);
  ASSERT_EQ(decomposed.size(), 2u * 5 * 64);
  EXPECT_LT(worst_difference(decomposed, run_encoder(Form::Opset17)), 1e-5);
  EXPECT_LT(worst_difference(decomposed, run_encoder(Form::Fused)), 1e-5);
}

TEST(EncoderModel, HasTheSameBytesEveryTime) {
  const EncoderOptions options = small_encoder(Form::Decomposed);
  EXPECT_EQ(make_encoder::encoder_model(options), make_encoder::encoder_model(options));
  EncoderOptions other = options;
  other.seed = 8;
  EXPECT_NE(make_encoder::encoder_model(options), make_encoder::encoder_model(other));
}

TEST(ImportOptions, NarrowTheBoundsOfASymbol) {
  const std::string model = make_encoder::encoder_model(small_encoder(Form::Decomposed));
  const graph::Graph g = import_text(model, {.dim_bounds = {{"seq", {2, 16}}}});
  EXPECT_EQ(g.outputs()[0].value.shape()[1].bounds(), (Bounds{2, 16}));
}

TEST(Initializers, AboveFourKilobytesBecomeParametersThatPointIntoTheFile) {
  auto owner =
      std::make_shared<std::string>(make_encoder::encoder_model(small_encoder(Form::Decomposed)));
  const auto bytes = std::as_bytes(std::span(*owner));
  const graph::Graph g = import_bytes(bytes, owner, "test.onnx");
  const graph::Data* words = g.param_data("word_embeddings");
  ASSERT_NE(words, nullptr);
  EXPECT_EQ(words->bytes.size(), 100u * 64 * 4);
  EXPECT_GE(words->bytes.data(), bytes.data());
  EXPECT_LE(words->bytes.data() + words->bytes.size(), bytes.data() + bytes.size());
  EXPECT_EQ(g.param_data("emb_ln.bias"), nullptr);  // 256 bytes: a constant
}

}  // namespace
}  // namespace tenon::onnx
