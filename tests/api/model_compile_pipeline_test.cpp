// ModelCompilePipeline: a model step by step, in one call, and as components. The model, by hand:
// y = x * w, x [batch, seq], w [1]; and softmax of y, which dispatch may make primitives of.
#include "tenon/model_compile_pipeline.h"

#include <gtest/gtest.h>

#include <stdexcept>

#include "tenon/tenon.h"
#include "tests/error_of.h"

namespace tenon {
namespace {

using Floats = std::vector<float>;

const DimBinding kOne = DimBinding::batch_seq(1, 2), kTwo = DimBinding::batch_seq(2, 2);
const ModelComponent kEncoder = {.variant = {.batch = 1, .seq = 2}};
const ModelComponent kLazy = {.variant = {.batch = 1, .seq = 2}, .mode = CompileMode::Lazy};
const ModelComponent kCommon = {.variant = {.batch = 1, .seq = 2},
                                .dispatch = DispatchPolicy::ForceCommon};

HirModule model() {
  HirModule m;
  const HirValue x = m.input("x", {{sym::batch(), sym::seq()}, DType::F32});
  const HirValue y = m.op1("mul", {x, m.param("w", {{1}, DType::F32})});
  m.set_outputs({{"y", y}, {"softmax", m.op1("softmax", {y}, {{"axis", int64_t{-1}}})}});
  return m;
}

std::pair<HirModule, ParamStore> with_weights() {
  return {model(), ParamStore({{"w", Floats{10}}})};
}

HirModule never() { throw std::logic_error("called"); }

Floats run(const CompiledHandle& graph, const Floats& x) { return graph->run({{"x", x}})[0]; }

bool contains(const std::string& text, std::string_view part) {
  return text.find(part) != std::string::npos;
}

TEST(ModelCompilePipeline, StepByStep) {
  ModelCompilePipeline pipeline(Device::Cpu());
  EXPECT_EQ(pipeline.compile_device(), Device::Cpu());
  int built = 0;
  const auto build = [&] {
    ++built;
    return with_weights();
  };
  const CompileResult made = pipeline.build_template(build);
  EXPECT_EQ(made.lir.dynamic_symbols(), (std::vector<std::string>{"batch", "seq"}));
  EXPECT_EQ(pipeline.build_template(build).lir.fingerprint(), made.lir.fingerprint());
  EXPECT_EQ(built, 1);
  const LirModule lir = pipeline.specialize_template(kOne);
  EXPECT_TRUE(lir.is_fully_static());
  EXPECT_TRUE(pipeline.is_empty());
  const CompiledHandle graph = pipeline.compile_lir(lir);
  EXPECT_EQ(run(graph, {1, 2}), (Floats{10, 20}));
  EXPECT_TRUE(pipeline.contains(kOne));
  EXPECT_FALSE(pipeline.contains(kTwo));
  // Specialized again: the same graph.
  EXPECT_EQ(pipeline.compile_lir(pipeline.specialize_template(kOne)), graph);
  EXPECT_EQ(pipeline.len(), 1u);
}

TEST(ModelCompilePipeline, InOneCallWhatTheStepsGive) {
  ModelCompilePipeline pipeline(Device::Cpu());
  const CompiledHandle graph = pipeline.get_or_compile(kTwo, with_weights);
  EXPECT_EQ(run(graph, {1, 2, 3, 4}), (Floats{10, 20, 30, 40}));
  EXPECT_EQ(pipeline.get_or_compile(kTwo, never), graph);
  EXPECT_EQ(pipeline.compile_lir(pipeline.specialize_template(kTwo)), graph);
}

TEST(ModelCompilePipeline, OutOfOrderIsAnErrorThatSaysWhatToCallFirst) {
  ModelCompilePipeline pipeline(Device::Null()), other(Device::Null());
  other.build_template(model());
  const LirModule foreign = other.specialize_template(kOne);
  const auto expect_build_first = [](const auto& call, const std::string& name) {
    EXPECT_EQ(user_error_of(call),
              "[ModelCompilePipeline] " + name + " needs a template: call build_template first");
  };
  expect_build_first([&] { pipeline.specialize_template(kOne); }, "specialize_template");
  expect_build_first([&] { pipeline.compile_lir(foreign); }, "compile_lir");
  expect_build_first([&] { pipeline.get_or_compile_component(kEncoder); },
                     "get_or_compile_component");
  expect_build_first([&] { pipeline.manifest(); }, "manifest");
  expect_build_first([&] { pipeline.manifest(kOne); }, "manifest");
  expect_build_first([&] { pipeline.manifest(kEncoder); }, "manifest");

  const CompileResult made = pipeline.build_template(model());
  const std::string early = user_error_of([&] { pipeline.compile_lir(made.lir); });
  EXPECT_TRUE(contains(early, "batch and seq have no values: call specialize_template first"))
      << early;
  // Its parameters may be others, which nothing would tell from these.
  EXPECT_TRUE(contains(user_error_of([&] { pipeline.compile_lir(foreign); }),
                       "not of this pipeline's template: call specialize_template first"));
  EXPECT_TRUE(pipeline.is_empty());
}

TEST(ModelCompilePipeline, AModelWithoutSymbolsIsItsOwnSpecialization) {
  ModelCompilePipeline pipeline(Device::Cpu());
  Graph g;
  const Value x = g.input("x", {{2}, DType::F32});
  g.set_outputs({{"y", g.add(x, x)}});
  const LirModule lir = pipeline.build_template(g).lir;
  const CompiledHandle graph = pipeline.compile_lir(lir);
  EXPECT_EQ(run(graph, {1, 2}), (Floats{2, 4}));
  EXPECT_EQ(pipeline.compile_lir(pipeline.specialize_template({})), graph);
}

TEST(ModelCompilePipeline, AFailedBuildLeavesNoTemplate) {
  ModelCompilePipeline pipeline(Device::Null());
  EXPECT_THROW(pipeline.build_template(never), std::logic_error);
  EXPECT_THROW(pipeline.get_or_compile_component(kEncoder, never), std::logic_error);
  EXPECT_TRUE(contains(user_error_of([&] { pipeline.manifest(); }), "build_template first"));
  EXPECT_NO_THROW(pipeline.get_or_compile(kOne, model));
}

TEST(ModelCompilePipeline, KeepsAsManyGraphsAsItHasRoomFor) {
  ModelCompilePipeline pipeline(Device::Null()), small(Device::Null(), 1);
  for (int64_t batch = 1; batch <= 9; ++batch) {
    pipeline.get_or_compile(DimBinding::batch_seq(batch, 1), model);
    small.get_or_compile(DimBinding::batch_seq(batch, 1), model);
  }
  EXPECT_EQ(pipeline.len(), 8u);
  EXPECT_FALSE(pipeline.contains(DimBinding::batch_seq(1, 1)));
  EXPECT_TRUE(pipeline.contains(DimBinding::batch_seq(2, 1)));
  EXPECT_EQ(small.len(), 1u);
  EXPECT_TRUE(contains(user_error_of([] { const ModelCompilePipeline none(Device::Null(), 0); }),
                       "capacity"));
}

TEST(ModelCompilePipeline, OtherOptionsForAnEntryOrTheTemplateAreAnError) {
  ModelCompilePipeline pipeline(Device::Cpu());
  EXPECT_EQ(pipeline.get_or_compile(kOne, with_weights, {.threads = 1})->threads(), 1);
  EXPECT_TRUE(contains(user_error_of([&] {
                         pipeline.compile_lir(pipeline.specialize_template(kOne), {.threads = 2});
                       }),
                       "threads 1, now 2"));
  const CompileOptions disabled = {.memory = PlanOptions{PlanMode::Disabled}};
  EXPECT_TRUE(contains(user_error_of([&] { pipeline.build_template(never, disabled); }),
                       "memory arena 64, now disabled 64"));
  EXPECT_TRUE(contains(user_error_of([&] { pipeline.get_or_compile_component(kCommon, disabled); }),
                       "memory arena 64, now disabled 64"));
}

TEST(ModelCompilePipeline, ManifestsAddNoEntry) {
  ModelCompilePipeline pipeline(Device::Null());
  const LirModule lir = pipeline.build_template(model()).lir;
  EXPECT_EQ(pipeline.manifest(), BindingManifest::of(lir));
  EXPECT_EQ(pipeline.manifest().inputs[0].shape, (Shape{sym::batch(), sym::seq()}));
  EXPECT_EQ(pipeline.manifest(kTwo), BindingManifest::of(lir.specialize(kTwo)));
  EXPECT_EQ(pipeline.manifest(kTwo).outputs[1].shape, (Shape{2, 2}));
  EXPECT_EQ(pipeline.manifest(kCommon), pipeline.manifest(kOne));
  EXPECT_TRUE(contains(user_error_of([&] { pipeline.manifest({{"batch", 2}}); }), "seq"));
  EXPECT_TRUE(pipeline.is_empty());
}

TEST(ModelCompilePipeline, AComponentIsCompiledOnceByItsKey) {
  ModelCompilePipeline pipeline(Device::Cpu());
  const CompiledComponent made = pipeline.get_or_compile_component(kEncoder, with_weights);
  EXPECT_TRUE(made.handle.is_compiled());
  EXPECT_EQ(made.manifest, pipeline.manifest(kOne));
  EXPECT_EQ(made.handle->run({{"x", Floats{1, 2}}})[0], (Floats{10, 20}));
  const CompiledComponent again = pipeline.get_or_compile_component(kEncoder);
  EXPECT_EQ(again.handle.get(), made.handle.get());
  EXPECT_EQ(again.manifest, made.manifest);
  EXPECT_TRUE(pipeline.contains(kEncoder));
  EXPECT_EQ(pipeline.len(), 1u);
  // Of the same extents, but another phase.
  ModelComponent decode = kEncoder;
  decode.variant.phase = ModelPhase::Decode;
  EXPECT_NE(pipeline.get_or_compile_component(decode).handle.get(), made.handle.get());
  EXPECT_EQ(pipeline.len(), 2u);
}

TEST(ModelCompilePipeline, ALazyComponentIsCompiledAtItsFirstUse) {
  ModelCompilePipeline pipeline(Device::Cpu());
  const CompiledComponent made = pipeline.get_or_compile_component(kLazy, with_weights);
  EXPECT_FALSE(made.handle.is_compiled());
  EXPECT_TRUE(pipeline.is_empty());
  EXPECT_EQ(made.manifest, pipeline.manifest(kOne));
  const ComponentHandle copy = made.handle;
  EXPECT_EQ(made.handle->run({{"x", Floats{1, 2}}})[0], (Floats{10, 20}));
  EXPECT_TRUE(copy.is_compiled());
  EXPECT_EQ(copy.get(), made.handle.get());
  EXPECT_TRUE(pipeline.contains(kLazy));
  // The same entry for who wants it at once, and the other way round.
  EXPECT_EQ(pipeline.get_or_compile_component(kEncoder).handle.get(), copy.get());
  EXPECT_TRUE(pipeline.get_or_compile_component(kLazy).handle.is_compiled());
}

TEST(ModelCompilePipeline, ALazyComponentOutlivesEvictionAndThePipeline) {
  std::optional<CompiledComponent> used, unused;
  {
    ModelCompilePipeline pipeline(Device::Cpu(), 1);
    used = pipeline.get_or_compile_component(kLazy, with_weights);
    unused = pipeline.get_or_compile_component(
        {.variant = {.batch = 2, .seq = 2}, .mode = CompileMode::Lazy});
    const CompiledHandle graph = used->handle.get();
    graph->set_param("w", Floats{3});
    pipeline.get_or_compile(kTwo, never);
    EXPECT_FALSE(pipeline.contains(kLazy));
    EXPECT_EQ(used->handle.get(), graph);
  }
  EXPECT_EQ(used->handle->run({{"x", Floats{1, 2}}})[0], (Floats{3, 6}));
  EXPECT_EQ(unused->handle->run({{"x", Floats{1, 2, 3, 4}}})[0], (Floats{3, 6, 9, 12}));
}

TEST(ModelCompilePipeline, ALazyComponentThatDoesNotFitIsAnErrorAtOnce) {
  ModelCompilePipeline pipeline(Device::Null());
  ModelComponent past = kLazy;
  past.variant = {.past = 4, .phase = ModelPhase::Decode};
  EXPECT_TRUE(contains(user_error_of([&] { pipeline.get_or_compile_component(past, model); }),
                       "past = 4: no input has such a dim"));
  EXPECT_TRUE(
      contains(user_error_of([&] { pipeline.get_or_compile_component(kEncoder, {.threads = -1}); }),
               "-1 threads"));
  EXPECT_TRUE(pipeline.is_empty());
}

TEST(ModelCompilePipeline, AComponentHasADispatchPolicyOfItsOwn) {
  ModelCompilePipeline pipeline(Device::Cpu());
  int built = 0;
  const auto build = [&] {
    ++built;
    return with_weights();
  };
  const CompiledComponent native = pipeline.get_or_compile_component(kEncoder, build);
  const CompiledComponent common = pipeline.get_or_compile_component(kCommon, build);
  EXPECT_EQ(built, 1);
  EXPECT_EQ(pipeline.len(), 2u);
  // The softmax as primitives is more than one step.
  EXPECT_GT(common.handle->stats().steps, native.handle->stats().steps);
  EXPECT_EQ(common.handle->run({{"x", Floats{1, 2}}})[0], (Floats{10, 20}));
  native.handle->set_param("w", Floats{5});  // of the store that both have
  EXPECT_EQ(common.handle->run({{"x", Floats{1, 2}}})[0], (Floats{5, 10}));
  const CompileOptions as_native = {.dispatch = DispatchOptions{DispatchPolicy::PreferNative}};
  EXPECT_TRUE(
      contains(user_error_of([&] { pipeline.get_or_compile_component(kCommon, as_native); }),
               "the component says force-common, the options say prefer-native"));
}

TEST(ModelCompilePipeline, SyncAllWaitsForThePendingRunsOfAll) {
  ModelCompilePipeline pipeline(Device::Cpu());
  const CompiledHandle graph = pipeline.get_or_compile(kOne, with_weights);
  graph->commit_no_wait({{"x", Floats{1, 2}}});
  pipeline.sync_all();
  EXPECT_EQ(graph->read_output_row(0, 0, 2), (Floats{10, 20}));
}

}  // namespace
}  // namespace tenon
