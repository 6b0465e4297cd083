// CompileCache: compiled once by key, first in first out, nothing of a build that failed. The
// graphs: y = x * factor, by hand.
#include "tenon/compile_cache.h"

#include <gtest/gtest.h>

#include <stdexcept>

#include "tenon/tenon.h"
#include "tests/error_of.h"

namespace tenon {
namespace {

const std::vector<float> kX = {1, 2, 3};

Graph times(double factor) {
  Graph g;
  const Value x = g.input("x", {{3}, DType::F32});
  g.set_outputs({{"y", g.mul(x, g.scalar(DType::F32, factor))}});
  return g;
}

// y = x * w
Graph times_param() {
  Graph g;
  const Value x = g.input("x", {{3}, DType::F32});
  g.set_outputs({{"y", g.mul(x, g.param("w", {{1}, DType::F32}))}});
  return g;
}

std::vector<float> run(const CompiledHandle& graph) { return graph->run({{"x", kX}})[0]; }

TEST(CompileCache, TheBuilderRunsOncePerKey) {
  CompileCache cache(Device::Cpu(), 4);
  EXPECT_TRUE(cache.is_empty());
  int built = 0;
  const auto build = [&] { return times(++built); };
  const CompiledHandle first = cache.get_or_compile(1, build);
  EXPECT_EQ(cache.get_or_compile(1, build), first);
  const CompiledHandle other = cache.get_or_compile(2, build);
  EXPECT_EQ(built, 2);
  EXPECT_EQ(run(first), (std::vector<float>{1, 2, 3}));
  EXPECT_EQ(run(other), (std::vector<float>{2, 4, 6}));
  EXPECT_EQ(cache.len(), 2u);
  EXPECT_FALSE(cache.is_empty());
}

TEST(CompileCache, ABuilderReturnsAModelOfAnyStage) {
  CompileCache cache(Device::Cpu(), 4);
  const auto blocks = [] {
    HirModule m;
    const HirValue x = m.input("x", {{3}, DType::F32});
    m.set_outputs({{"y", m.op1("mul", {x, x})}});
    return m;
  };
  const std::vector<float> twice = {2, 4, 6}, squares = {1, 4, 9};
  EXPECT_EQ(run(cache.get_or_compile(1, blocks)), squares);
  EXPECT_EQ(run(cache.get_or_compile(2, [] { return GraphModule("m", times(2)); })), twice);
  EXPECT_EQ(
      run(cache.get_or_compile(3, [] { return CompilePipeline().compile_graph(times(2)).lir; })),
      twice);
}

TEST(CompileCache, WhatCameFirstGoesFirstWhateverIsUsed) {
  CompileCache cache(Device::Cpu(), 2);
  int built = 0;
  const auto build = [&] { return times(++built); };
  cache.get_or_compile(1, build);
  cache.get_or_compile(2, build);
  cache.get_or_compile(1, build);  // a hit does not make it younger
  cache.get_or_compile(3, build);
  EXPECT_FALSE(cache.contains(1));
  EXPECT_TRUE(cache.contains(2));
  EXPECT_TRUE(cache.contains(3));
  EXPECT_EQ(cache.len(), 2u);
  cache.get_or_compile(1, build);
  EXPECT_EQ(built, 4);
  EXPECT_FALSE(cache.contains(2));
}

TEST(CompileCache, AnEntryGoesOnlyAfterTheNewOneWasCompiled) {
  CompileCache cache(Device::Cpu(), 1);
  cache.get_or_compile(1, [] { return times(1); });
  cache.get_or_compile(2, [&] {
    EXPECT_TRUE(cache.contains(1));
    return times(2);
  });
  EXPECT_FALSE(cache.contains(1));
}

TEST(CompileCache, HandlesStayValidAfterEviction) {
  CompileCache cache(Device::Cpu(), 1);
  const CompiledHandle first = cache.get_or_compile(1, [] { return times(5); });
  cache.get_or_compile(2, [] { return times(2); });
  EXPECT_FALSE(cache.contains(1));
  EXPECT_EQ(run(first), (std::vector<float>{5, 10, 15}));
}

std::vector<Device> devices_that_run() {
  std::vector<Device> devices;
  for (const Device& device : known_devices()) {
    if (device.kind() != Device::Kind::Null && is_available(device)) devices.push_back(device);
  }
  return devices;
}

// Where runs go on by themselves, what a run gives can be read only after it was waited for.
TEST(CompileCache, PendingRunsEndBeforeAnEntryGoes) {
  for (const Device& device : devices_that_run()) {
    CompileCache cache(device, 1);
    const CompiledHandle first = cache.get_or_compile(1, [] { return times(5); });
    first->commit_no_wait({{"x", kX}});
    cache.get_or_compile(2, [] { return times(2); });
    EXPECT_EQ(first->read_output_row(0, 2, 1), std::vector<float>{15}) << to_string(device);
  }
}

TEST(CompileCache, SyncAllWaitsForThePendingRunsOfAll) {
  for (const Device& device : devices_that_run()) {
    CompileCache cache(device, 2);
    const CompiledHandle graphs[] = {cache.get_or_compile(1, [] { return times(5); }),
                                     cache.get_or_compile(2, [] { return times(2); })};
    for (const CompiledHandle& graph : graphs) graph->commit_no_wait({{"x", kX}});
    cache.sync_all();
    EXPECT_EQ(graphs[0]->read_output_row(0, 2, 1), std::vector<float>{15}) << to_string(device);
    EXPECT_EQ(graphs[1]->read_output_row(0, 2, 1), std::vector<float>{6}) << to_string(device);
  }
}

TEST(CompileCache, AFailingBuildLeavesTheCacheAsItWas) {
  CompileCache cache(Device::Cpu(), 1);
  cache.get_or_compile(1, [] { return times(1); });
  EXPECT_THROW(cache.get_or_compile(2, []() -> Graph { throw std::runtime_error("no file"); }),
               std::runtime_error);
  EXPECT_NE(
      user_error_of([&] { cache.get_or_compile(2, [] { return Graph(); }); }).find("no outputs"),
      std::string::npos);
  EXPECT_TRUE(cache.contains(1));
  EXPECT_FALSE(cache.contains(2));
  EXPECT_EQ(run(cache.get_or_compile(2, [] { return times(3); })),
            (std::vector<float>{3, 6, 9}));  // the next one tries again
}

TEST(CompileCache, ParametersSetOnAnEntryPersist) {
  CompileCache cache(Device::Cpu(), 2);
  cache.get_or_compile(1, times_param)->set_param("w", std::vector<float>{4});
  cache.get_or_compile(2, times_param)->set_param("w", std::vector<float>{7});
  EXPECT_EQ(run(cache.get_or_compile(1, times_param)), (std::vector<float>{4, 8, 12}));
  EXPECT_EQ(run(cache.get_or_compile(2, times_param)), (std::vector<float>{7, 14, 21}));
}

TEST(CompileCache, AHitWithOtherOptionsIsAnErrorThatNamesBoth) {
  CompileCache cache(Device::Cpu(), 4);
  const auto build = [] { return times(2); };
  const CompileOptions one = {.threads = 1};
  const CompiledHandle graph = cache.get_or_compile_with_options(7, one, build);
  EXPECT_EQ(graph->threads(), 1);
  EXPECT_EQ(cache.get_or_compile_with_options(7, one, build), graph);
  EXPECT_EQ(cache.get_or_compile_with_options(
                7, {.device = Device::Cpu(), .threads = 1, .name = "as logs call it"}, build),
            graph);
  const std::string differ = user_error_of([&] {
    cache.get_or_compile_with_options(7, {.threads = 2, .memory = PlanOptions{PlanMode::Disabled}},
                                      build);
  });
  EXPECT_NE(differ.find("[CompileCache] key 7"), std::string::npos) << differ;
  EXPECT_NE(differ.find("threads 1, now 2"), std::string::npos) << differ;
  EXPECT_NE(differ.find("memory arena 64, now disabled 64"), std::string::npos) << differ;
  EXPECT_NE(user_error_of([&] { cache.get_or_compile(7, build); }).find("threads 1, now all"),
            std::string::npos);
  EXPECT_EQ(cache.get_or_compile_with_options(7, one, build), graph);
}

TEST(CompileCache, ItsPolicyIsThatOfEveryEntryWithoutOne) {
  CompileCache cache(Device::Cpu(), 4, PrecisionPolicy::AlwaysBf16);
  const auto product = [] {
    Graph g;
    const Value x = g.input("x", {{3}, DType::F32});
    g.set_outputs({{"y", g.mul(x, x)}});
    return g;
  };
  const auto squares_of = [&](const CompiledHandle& graph) {
    return graph->run({{"x", std::vector<float>{1.01F, 1, 1}}})[0][0];
  };
  const float rounded = 1.0078125F;  // 1.01 as bf16
  EXPECT_EQ(squares_of(cache.get_or_compile(1, product)), rounded * rounded);
  const CompileOptions exact = {.precision_policy =
                                    PrecisionOptions{.policy = PrecisionPolicy::AlwaysF32}};
  EXPECT_EQ(squares_of(cache.get_or_compile_with_options(2, exact, product)), 1.01F * 1.01F);
}

TEST(CompileCache, OptionsForAnotherDeviceAreAnError) {
  CompileCache cache(Device::Cpu(), 1);
  const std::string wrong = user_error_of([&] {
    cache.get_or_compile_with_options(1, {.device = Device::Null()}, [] { return times(2); });
  });
  EXPECT_NE(wrong.find("is for cpu, the options say null"), std::string::npos) << wrong;
  EXPECT_TRUE(cache.is_empty());
}

TEST(CompileCache, ACapacityOfZeroIsAnError) {
  EXPECT_NE(user_error_of([] { const CompileCache cache(Device::Cpu(), 0); }).find("capacity"),
            std::string::npos);
}

TEST(CompileCache, AShapeIsAKey) {
  EXPECT_EQ(CompileCache::shape_key(0, 0), 0u);
  EXPECT_EQ(CompileCache::shape_key(3, 128), 0x0000'0003'0000'0080u);
  EXPECT_EQ(CompileCache::shape_key(0xFFFF'FFFF, 0xFFFF'FFFF), 0xFFFF'FFFF'FFFF'FFFFu);
  EXPECT_NE(CompileCache::shape_key(1, 2), CompileCache::shape_key(2, 1));
  for (const auto& [batch, seq] :
       {std::pair<int64_t, int64_t>{0x1'0000'0000, 1}, {1, 0x1'0000'0000}, {-1, 1}, {1, -1}}) {
    EXPECT_NE(user_error_of([&] { CompileCache::shape_key(batch, seq); }).find("[shape_key]"),
              std::string::npos);
  }
}

}  // namespace
}  // namespace tenon
