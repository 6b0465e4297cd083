// Options that other tests of this folder do not reach, and what a plan says of memory.
#include <gtest/gtest.h>

#include <filesystem>
#include <fstream>
#include <functional>

#include "tenon/tenon.h"
#include "tests/driver/small_encoder.h"
#include "tests/error_of.h"

namespace tenon {
namespace {

// Three buffers, of which the third can take the memory of the first, and a view.
Graph chain() {
  Graph g;
  const Dim batch = sym::batch();
  Value y = g.input("x", {{batch, 8}, DType::F32});
  for (int i = 0; i < 4; ++i) y = g.softmax(y);
  g.set_outputs({{"y", g.reshape(y, {batch, 2, 4})}});
  return g;
}

TEST(Profiles, SetWhatOptionsLeaveOpen) {
  const CompilePipeline debug({.profile = Profile::Debug, .verbosity = Verbosity::Off});
  EXPECT_EQ(debug.compile_mir(chain()).lir.plan().buffers_reused, 0);
  const CompilePipeline latency({.profile = Profile::Latency});
  EXPECT_GT(latency.compile_mir(chain()).lir.plan().buffers_reused, 0);
  const CompilePipeline both({.memory = PlanOptions{.mode = PlanMode::Arena},
                              .profile = Profile::Debug,
                              .verbosity = Verbosity::Error});
  EXPECT_GT(both.compile_mir(chain()).lir.plan().buffers_reused, 0);  // what is said wins
}

TEST(Verbosities, HoldForOneCompile) {
  const auto logged = [](Verbosity verbosity) {
    testing::internal::CaptureStderr();
    Session().compile(chain(), {.verbosity = verbosity});
    return testing::internal::GetCapturedStderr();
  };
  EXPECT_NE(logged(Verbosity::Debug), "");
  EXPECT_NE(logged(Verbosity::Info), "");
  EXPECT_LT(logged(Verbosity::Info).size(), logged(Verbosity::Debug).size());
  EXPECT_EQ(logged(Verbosity::Warning), "");
  EXPECT_EQ(logged(Verbosity::Off), "");
  testing::internal::CaptureStderr();
  Session().compile(chain());
  EXPECT_EQ(testing::internal::GetCapturedStderr(), "");
}

TEST(DimBounds, NarrowTheSymbolsOfAFile) {
  CompiledGraph narrow = graph_test::small_encoder({.dim_bounds = {{"seq", {1, 7}}}});
  for (const DimInfo& dim : narrow.dims()) {
    if (dim.name != "seq") continue;
    EXPECT_EQ(dim.least, 1);
    EXPECT_EQ(dim.most, 7);
  }
  const graph_test::Request longer(1, 8), fitting(1, 7);
  EXPECT_EQ(narrow.run(fitting.inputs)[0].size(), size_t{7 * graph_test::kHidden});
  EXPECT_GT(narrow.flops_of_last_run(), 0);
  EXPECT_NE(error_of([&] { narrow.run(longer.inputs); }).find("7"), std::string::npos);
  EXPECT_EQ(error_of([] { Session().compile(chain(), {.dim_bounds = {{"batch", {1, 2}}}}); }),
            "[compile] dim_bounds are for models from files: a graph has its own symbols");
}

TEST(Precision, OfContractionsIsForGpus) {
  EXPECT_EQ(error_of([] { Session().compile(chain(), {.precision = "tf32"}); }),
            "[compile] precision tf32 is for GPUs, the device is cpu");
}

TEST(Precision, CountsWeightsAsGivenAndAsPacked) {
  Graph g;
  const std::vector<float> ones(64 * 64, 1);
  const Value x = g.input("x", {{sym::batch(), 64}, DType::F32});
  const Value w = g.param("w", {{64, 64}, DType::F32}, std::as_bytes(std::span(ones)));
  g.set_outputs({{"y", g.matmul(x, w)}});
  const Session session;
  EXPECT_EQ(session.compile(g).stats().weight_bytes, 64 * 64 * 4);
  const CompiledGraph half = session.with_policy(PrecisionPolicy::AlwaysBf16).compile(g);
  EXPECT_GE(half.stats().packed_bytes, 64 * 64 * 2);
}

TEST(Precision, FactorsAreRoundedInContractionsOnly) {
  for (int i = 0; i < kOpCategories; ++i) {
    const auto category = static_cast<OpCategory>(i);
    for (const Numbers numbers : {Numbers::ByF16, Numbers::ByBf16, Numbers::ByInt8}) {
      PrecisionOptions precision{.policy = PrecisionPolicy::Custom};
      precision.custom[static_cast<size_t>(i)] = numbers;
      const bool multiplies = category == OpCategory::Weights ||
                              (category == OpCategory::Contraction && numbers != Numbers::ByInt8);
      const std::string error =
          error_of([&] { Session().compile(chain(), {.precision_policy = precision}); });
      EXPECT_EQ(error == "no error", multiplies) << i << ": " << error;
    }
  }
}

TEST(Dispatch, CountsWhatWasRewrittenAndRefusesWhatIsForced) {
  Graph g;
  const Value x = g.input("x", {{sym::batch(), 8}, DType::F32});
  g.set_outputs({{"y", g.op1("cum_sum", {x}, {{"axis", int64_t{1}}})}});
  const CompileResult result = CompilePipeline().compile_mir(g);
  EXPECT_EQ(result.dispatch.rows.at("cum_sum").rewritten, 1);
  EXPECT_NE(result.dispatch.to_json().find("\"cum_sum\""), std::string::npos);
  const CompileOptions forced{.supported_ops = {{"relu"}},
                              .dispatch = DispatchOptions{.policy = DispatchPolicy::ForceNative}};
  EXPECT_NE(error_of([&] {
              Session().compile(chain(), forced);
            }).find("softmax (f32[batch, 8]): the policy forbids to make primitives of it"),
            std::string::npos);
}

TEST(Plans, SayWhatSharesMemory) {
  const CompilePipeline pipeline;
  const Optimized optimized = pipeline.optimize_with_report(pipeline.preprocess(chain()));
  const DimBinding extents = {{"batch", 100}};
  const auto plan = [&](PlanMode mode) {
    return pipeline.plan_lir_with_options(optimized.graph, {.mode = mode})
        .specialize(extents)
        .plan();
  };
  const BufferPlan arena = plan(PlanMode::Arena), apart = plan(PlanMode::Disabled);
  const int64_t whole = apart.arena_size.const_value();
  EXPECT_EQ(arena.total_unshared_bytes.const_value(), whole);
  EXPECT_EQ(arena.arena_size.const_value() + arena.bytes_saved.const_value(), whole);
  EXPECT_GT(arena.bytes_saved.const_value(), 0);
  EXPECT_EQ(apart.bytes_saved.const_value(), 0);
  for (const BufferPlan::Buffer& buffer : arena.buffers) {
    if (buffer.slot < 0) continue;
    const BufferPlan::Slot& slot = arena.slots.at(static_cast<size_t>(buffer.slot));
    EXPECT_LE((buffer.offset + buffer.bytes).const_value(), slot.size.const_value());
    EXPECT_LE((slot.offset + slot.size).const_value(), arena.arena_size.const_value());
  }
  for (const BufferPlan::ViewAlias& view : arena.views) {
    EXPECT_LT(static_cast<size_t>(view.buffer), arena.buffers.size());
    EXPECT_FALSE(view.root.empty());
    EXPECT_TRUE(view.byte_offset.is_const());
  }
  for (size_t i = 1; i < arena.order.size(); ++i) {  // each reads what the one before wrote
    EXPECT_EQ(arena.order[i].reads, arena.order[i - 1].writes);
    EXPECT_EQ(arena.order[i].phase, i + 1 < arena.order.size() ? Phase::Steady : Phase::Epilogue);
  }
  ASSERT_EQ(arena.views.size(), 1u);  // the last buffer is the output, of another shape
  EXPECT_EQ(arena.views[0].root, "output \"y\"");
  EXPECT_EQ(arena.order.back().writes,
            std::vector<std::string>{"arena " + std::to_string(arena.views[0].buffer)});
}

TEST(Plans, AnOutputThatALaterStepReadsIsNoEpilogue) {
  Graph g;
  const Value x = g.input("x", {{sym::batch(), 8}, DType::F32});
  const Value first = g.softmax(x);
  g.set_outputs(
      {{"first", first}, {"second", g.matmul(first, g.param("w", {{8, 8}, DType::F32}))}});
  const BufferPlan plan = CompilePipeline().compile_mir(g).lir.plan();
  ASSERT_GE(plan.order.size(), 2u);
  const BufferPlan::Step& reader = plan.order.back();
  const BufferPlan::Step& writer = plan.order[plan.order.size() - 2];
  EXPECT_EQ(writer.writes, std::vector<std::string>{"output \"first\""});
  EXPECT_EQ(reader.reads[0], "output \"first\"");
  EXPECT_EQ(writer.phase, Phase::Steady);
  EXPECT_EQ(reader.phase, Phase::Epilogue);
}

TEST(Plans, OfBranchesStandInTheirStep) {
  const auto branch = [](ActivationKind kind) {
    auto body = std::make_shared<Graph>();
    const Value x = body->input("in0", {{3}, DType::F32});
    body->set_outputs({{"out0", body->activation(kind, x)}});
    return std::shared_ptr<const Graph>(std::move(body));
  };
  Graph g;
  const Value flag = g.input("flag", {{}, DType::Bool}), x = g.input("x", {{3}, DType::F32});
  g.set_outputs({{"y", g.op1("if", {flag, x, x},
                             {{"then", branch(ActivationKind::Tanh)},
                              {"else", branch(ActivationKind::Relu)},
                              {"extents", std::vector<Dim>{3}}})}});
  const LirModule lir = CompilePipeline().compile_graph(g).lir;
  size_t bodies = 0;
  for (const BufferPlan::Step& step : lir.plan().order) {
    for (const BufferPlan& body : step.bodies) EXPECT_EQ(body.outputs[0].name, "out0");
    bodies += step.bodies.size();
  }
  EXPECT_EQ(bodies, 2u);
}

TEST(Devices, ThatAreNotThereAreKnownAndRefused) {
  EXPECT_EQ(Device::Cuda(3).index(), 3);
  EXPECT_EQ(Device::Cuda().kind(), Device::Kind::Cuda);
  EXPECT_EQ(Device::Null().kind(), Device::Kind::Null);
  EXPECT_EQ(Device().kind(), Device::Kind::Cpu);
  const std::vector<Device> known = known_devices();
  ASSERT_GE(known.size(), 2u);
  EXPECT_EQ(known[0], Device::Cpu());
  EXPECT_EQ(known[1], Device::Cuda(0));
  EXPECT_NE(describe(Device::Cpu()), "");
  for (const Device& device : {Device::Cuda(99), Device::Cuda(-1)}) {
    EXPECT_FALSE(is_available(device));
    EXPECT_EQ(error_of([&] { Session(device).compile(chain()); }),
              "[compile] " + to_string(device) + " is not available: " + why_unavailable(device));
  }
}

TEST(Shapes, AreListsOfExtents) {
  const Shape tokens = Shape::batch_seq_2d(sym::batch(), sym::seq());
  EXPECT_EQ(tokens.rank(), 2);
  EXPECT_EQ(tokens.to_string(), "[batch, seq]");
  EXPECT_FALSE(tokens.is_static());
  const Shape three = {2, 3, 4};
  EXPECT_EQ(three.elements().const_value(), 24);
  EXPECT_EQ(three.strides(), (std::vector<Dim>{12, 4, 1}));
  EXPECT_NE(error_of([&] { (void)three[3]; }), "no error");
}

TEST(Modules, GiveTheModuleOfTheirStage) {
  const GraphModule mir("chain", chain());
  EXPECT_EQ(mir.mir().print(), chain().print());
  EXPECT_NE(error_of([&] { (void)mir.hir(); }), "no error");
  HirModule m;
  m.set_outputs({{"y", m.op1("relu", {m.input_batch_seq("x", 4)})}});
  const GraphModule hir("blocks", m);
  EXPECT_EQ(hir.hir().print(), m.print());
  EXPECT_EQ(lower_hir(hir.hir(), FusionPolicy::Fusable).print(), lower_hir(m).print());
  EXPECT_EQ(CompilePipeline().lower_hir(m).print(), lower_hir(m).print());
}

}  // namespace
}  // namespace tenon
