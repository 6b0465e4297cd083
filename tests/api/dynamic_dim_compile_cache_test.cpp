// DynamicDimCompileCache: lowered once, compiled for each set of extents. The model, by hand: the
// sum of the rows of x [batch, 2], and x * factor.
#include "tenon/dynamic_dim_compile_cache.h"

#include <gtest/gtest.h>

#include <stdexcept>

#include "runtime/weight_pool.h"
#include "tenon/tenon.h"
#include "tests/error_of.h"

namespace tenon {
namespace {

using Floats = std::vector<float>;

const DimBinding kTwo = {{"batch", 2}}, kThree = {{"batch", 3}};

HirModule model(double factor = 2) {
  HirModule m;
  const HirValue x = m.input("x", {{sym::batch(), 2}, DType::F32});
  const std::vector<float> factors(1, static_cast<float>(factor));
  const HirValue by = m.constant(factors, {1});
  m.set_outputs({{"sum", m.op1("reduce_sum", {x}, {{"axes", std::vector<int64_t>{0}}})},
                 {"times", m.op1("mul", {x, by})}});
  return m;
}

// y = x [batch, 2] * w [2]
HirModule with_param() {
  HirModule m;
  const HirValue x = m.input("x", {{sym::batch(), 2}, DType::F32});
  m.set_outputs({{"y", m.op1("mul", {x, m.param("w", {{2}, DType::F32})})}});
  return m;
}

HirModule never() { throw std::logic_error("called"); }

Floats run(const CompiledHandle& graph, const Floats& x, size_t output = 0) {
  return graph->run({{"x", x}})[output];  // without a shape: extents are the graph's own
}

bool contains(const std::string& text, std::string_view part) {
  return text.find(part) != std::string::npos;
}

TEST(DynamicDimCompileCache, TheModelIsLoweredOnceAndCompiledForEachBinding) {
  DynamicDimCompileCache cache(Device::Cpu(), 4);
  EXPECT_FALSE(cache.has_template());
  EXPECT_FALSE(cache.template_result());
  EXPECT_TRUE(cache.is_empty());
  int built = 0;
  const auto build = [&] {
    ++built;
    return model();
  };
  const CompiledHandle two = cache.get_or_specialize(2, kTwo, build);
  const CompiledHandle three = cache.get_or_specialize(3, kThree, build);
  EXPECT_EQ(cache.get_or_specialize(2, kTwo, build), two);
  EXPECT_EQ(built, 1);
  EXPECT_EQ(run(two, {1, 2, 3, 4}), (Floats{4, 6}));
  EXPECT_EQ(run(two, {1, 2, 3, 4}, 1), (Floats{2, 4, 6, 8}));
  EXPECT_EQ(run(three, {1, 2, 3, 4, 5, 6}), (Floats{9, 12}));
  EXPECT_TRUE(two->dims().empty());  // for these extents alone
  EXPECT_EQ(cache.len(), 2u);
  EXPECT_TRUE(cache.has_template());
}

TEST(DynamicDimCompileCache, TheTemplateHasTheSymbolsAndTheReports) {
  DynamicDimCompileCache cache(Device::Null(), 4);
  EXPECT_EQ(cache.compile_device(), Device::Null());
  const CompileResult made = cache.ensure_template([] { return model(); });
  EXPECT_EQ(made.lir.dynamic_symbols(), std::vector<std::string>{"batch"});
  EXPECT_EQ(made.dispatch.rows.at("reduce_sum").native, 1);
  EXPECT_EQ(cache.template_result()->lir.fingerprint(), made.lir.fingerprint());
  EXPECT_EQ(cache.len(), 0u);  // it is no entry
  cache.ensure_template(never);
  cache.get_or_specialize(1, kTwo, never);
  EXPECT_TRUE(cache.contains(1));
}

TEST(DynamicDimCompileCache, WhatCameFirstGoesFirstAndTheTemplateStays) {
  DynamicDimCompileCache cache(Device::Cpu(), 1);
  const CompiledHandle two = cache.get_or_specialize(2, kTwo, [] { return model(); });
  two->commit_no_wait({{"x", Floats{1, 2, 3, 4}}});
  cache.get_or_specialize(3, kThree, never);
  EXPECT_FALSE(cache.contains(2));
  EXPECT_EQ(cache.len(), 1u);
  EXPECT_EQ(two->read_output_row(0, 0, 2), (Floats{4, 6}));  // its pending run has ended
  EXPECT_EQ(run(two, {1, 1, 1, 1}), (Floats{2, 2}));         // the handle is good
  EXPECT_TRUE(cache.has_template());
  EXPECT_EQ(run(cache.get_or_specialize(2, kTwo, never), {1, 2, 3, 4}), (Floats{4, 6}));
}

TEST(DynamicDimCompileCache, AFailedLoweringLeavesNoTemplate) {
  DynamicDimCompileCache cache(Device::Cpu(), 2);
  EXPECT_THROW(cache.get_or_specialize(2, kTwo, never), std::logic_error);
  EXPECT_FALSE(cache.has_template());
  EXPECT_TRUE(contains(user_error_of([&] { cache.ensure_template([] { return Graph(); }); }),
                       "no outputs"));
  EXPECT_FALSE(cache.has_template());
  EXPECT_TRUE(cache.is_empty());
  EXPECT_EQ(run(cache.get_or_specialize(2, kTwo, [] { return model(); }), {1, 2, 3, 4}),
            (Floats{4, 6}));
}

TEST(DynamicDimCompileCache, ABindingThatDoesNotFitAddsNoEntry) {
  DynamicDimCompileCache cache(Device::Null(), 2);
  cache.ensure_template([] { return model(); });
  for (const auto& [binding, why] :
       {std::pair<DimBinding, const char*>{{}, "no value for batch"},
        {{{"batch", 2}, {"seq", 3}}, "seq = 3: no input has such a dim"},
        {{{"batch", 0}}, "batch"}}) {
    EXPECT_TRUE(contains(user_error_of([&] { cache.get_or_specialize(1, binding, never); }), why));
  }
  EXPECT_TRUE(cache.is_empty());
  cache.get_or_specialize(1, kTwo, never);
}

TEST(DynamicDimCompileCache, AnotherBindingForAKeyIsAnErrorThatNamesBoth) {
  DynamicDimCompileCache cache(Device::Null(), 2);
  cache.get_or_specialize(7, kTwo, [] { return model(); });
  const std::string differ = user_error_of([&] { cache.get_or_specialize(7, kThree, never); });
  EXPECT_TRUE(contains(differ, "[DynamicDimCompileCache] key 7")) << differ;
  EXPECT_TRUE(contains(differ, "dim_binding.batch 2, now 3")) << differ;
}

TEST(DynamicDimCompileCache, OtherOptionsAreAnErrorThatNamesBoth) {
  DynamicDimCompileCache cache(Device::Cpu(), 2);
  const CompiledHandle one =
      cache.get_or_specialize(7, kTwo, [] { return model(); }, {.threads = 1});
  EXPECT_EQ(one->threads(), 1);
  EXPECT_EQ(cache.get_or_specialize(7, kTwo, never, {.threads = 1, .name = "in logs"}), one);
  EXPECT_TRUE(contains(user_error_of([&] { cache.get_or_specialize(7, kTwo, never); }),
                       "threads 1, now all"));
  // Threads are an entry's own, what decides the template is not.
  EXPECT_EQ(cache.get_or_specialize(8, kThree, never, {.threads = 2})->threads(), 2);
  const CompileOptions common = {.dispatch = DispatchOptions{DispatchPolicy::ForceCommon}};
  const std::string differ = user_error_of([&] { cache.ensure_template(never, common); });
  EXPECT_TRUE(contains(differ, "the template was planned by other options")) << differ;
  EXPECT_TRUE(contains(differ, "dispatch prefer-native, now force-common")) << differ;
  EXPECT_EQ(user_error_of([&] { cache.get_or_specialize(9, kTwo, never, common); }), differ);
  EXPECT_TRUE(contains(
      user_error_of([&] { cache.get_or_specialize(9, kTwo, never, {.device = Device::Null()}); }),
      "is for cpu, the options say null"));
  for (const uint64_t key : {7, 9}) {
    EXPECT_TRUE(contains(user_error_of([&] {
                           cache.get_or_specialize(key, kTwo, never,
                                                   {.threads = 1, .dim_binding = kThree});
                         }),
                         "dim_binding"));
  }
}

TEST(DynamicDimCompileCache, ItsPolicyIsThatOfTheTemplate) {
  DynamicDimCompileCache cache(Device::Cpu(), 2, PrecisionPolicy::AlwaysBf16);
  const auto squares = [] {
    HirModule m;
    const HirValue x = m.input("x", {{sym::batch()}, DType::F32});
    m.set_outputs({{"y", m.op1("mul", {x, x})}});
    return m;
  };
  const float rounded = 1.0078125F;  // 1.01 as bf16
  EXPECT_EQ(run(cache.get_or_specialize(2, kTwo, squares), {1.01F, 1})[0], rounded * rounded);
}

TEST(DynamicDimCompileCache, GraphsAndModulesAreTemplatesToo) {
  const auto graph = [] {
    Graph g;
    const Value x = g.input("x", {{sym::batch()}, DType::F32});
    g.set_outputs({{"y", g.mul(x, g.scalar(DType::F32, 3))}});
    return g;
  };
  DynamicDimCompileCache of_graph(Device::Cpu(), 1), of_module(Device::Cpu(), 1);
  EXPECT_EQ(run(of_graph.get_or_specialize(1, kTwo, graph), {1, 2}), (Floats{3, 6}));
  EXPECT_EQ(
      run(of_module.get_or_specialize(1, kTwo, [&] { return GraphModule("g", graph()); }), {1, 2}),
      (Floats{3, 6}));
}

TEST(DynamicDimCompileCache, ParametersSetOnAnEntryAreItsOwn) {
  DynamicDimCompileCache cache(Device::Cpu(), 2);
  cache.get_or_specialize(2, kTwo, with_param)->set_param("w", Floats{10, 100});
  cache.get_or_specialize(3, kThree, never)->set_param("w", Floats{1, 1});
  EXPECT_EQ(run(cache.get_or_specialize(2, kTwo, never), {1, 2, 3, 4}), (Floats{10, 200, 30, 400}));
}

TEST(DynamicDimCompileCache, EntriesOfATemplateWithAStoreShareIt) {
  DynamicDimCompileCache cache(Device::Cpu(), 1);
  const ParamStore weights({{"w", Floats{10, 100}}});
  const auto build = [&] { return std::pair(with_param(), weights); };
  const CompiledHandle two = cache.get_or_specialize(2, kTwo, build);
  const CompiledHandle three = cache.get_or_specialize(3, kThree, never);
  EXPECT_EQ(run(two, {1, 2, 3, 4}), (Floats{10, 200, 30, 400}));
  two->set_param("w", Floats{1, 0});
  EXPECT_EQ(run(three, {1, 2, 3, 4, 5, 6}), (Floats{1, 0, 3, 0, 5, 0}));
  // What is compiled later, after an eviction, has it as well.
  EXPECT_EQ(run(cache.get_or_specialize(2, kTwo, never), {1, 2, 3, 4}), (Floats{1, 0, 3, 0}));
}

TEST(DynamicDimCompileCache, AStoreThatDoesNotFitLeavesNoTemplate) {
  DynamicDimCompileCache cache(Device::Cpu(), 1);
  for (const auto& [store, why] :
       {std::pair<ParamStore, const char*>{ParamStore({{"v", Floats{1, 2}}}), "\"v\""},
        {ParamStore({{"w", Floats{1, 2, 3}}}), "\"w\" is f32[2]"}}) {
    const auto build = [&] { return std::pair(with_param(), store); };
    EXPECT_TRUE(contains(user_error_of([&] { cache.get_or_specialize(2, kTwo, build); }), why));
    EXPECT_FALSE(cache.has_template());
  }
}

TEST(DynamicDimCompileCache, WeightsOfTheModelAreHeldOnceForAllEntries) {
  constexpr int64_t kWidth = 64;
  const int64_t before = runtime::bytes_of_all_weights();
  DynamicDimCompileCache cache(Device::Cpu(), 4);
  const auto build = [] {
    HirModule m;
    const HirValue x = m.input("x", {{sym::batch(), kWidth}, DType::F32});
    const Floats w(kWidth * kWidth, 0.5F);
    m.set_outputs({{"y", m.linear(x, m.param("w", {{kWidth, kWidth}, DType::F32},
                                             std::as_bytes(std::span(w))))}});
    return m;
  };
  const auto serve = [&](int64_t batch) {
    const CompiledHandle graph =
        cache.get_or_specialize(static_cast<uint64_t>(batch), {{"batch", batch}}, build);
    EXPECT_EQ(run(graph, Floats(static_cast<size_t>(batch * kWidth), 1))[0], kWidth * 0.5F);
  };
  serve(1);
  const int64_t of_one = runtime::bytes_of_all_weights() - before;
  EXPECT_GE(of_one, kWidth * kWidth * 4);
  for (const int64_t batch : {2, 3, 4}) serve(batch);
  EXPECT_LE(static_cast<double>(runtime::bytes_of_all_weights() - before),
            1.05 * static_cast<double>(of_one));
}

TEST(DynamicDimCompileCache, SyncAllWaitsForThePendingRunsOfAll) {
  DynamicDimCompileCache cache(Device::Cpu(), 2);
  const CompiledHandle two = cache.get_or_specialize(2, kTwo, [] { return model(); });
  two->commit_no_wait({{"x", Floats{1, 2, 3, 4}}});
  cache.sync_all();
  EXPECT_EQ(two->read_output_row(0, 0, 2), (Floats{4, 6}));
}

TEST(DynamicDimCompileCache, ABuilderThatAsksTheCacheForAnEntryIsAnError) {
  DynamicDimCompileCache cache(Device::Null(), 2);
  const auto again = [&] {
    cache.get_or_specialize(2, kTwo, never);
    return model();
  };
  EXPECT_TRUE(contains(user_error_of([&] { cache.get_or_specialize(2, kTwo, again); }),
                       "needs that same entry"));
  EXPECT_FALSE(cache.has_template());
}

TEST(DynamicDimCompileCache, ACapacityOfZeroIsAnError) {
  EXPECT_TRUE(contains(user_error_of([] { const DynamicDimCompileCache cache(Device::Cpu(), 0); }),
                       "capacity"));
}

}  // namespace
}  // namespace tenon
