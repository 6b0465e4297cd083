// Every step of a compiled model says where it came from: a layer, as set_origin named it, or a
// node of the ONNX file.
#include <gtest/gtest.h>

#include <memory>
#include <set>

#include "api/graph_state.h"
#include "import/onnx/onnx.h"
#include "tenon/tenon.h"
#include "tools/make_encoder/encoder_model.h"

namespace tenon {
namespace {

using Origins = std::set<std::string, std::less<>>;

void expect_steps_of(const LirModule& lir, const Origins& known) {
  ASSERT_FALSE(lir.plan().order.empty());
  for (const BufferPlan::Step& step : lir.plan().order) {
    EXPECT_FALSE(step.kind.empty());
    EXPECT_TRUE(known.contains(step.origin)) << step.kind << " is of \"" << step.origin << '"';
  }
}

class Layers {
 public:
  HirModule m;
  Origins names;
  HirValue x = m.input_batch_seq("x", 16);

  void begin(const std::string& name) {
    m.set_origin(name);
    names.insert(name);
  }
  HirValue row() { return weight({16}); }
  HirValue weight(const Shape& shape) {
    return m.param("w" + std::to_string(count_++), {shape, DType::F32});
  }
  hir::LinearWeights linear(int64_t from, int64_t to) { return {weight({from, to}), weight({to})}; }
  hir::LinearWeights square() { return linear(16, 16); }
  void expect_all_known() {
    m.set_outputs({{"y", x}});
    for (const FusionPolicy policy : {FusionPolicy::Direct, FusionPolicy::Fusable})
      expect_steps_of(CompilePipeline({.fusion = {.policy = policy}}).compile_hir(m).lir, names);
  }

 private:
  int count_ = 0;
};

TEST(Origins, OfAnEncoderAreItsLayers) {
  Layers l;
  for (const char* name : {"layer0", "layer1"}) {
    l.begin(name);
    l.x = l.m.encoder_block(l.x,
                            {l.square(), l.square(), l.square(), l.square(), l.row(), l.row(),
                             l.linear(16, 32), l.linear(32, 16), l.row(), l.row()},
                            {.attention = {.heads = 2}});
  }
  l.expect_all_known();
}

TEST(Origins, OfADecoderAreItsLayers) {
  Layers l;
  for (const char* name : {"layer0", "layer1"}) {
    l.begin(name);
    l.x = l.m.decoder_block(l.x,
                            {l.row(),
                             l.square(),
                             l.square(),
                             l.square(),
                             l.square(),
                             l.row(),
                             {l.weight({16, 32}), l.weight({16, 32}), l.weight({32, 16})}},
                            {.attention = {.heads = 2, .causal = true}});
  }
  l.begin("head");
  l.x = l.m.linear(l.m.rms_norm(l.x, l.row()), l.weight({16, 100}));
  l.expect_all_known();
}

TEST(Origins, OfAnOnnxModelAreItsNodes) {
  const auto file = std::make_shared<const std::string>(make_encoder::encoder_model(
      {.layers = 2, .hidden = 64, .heads = 2, .ffn = 128, .vocab = 100, .maxpos = 64}));
  const graph::Graph source =
      onnx::import_bytes(std::as_bytes(std::span(*file)), file, "encoder.onnx");
  Origins nodes;
  for (const graph::Node* node : source.topological()) {
    if (!graph::has(node->op(), graph::kLeaf)) nodes.emplace(source.origin(node));
  }
  EXPECT_FALSE(nodes.contains("")) << "a node of the file has no name here";
  expect_steps_of(CompilePipeline().compile_graph(GraphState::wrap(graph::Graph(source))).lir,
                  nodes);
}

TEST(Origins, WithoutAnyTheKindOfAStepSaysTheOp) {
  Graph g;
  const Value x = g.input("x", {{sym::batch(), 8}, DType::F32});
  g.set_outputs({{"y", g.softmax(x)}});
  const LirModule lir = CompilePipeline().compile_graph(g).lir;
  ASSERT_EQ(lir.plan().order.size(), 1u);
  EXPECT_EQ(lir.plan().order[0].kind, "softmax");
}

}  // namespace
}  // namespace tenon
