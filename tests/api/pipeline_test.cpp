// The stages of the compiler one by one, modules of every stage, and options.
#include "tenon/pipeline.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <cstdio>
#include <cstdlib>
#include <numeric>

#include "tenon/tenon.h"
#include "tests/error_of.h"

namespace tenon {
namespace {

const Dim kBatch = sym::batch(), kSeq = sym::seq();

std::vector<float> some(size_t count, int seed) {
  std::vector<float> values(count);
  for (size_t i = 0; i < count; ++i)
    values[i] = static_cast<float>((i * 7 + static_cast<size_t>(seed)) % 11) * 0.1f - 0.5f;
  return values;
}

struct Leaves {
  int64_t hidden = 16;
  double constant = 0.5;
};

// A little of everything: a linear that fuses, a norm, attention, and a product of weights.
Graph model(const Leaves& leaves = {}) {
  Graph g;
  const int64_t h = leaves.hidden;
  const Value x = g.input("x", {{kBatch, kSeq, h}, DType::F32});
  const Value w = g.param("w", {{h, h}, DType::F32});
  const Value b = g.param("b", {{h}, DType::F32});
  const Value scaled = g.mul(w, g.scalar(DType::F32, leaves.constant));
  const Value y = g.gelu(g.add(g.matmul(x, scaled), b));
  const Value z = g.attention(y, y, y, {.heads = 2, .head_dim = h / 2});
  g.set_outputs({{"y", g.layer_norm(g.add(z, x), b, b)}, {"mean", g.reduce_mean(z, {1})}});
  return g;
}

std::vector<std::vector<float>> run(CompiledGraph compiled, int64_t batch = 2, int64_t seq = 5) {
  compiled.set_param("w", some(16 * 16, 1));
  compiled.set_param("b", some(16, 2));
  const std::vector<float> x = some(static_cast<size_t>(batch * seq * 16), 3);
  return compiled.run({{"x", view(x, {batch, seq, 16})}});
}

void expect_near(const std::vector<std::vector<float>>& a,
                 const std::vector<std::vector<float>>& b) {
  ASSERT_EQ(a.size(), b.size());
  for (size_t i = 0; i < a.size(); ++i) {
    ASSERT_EQ(a[i].size(), b[i].size());
    for (size_t j = 0; j < a[i].size(); ++j) EXPECT_NEAR(a[i][j], b[i][j], 1e-5) << i << " " << j;
  }
}

bool contains(const std::string& text, std::string_view part) {
  return text.find(part) != std::string::npos;
}

TEST(CompilePipeline, StagesOneByOneGiveWhatASessionGives) {
  const CompilePipeline pipeline;
  const Graph preprocessed = pipeline.preprocess(model());
  const Optimized optimized = pipeline.optimize_with_report(preprocessed);
  EXPECT_GE(optimized.fusion.found("fused_matmul_bias_act"), 1);
  EXPECT_EQ(optimized.dispatch.rows.at("attention").native, 1);
  const LirModule lir = pipeline.plan_lir(optimized.graph);
  expect_near(run(Session().compile(lir)), run(Session().compile(model())));
  const CompiledGraph compiled = Session().compile(model());
  EXPECT_EQ(compiled.fusion_report().found("fused_attention"), 1);
  EXPECT_EQ(compiled.clone().dispatch_report().rows.at("attention").native, 1);
  const CompileResult whole = pipeline.compile_graph(model());
  EXPECT_EQ(whole.lir.fingerprint(), lir.fingerprint());
}

TEST(CompilePipeline, PlansWhatWasOptimizedOnly) {
  Graph g;
  const Value x = g.input("x", {{kBatch, 8}, DType::F32});
  const std::vector<Value> halves = g.split(x, 1, {4, 4});
  g.set_outputs({{"sum", g.add(halves[0], halves[1])}, {"x", x}});
  const CompilePipeline pipeline;
  EXPECT_EQ(error_of([&] { pipeline.plan_lir(g); }),
            "[plan] output \"sum\" is not as optimize_with_report leaves it for cpu");
  g.set_outputs({{"x", x}});
  EXPECT_TRUE(contains(error_of([&] { pipeline.plan_lir(g); }), "output \"x\""));
  EXPECT_NO_THROW(pipeline.plan_lir(pipeline.optimize_with_report(g).graph));
}

TEST(CompilePipeline, ShowsEveryStage) {
  const StageTexts stages = inspect_pipeline(model());
  // In this order, each with a text.
  size_t at = 0;
  for (const char* stage :
       {"graph", "simplify", "decompose", "fuse_linear", "dispatch", "fusion_report",
        "dispatch_report", "lir", "memory_map", "kernel:", "source:"}) {
    while (at < stages.size() && !stages[at].stage.starts_with(stage)) ++at;
    ASSERT_LT(at, stages.size()) << stage;
    EXPECT_FALSE(stages[at].text.empty()) << stage;
  }
  EXPECT_EQ(stages.front().stage, "graph");
  EXPECT_EQ(stages.front().text, model().print());
}

TEST(CompilePipeline, ShowsTheStagesThatAModuleHas) {
  const auto blocks = GraphModule::define("blocks", [](HirModule& m) {
    return m.linear(m.input("x", {{kBatch, 8}, DType::F32}), m.param("w", {{8, 4}, DType::F32}));
  });
  const StageTexts of_blocks = inspect_pipeline(blocks);
  ASSERT_GT(of_blocks.size(), 2u);
  EXPECT_EQ(of_blocks[0].stage, "hir");
  EXPECT_EQ(of_blocks[0].text, blocks.hir().print());
  EXPECT_EQ(of_blocks[1].stage, "graph");
  EXPECT_EQ(inspect_pipeline(blocks.hir()).size(), of_blocks.size());

  // What a planned module has from there on is what the whole way to it has.
  const StageTexts planned =
      inspect_pipeline(GraphModule("planned", CompilePipeline().compile_module(blocks).lir));
  ASSERT_GT(planned.size(), 3u);
  EXPECT_EQ(planned[0].stage, "lir");
  ASSERT_LT(planned.size(), of_blocks.size());
  const size_t before = of_blocks.size() - planned.size();
  for (size_t i = 0; i < planned.size(); ++i) {
    EXPECT_EQ(planned[i].stage, of_blocks[before + i].stage);
    EXPECT_EQ(planned[i].text, of_blocks[before + i].text) << planned[i].stage;
  }
}

TEST(CompilePipeline, ABackendOfPrimitivesRunsTheModel) {
  const CompileResult native = CompilePipeline().compile_graph(model());
  CompilePipeline plain;
  plain.set_dispatch({.policy = DispatchPolicy::ForceCommon});
  const CompileResult common = plain.compile_graph(model());
  EXPECT_EQ(common.dispatch.rows.at("attention").common, 1);
  EXPECT_EQ(common.fusion.found("fused_attention"), 0);
  std::set<std::string> primitives;
  for (const auto& [op, row] : common.dispatch.rows) {
    if (row.native > 0) primitives.insert(op);
  }
  CompilePipeline claiming;
  claiming.set_supported_ops(primitives);
  expect_near(run(Session().compile(claiming.compile_graph(model()).lir)),
              run(Session().compile(native.lir)));
  const FusionReport missed = claiming.compile_graph(model()).fusion;
  EXPECT_TRUE(contains(missed.to_string(), "not claimed by cpu")) << missed.to_string();
  primitives.erase("matmul");
  claiming.set_supported_ops(primitives);
  EXPECT_TRUE(contains(error_of([&] { claiming.compile_graph(model()); }),
                       "the backend cpu does not take:\n  matmul"));
  primitives.insert("mattmul");
  claiming.set_supported_ops(primitives);
  EXPECT_EQ(error_of([&] { claiming.compile_graph(model()); }),
            "[compile] supported_ops: there is no op \"mattmul\"");
}

TEST(Lir, IsData) {
  const LirModule lir = CompilePipeline().compile_graph(model()).lir;
  const BufferPlan& plan = lir.plan();
  EXPECT_EQ(plan.alignment, 64);
  EXPECT_EQ(plan.inputs.size(), 1u);
  EXPECT_EQ(plan.params.size(), 2u);
  EXPECT_EQ(plan.outputs[1].type.to_string(), "f32[batch, 1, 16]");
  EXPECT_EQ(lir.dynamic_symbols(), (std::vector<std::string>{"batch", "seq"}));
  EXPECT_TRUE(lir.has_dynamic_dims());
  ASSERT_FALSE(plan.order.empty());
  EXPECT_EQ(plan.order.front().phase, Phase::Prologue);
  EXPECT_FALSE(plan.slots.empty());
  const auto nodes = lir.nodes();
  int prologue = 0, epilogue = 0;
  for (size_t i = 0; i < nodes.size(); ++i) {
    EXPECT_EQ(lir.phase(i), nodes[i].phase);
    prologue += nodes[i].phase == Phase::Prologue && nodes[i].op == "mul" ? 1 : 0;
    epilogue += nodes[i].phase == Phase::Epilogue ? 1 : 0;
  }
  EXPECT_EQ(prologue, 1);  // of weights only
  EXPECT_EQ(epilogue, 2);  // the outputs
  EXPECT_TRUE(contains(error_of([&] { lir.phase(nodes.size()); }), "there is no node"));
  EXPECT_TRUE(contains(error_of([] { LirModule().plan(); }), "is empty"));
}

TEST(Lir, FingerprintTellsWhatChangesResults) {
  const auto of = [](const Graph& graph, const CompileOptions& options = {}) {
    return CompilePipeline(options).compile_graph(graph).lir.fingerprint();
  };
  const std::string one = of(model());
  EXPECT_EQ(one.size(), 64u);
  EXPECT_EQ(of(model()), one);
  EXPECT_NE(of(model({.constant = 0.25})), one);
  EXPECT_NE(of(model({.hidden = 32})), one);
  EXPECT_NE(of(model(), {.dim_binding = DimBinding::batch_seq(2, 5)}), one);
  EXPECT_EQ(of(model(), {.memory = PlanOptions{.mode = PlanMode::Remap}}), one);
  EXPECT_EQ(of(model(), {.threads = 1}), one);
}

// The test runs itself once more, in a process that only tells its fingerprint.
TEST(Lir, FingerprintIsTheSameInAnotherProcess) {
  constexpr const char* kTell = "TENON_TEST_TELL_FINGERPRINT";
  const std::string here = CompilePipeline().compile_graph(model()).lir.fingerprint();
  if (std::getenv(kTell)) {
    std::printf("fingerprint %s\n", here.c_str());
    return;
  }
  const std::string command = std::string(kTell) +
                              "=1 exec \"$(readlink /proc/$PPID/exe)\" "
                              "--gtest_filter=Lir.FingerprintIsTheSameInAnotherProcess";
  std::FILE* child = popen(command.c_str(), "r");
  ASSERT_NE(child, nullptr);
  std::string text;
  char line[256];
  while (std::fgets(line, sizeof(line), child)) text += line;
  EXPECT_EQ(pclose(child), 0);
  EXPECT_TRUE(contains(text, "fingerprint " + here + "\n")) << text;
}

TEST(Lir, SpecializesForExtents) {
  const CompilePipeline pipeline;
  const LirModule lir = pipeline.compile_graph(model()).lir;
  const LirModule special = pipeline.specialize_lir(lir, DimBinding::batch_seq(2, 5));
  EXPECT_TRUE(special.is_fully_static());
  EXPECT_TRUE(special.plan().arena_size.is_const());
  expect_near(run(Session().compile(special)), run(Session().compile(lir)));
  EXPECT_EQ(special.specialize({}).fingerprint(), special.fingerprint());
  EXPECT_TRUE(contains(error_of([&] { lir.specialize({{"batch", 2}}); }), "no value for seq"));
  EXPECT_TRUE(contains(error_of([&] { lir.specialize({{"batch", 2}, {"seq", 3}, {"n", 1}}); }),
                       "n = 1: no input has such a dim"));
  EXPECT_TRUE(contains(error_of([&] { lir.specialize({{"batch", 0}, {"seq", 3}}); }),
                       "outside its bounds"));
}

TEST(Lir, IsTakenAsItIs) {
  const LirModule lir = CompilePipeline().compile_graph(model()).lir;
  EXPECT_TRUE(contains(
      error_of([&] { Session().compile(lir, {.memory = PlanOptions{.mode = PlanMode::Remap}}); }),
      "is planned already"));
  EXPECT_EQ(Session().compile(lir, {.threads = 1}).threads(), 1);
}

TEST(GraphModules, HoldAnyStage) {
  const auto hir = GraphModule::define("blocks", [](HirModule& m) {
    const HirValue x = m.input_batch_seq("x", 16);
    return m.linear(x, m.param("w", {{16, 16}, DType::F32}),
                    {.bias = m.param("b", {{16}, DType::F32})});
  });
  const auto mir = GraphModule::define("graph", [](Graph& g) {
    const Value x = g.input("x", {{kBatch, kSeq, 16}, DType::F32});
    const Value w = g.param("w", {{16, 16}, DType::F32}), b = g.param("b", {{16}, DType::F32});
    return std::vector<Value>{g.add(g.matmul(x, w), b)};
  });
  const auto lir =
      GraphModule::define("planned", [&] { return CompilePipeline().compile_module(mir).lir; });
  EXPECT_EQ(hir.stage(), GraphModule::Stage::Hir);
  EXPECT_EQ(mir.stage(), GraphModule::Stage::Mir);
  EXPECT_EQ(lir.stage(), GraphModule::Stage::Lir);
  const auto expected = run(Session().compile(hir));
  expect_near(run(Session().compile(mir)), expected);
  expect_near(run(Session().compile(lir)), expected);
  EXPECT_EQ(Session().compile(hir).outputs()[0].name, "output");
  EXPECT_EQ(Session().compile(mir).outputs()[0].name, "output_0");
  const CompileResult taken = CompilePipeline().compile_module(lir);
  EXPECT_TRUE(taken.fusion.counts.empty());
  EXPECT_EQ(taken.lir.fingerprint(), lir.lir().fingerprint());
  EXPECT_EQ(error_of([&] { GraphModule(mir).into_hir(); }), "the module \"graph\" is MIR, not HIR");
  EXPECT_EQ(error_of([&] { GraphModule(hir).into_lir(); }),
            "the module \"blocks\" is HIR, not LIR");
  EXPECT_FALSE(GraphModule(mir).into_mir().print().empty());
}

TEST(Options, Merge) {
  const Session session(CompileOptions{.threads = 1, .memory = PlanOptions{PlanMode::Remap, 128}});
  const CompileOptions both = merged(session.defaults(), {.codegen = "llvm"});
  EXPECT_EQ(both.threads, 1);
  EXPECT_EQ(both.codegen, "llvm");
  EXPECT_EQ(both.memory->alignment, 128);
  EXPECT_EQ(session.compile(model()).threads(), 1);
  EXPECT_EQ(Session(Device::Cpu()).compile(model(), {.profile = Profile::Throughput}).threads(), 1);
}

TEST(Options, LimitsOfFusionCutKernels) {
  Graph g;
  Value y = g.input("x", {{kBatch, 8}, DType::F32});
  for (int i = 0; i < 12; ++i) y = g.tanh(g.mul(y, g.scalar(DType::F32, 1.5)));
  g.set_outputs({{"y", y}});
  const std::vector<float> x = some(16, 1);
  CompiledGraph whole = Session().compile(g);
  CompiledGraph cut = Session().compile(g, {.fusion = {.limits = FusionLimits{.max_steps = 6}}});
  EXPECT_EQ(whole.stats().steps, 1);
  EXPECT_EQ(cut.stats().steps, 4);
  EXPECT_EQ(cut.run({{"x", view(x, {2, 8})}}), whole.run({{"x", view(x, {2, 8})}}));
  EXPECT_TRUE(contains(error_of([&] {
                         Session().compile(g,
                                           {.fusion = {.limits = FusionLimits{.max_inputs = -1}}});
                       }),
                       "-1 inputs"));
}

TEST(Options, AMissedPatternCanBeAnError) {
  Graph g;
  const Value x = g.input("x", {{kBatch, kSeq, 8}, DType::F32});
  const Value w = g.param("w", {{8, 8}, DType::F32}), b = g.param("b", {{8}, DType::F32});
  g.set_outputs({{"y", g.gelu(g.add(g.matmul(x, w), b))}});
  const CompileOptions strict{.fusion = {.assert_clean = true}};
  EXPECT_NO_THROW(Session().compile(g, strict));
  CompileOptions common = strict;
  common.dispatch = DispatchOptions{DispatchPolicy::ForceCommon, {}};
  const std::string text = error_of([&] { Session().compile(g, common); });
  EXPECT_TRUE(contains(text, "fused_matmul_bias_act")) << text;
}

TEST(Options, PolicyOfPrecisionChangesNumbersAndTheFingerprint) {
  const Session low = Session().with_policy(PrecisionPolicy::AlwaysBf16);
  const auto exact = run(Session().compile(model())), rounded = run(low.compile(model()));
  EXPECT_NE(exact[0], rounded[0]);
  for (size_t i = 0; i < exact[0].size(); ++i) EXPECT_NEAR(exact[0][i], rounded[0][i], 0.1);
  EXPECT_EQ(run(low.compile(model(), {.precision_policy = PrecisionOptions{}}))[0], exact[0]);
  EXPECT_NE(CompilePipeline(low.defaults()).compile_graph(model()).lir.fingerprint(),
            CompilePipeline().compile_graph(model()).lir.fingerprint());
}

TEST(Options, EveryOptimizerGivesTheSameBits) {
  const CompileOptions plain{.optimizer = OptStrategy::Plain{}};
  const CompiledGraph fast = Session().compile(model()), simple = Session().compile(model(), plain);
  EXPECT_EQ(run(fast.clone()), run(simple.clone()));
  EXPECT_EQ(run(fast.clone(), 7, 33), run(simple.clone(), 7, 33));
  // No panels are packed; what is computed from weights alone still is, once.
  EXPECT_LT(simple.stats().packed_bytes, fast.stats().packed_bytes);
  // The same numbers: the same fingerprint, but another plan.
  const LirModule planned = CompilePipeline(plain).compile_graph(model()).lir;
  EXPECT_EQ(planned.fingerprint(), CompilePipeline().compile_graph(model()).lir.fingerprint());
  EXPECT_NO_THROW(Session().compile(planned, plain));
  EXPECT_TRUE(contains(
      error_of([&] { Session().compile(planned, {.optimizer = OptStrategy::Analytic{}}); }),
      "planned already"));
}

TEST(Options, AnOptimizerMergesAndMustBeOfUse) {
  const CompileOptions plain{.optimizer = OptStrategy::Plain{}};
  EXPECT_EQ(merged(plain, {}).optimizer, OptStrategy(OptStrategy::Plain{}));
  EXPECT_EQ(merged(plain, {.optimizer = OptStrategy::Analytic{}}).optimizer, OptStrategy());
  EXPECT_EQ(to_string(OptStrategy::parse("plain")), "plain");
  EXPECT_EQ(OptStrategy::parse("analytic"), OptStrategy());
  EXPECT_TRUE(contains(error_of([] { OptStrategy::parse("fast"); }), "analytic, plain"));
  CompileOptions gpu = plain;
  gpu.device = Device::Cuda();
  gpu.cuda_arch = 90;
  EXPECT_TRUE(contains(error_of([&] { Session().compile(model(), gpu); }),
                       "optimizer plain is for CPUs, the device is cuda"));
}

TEST(Options, OfFusionMergeOneByOne) {
  const Session session(CompileOptions{.fusion = {.assert_clean = true}});
  const CompileOptions both =
      merged(session.defaults(), {.fusion = {.limits = FusionLimits{.max_steps = 6}}});
  EXPECT_EQ(both.fusion.assert_clean, true);
  EXPECT_EQ(both.fusion.limits->max_steps, 6);
  const std::string text =
      error_of([] { Session().compile(model(), {.fusion = {.skip = {{"dispatch"}}}}); });
  EXPECT_TRUE(contains(text, "there is no pass \"dispatch\"; there are: fuse_")) << text;
  EXPECT_NO_THROW(Session(Device::Cpu()).compile(CompilePipeline().compile_graph(model()).lir));
}

TEST(Options, ThatContradictEachOtherAreErrors) {
  const auto text = [](const CompileOptions& options) {
    return error_of([&] { Session().compile(model(), options); });
  };
  EXPECT_TRUE(contains(text({.cuda_arch = 90}), "is for GPUs, the device is cpu"));
  EXPECT_TRUE(contains(text({.device = Device::Cuda(0), .cuda_arch = 90, .cpu = "avx2"}),
                       "is for CPUs, the device is cuda:0"));
  EXPECT_TRUE(contains(text({.threads = -1}), "-1 threads"));
  EXPECT_TRUE(contains(text({.dim_binding = {{"batch", 2}}}), "no value for seq"));
  EXPECT_TRUE(contains(text({.memory = PlanOptions{.alignment = 100}}), "alignment"));
  EXPECT_TRUE(contains(text({.precision_policy = PrecisionOptions{.custom = {Numbers::Bf16}}}),
                       "this is always_f32"));
  EXPECT_TRUE(
      contains(error_of([] { Session().with_policy(PrecisionPolicy::Custom).compile(model()); }),
               "the policy custom needs numbers"));
}

}  // namespace
}  // namespace tenon
