// AotCache: what was compiled is found by everything that decides it, and by nothing less; what is
// damaged is compiled again. The graphs: y = relu(x * factor + w), by hand.
#include "tenon/aot_cache.h"

#include <gtest/gtest.h>
#include <unistd.h>

#include <algorithm>
#include <filesystem>
#include <fstream>
#include <random>

#include "tenon/tenon.h"
#include "tests/error_of.h"

namespace tenon {
namespace {

namespace fs = std::filesystem;

const std::vector<float> kX = {-1, 2, 3, 4};
const std::vector<float> kW = {10, 20};

struct Model {
  double factor = 2;
  int64_t most = 64;  // of n
  std::string origin = "layer", output = "y", param = "w", unused = {};
  int marked = -1;
};

// x is [n, 2], w is [2].
Graph build(const Model& model = {}, const std::vector<float>& w = kW) {
  Graph g;
  const Dim rows = model.marked < 0 ? Dim(Symbol("n", {1, model.most})) : Dim(model.most);
  const Value x = g.input("x", {{rows, 2}, DType::F32}, {.bucket_axis = model.marked});
  const Value weights = g.param(model.param, {{2}, DType::F32}, std::as_bytes(std::span(w)));
  if (!model.unused.empty()) g.param(model.unused, {{2}, DType::F32});
  g.set_origin(model.origin);
  const Value scaled = g.mul(x, g.scalar(DType::F32, model.factor));
  g.set_outputs({{model.output, g.relu(g.add(scaled, weights))}});
  return g;
}

std::vector<float> run(CompiledGraph& graph) { return graph.run({{"x", view(kX, {2, 2})}})[0]; }
const std::vector<float> kY = {8, 24, 16, 28};  // of the model as it is

class AotCacheTest : public ::testing::Test {
 protected:
  void TearDown() override { fs::remove_all(folder_); }

  std::string folder() const { return folder_; }
  AotCache open() const { return AotCache(folder()); }  // as another process would
  // The files of entries: their names are digests.
  std::vector<fs::path> files() const {
    std::vector<fs::path> files;
    for (const auto& file : fs::directory_iterator(folder_)) {
      if (file.path().filename().string().size() == 64) files.push_back(file.path());
    }
    return files;
  }

 private:
  fs::path folder_ = fs::path(testing::TempDir()) /
                     ("tenon_aot_" + std::to_string(getpid()) + "_" +
                      testing::UnitTest::GetInstance()->current_test_info()->name());
};

TEST_F(AotCacheTest, WhatWasCompiledIsReadByTheNext) {
  CompiledGraph made = open().compile(build());
  EXPECT_FALSE(made.stats().from_disk);
  CompiledGraph found = open().compile(build());
  EXPECT_TRUE(found.stats().from_disk);
  EXPECT_EQ(run(made), kY);
  EXPECT_EQ(run(found), kY);
  EXPECT_EQ(found.stats().kernels, made.stats().kernels);
  EXPECT_EQ(found.stats().steps, made.stats().steps);
  EXPECT_EQ(found.fusion_report().to_json(), made.fusion_report().to_json());
  EXPECT_EQ(found.dispatch_report().to_json(), made.dispatch_report().to_json());
  EXPECT_EQ(found.peak_bytes({{"n", 7}}), made.peak_bytes({{"n", 7}}));
}

TEST_F(AotCacheTest, WeightsAreThoseOfTheModelThatAsks) {
  open().compile(build());
  CompiledGraph other = open().compile(build({}, {100, 200}));
  EXPECT_TRUE(other.stats().from_disk);
  EXPECT_EQ(run(other), (std::vector<float>{98, 204, 106, 208}));
  other.set_param("w", kW);
  EXPECT_EQ(run(other), kY);
}

TEST_F(AotCacheTest, AnotherModelIsAnotherEntry) {
  AotCache cache = open();
  cache.compile(build());
  const Model others[] = {{.factor = 3},  {.most = 65},    {.origin = "other"},     {.output = "z"},
                          {.param = "v"}, {.unused = "u"}, {.most = 2, .marked = 0}};
  for (const Model& model : others)
    EXPECT_FALSE(cache.compile(build(model)).stats().from_disk) << "n up to " << model.most;
  for (const Model& model : others) EXPECT_TRUE(cache.compile(build(model)).stats().from_disk);
  EXPECT_EQ(cache.entries().size(), 1 + std::size(others));
}

TEST_F(AotCacheTest, AnotherOptionIsAnotherEntryUnlessItDecidesNothing) {
  AotCache cache = open();
  cache.compile(build());
  CompileOptions others[] = {
      {.cpu = "avx2"},
      {.codegen = "c"},
      {.precision_policy = PrecisionOptions{.policy = PrecisionPolicy::AlwaysF16}},
      {.dim_binding = {{"n", 2}}},
      {.dispatch = DispatchOptions{.policy = DispatchPolicy::ForceCommon}},
      {.memory = PlanOptions{.mode = PlanMode::Disabled}},
      {.optimizer = OptStrategy::Plain{}},
  };
  for (CompileOptions& options : others) {
    EXPECT_FALSE(cache.compile(build(), options).stats().from_disk);
    CompiledGraph again = cache.compile(build(), options);
    EXPECT_TRUE(again.stats().from_disk);
    EXPECT_EQ(run(again), kY);
  }
  EXPECT_TRUE(cache.compile(build(), {.threads = 1, .name = "mine"}).stats().from_disk);
}

TEST_F(AotCacheTest, ModelsOfEveryStageAreKept) {
  HirModule blocks;
  const HirValue x = blocks.input("x", {{2, 2}, DType::F32});
  blocks.set_outputs({{"y", blocks.op1("mul", {x, x})}});
  const LirModule lir = CompilePipeline().compile_graph(build()).lir;
  AotCache cache = open();
  for (const bool found : {false, true}) {
    EXPECT_EQ(cache.compile(blocks).stats().from_disk, found);
    EXPECT_EQ(cache.compile(GraphModule("m", build({.factor = 5}))).stats().from_disk, found);
    CompiledGraph planned = cache.compile(lir);
    EXPECT_EQ(planned.stats().from_disk, found);
    EXPECT_EQ(run(planned), kY);
  }
}

TEST_F(AotCacheTest, ExtentsAreBoundOnce) {
  const LirModule base = CompilePipeline().compile_graph(build()).lir;
  AotCache cache = open();
  EXPECT_FALSE(cache.specialize_cached(base, {{"n", 2}}).stats().from_disk);
  EXPECT_FALSE(cache.specialize_cached(base, {{"n", 3}}).stats().from_disk);
  CompiledGraph found = cache.specialize_cached(base, {{"n", 2}});
  EXPECT_TRUE(found.stats().from_disk);
  EXPECT_TRUE(found.dims().empty());
  EXPECT_EQ(run(found), kY);
  EXPECT_NE(user_error_of([&] { cache.specialize_cached(base, {}); }).find("n"), std::string::npos);
  EXPECT_NE(user_error_of([&] { cache.specialize_cached(base, {{"n", 65}}); }).find("65"),
            std::string::npos);
}

TEST_F(AotCacheTest, BucketsKeepTheirActiveExtentAndItsReport) {
  const Model bucket{.most = 2, .marked = 0};
  CompiledGraph made = open().compile(build(bucket));
  CompiledGraph found = open().compile(build(bucket));
  EXPECT_TRUE(found.stats().from_disk);
  EXPECT_EQ(found.active_extent_report().to_string(), made.active_extent_report().to_string());
  found.set_active_extent(1, 2);
  EXPECT_EQ(found.run({{"x", view(kX, {2, 2})}})[0], (std::vector<float>{8, 24, 0, 0}));

  // Without a mark, the program of the bucket is compiled when it is first needed, and kept too.
  const CompileOptions two{.dim_binding = {{"n", 2}}};
  for (const bool again : {false, true}) {
    CompiledGraph graph = open().compile(build({.factor = 5}), two);
    EXPECT_EQ(graph.stats().from_disk, again);
    graph.set_active_extent(1, 2);
    EXPECT_EQ(graph.run({{"x", view(kX, {2, 2})}})[0], (std::vector<float>{5, 30, 0, 0}));
  }
  EXPECT_EQ(files().size(), 3u);
}

TEST_F(AotCacheTest, WhoAsksForCleanFusionGetsItsErrorEachTime) {
  AotCache cache = open();
  const CompileOptions skips{.fusion = {.skip = {{"fuse_linear"}}}};
  Graph g;
  const Value x = g.input("x", {{2, 2}, DType::F32});
  const Value w = g.param("w", {{2, 2}, DType::F32});
  const Value bias = g.param("b", {{2}, DType::F32});
  g.set_outputs({{"y", g.relu(g.add(g.matmul(x, w), bias))}});
  cache.compile(g, skips);
  CompileOptions clean = skips;
  clean.fusion.assert_clean = true;
  for (int i = 0; i < 2; ++i)
    EXPECT_NE(error_of([&] { cache.compile(g, clean); }).find("fused_matmul_bias_act"),
              std::string::npos);
}

TEST_F(AotCacheTest, DamageAnywhereIsCompiledAgain) {
  open().compile(build());
  ASSERT_EQ(files().size(), 1u);
  const fs::path file = files()[0];
  const auto size = static_cast<int64_t>(fs::file_size(file));
  std::mt19937_64 random(7);
  for (int round = 0; round < 60; ++round) {
    if (round % 6 == 0) {
      fs::resize_file(file, random() % static_cast<uint64_t>(size));
    } else {
      std::fstream in_place(file, std::ios::in | std::ios::out | std::ios::binary);
      const auto at = static_cast<std::streamoff>(random() % static_cast<uint64_t>(size));
      in_place.seekg(at);
      const int byte = in_place.get();
      in_place.seekp(at);
      in_place.put(static_cast<char>(byte ^ (1 << random() % 8)));
    }
    CompiledGraph graph = open().compile(build(), {.verbosity = Verbosity::Off});
    EXPECT_FALSE(graph.stats().from_disk) << "round " << round;
    EXPECT_EQ(run(graph), kY);
    EXPECT_TRUE(open().compile(build()).stats().from_disk) << "it is replaced";
  }
}

TEST_F(AotCacheTest, AnEntryUnderAnotherNameIsNotTaken) {
  open().compile(build());
  const fs::path first = files()[0];
  open().compile(build({.factor = 3}));
  const std::vector<fs::path> both = files();
  fs::copy_file(first, both[0] == first ? both[1] : both[0], fs::copy_options::overwrite_existing);
  CompiledGraph graph = open().compile(build({.factor = 3}));
  EXPECT_FALSE(graph.stats().from_disk);
  EXPECT_EQ(run(graph), (std::vector<float>{7, 26, 19, 32}));
}

TEST_F(AotCacheTest, AFolderThatCannotBeUsedCostsNothingButTime) {
  std::ofstream(folder()) << "a file";
  AotCache cache(folder() + "/below");
  EXPECT_FALSE(cache.usable());
  CompiledGraph graph = cache.compile(build());
  EXPECT_EQ(run(graph), kY);
  EXPECT_TRUE(cache.entries().empty());
}

TEST_F(AotCacheTest, ModelsWithVeryLongNamesAreKeptToo) {
  const auto long_names = [](char last) {
    Graph g;
    const Value x = g.input(std::string(2'000'000, 'x') + last, {{2}, DType::F32});
    g.set_outputs({{"y", g.relu(x)}});
    return g;
  };
  AotCache cache = open();
  cache.compile(long_names('a'));
  EXPECT_TRUE(cache.compile(long_names('a')).stats().from_disk);
  EXPECT_FALSE(cache.compile(long_names('b')).stats().from_disk);
}

TEST_F(AotCacheTest, OptionsAgainstItAreAnError) {
  EXPECT_NE(user_error_of([&] {
              open().compile(build(), {.disk_cache = false});
            }).find("disk_cache = false"),
            std::string::npos);
}

TEST_F(AotCacheTest, SaysWhyAModelIsNotFound) {
  AotCache cache = open();
  EXPECT_FALSE(cache.why(build()).nearest);
  cache.compile(build());
  EXPECT_TRUE(cache.why(build()).found);
  const auto differing = [&](const Model& model, const CompileOptions& options) {
    std::vector<std::string> fields;
    const AotCache::Why why = cache.why(build(model), options);
    EXPECT_FALSE(why.found);
    for (const auto& difference : why.differences) {
      EXPECT_NE(difference.wanted, difference.kept);
      fields.push_back(difference.field);
    }
    return fields;
  };
  using Fields = std::vector<std::string>;
  EXPECT_EQ(differing({.factor = 3}, {}), Fields{"graph"});
  EXPECT_EQ(differing({.origin = "other"}, {}), Fields{"origins"});
  EXPECT_EQ(differing({.most = 65}, {}), (Fields{"symbols", "graph"}));
  EXPECT_EQ(differing({}, {.cpu = "avx2"}), (Fields{"cpu.features", "cpu"}));
  EXPECT_EQ(differing({}, {.optimizer = OptStrategy::Plain{}}), Fields{"optimizer"});
  const auto why = cache.why(build({.most = 65}));
  EXPECT_EQ(why.differences[0].wanted, "n 1..65");
  EXPECT_EQ(why.differences[0].kept, "n 1..64");
}

TEST_F(AotCacheTest, EntriesAreListedVerifiedAndCleared) {
  AotCache cache = open();
  cache.compile(build());
  cache.compile(build({.factor = 3}));
  cache.compile(build());  // used last
  const std::vector<AotCache::Entry> entries = cache.entries();
  ASSERT_EQ(entries.size(), 2u);
  EXPECT_GT(entries[0].last_use, entries[1].last_use);
  EXPECT_EQ(entries[0].key, cache.why(build()).nearest->key);
  EXPECT_EQ(entries[0].value("inputs"), "x f32[n, 2]");
  EXPECT_EQ(entries[0].value("none such"), "");
  EXPECT_TRUE(cache.verify().empty());
  fs::resize_file(files()[0], fs::file_size(files()[0]) - 1);
  ASSERT_EQ(cache.verify().size(), 1u);
  EXPECT_EQ(cache.verify()[0].file, files()[0].filename());
  EXPECT_NE(cache.verify()[0].reason, "");
  EXPECT_EQ(cache.verify(/*remove_damaged=*/true).size(), 1u);
  EXPECT_EQ(files().size(), 1u);
  cache.clear();
  EXPECT_TRUE(files().empty());
  EXPECT_FALSE(cache.compile(build()).stats().from_disk);
}

TEST_F(AotCacheTest, WhatWasUsedLongestAgoGoesWhenThereIsNoRoom) {
  open().compile(build());
  const uint64_t bytes = fs::file_size(files()[0]);
  AotCache cache(folder(), 2 * bytes + bytes / 2);
  cache.compile(build({.factor = 3}));
  cache.compile(build());
  cache.compile(build({.factor = 4}));
  EXPECT_TRUE(cache.why(build()).found);
  EXPECT_FALSE(cache.why(build({.factor = 3})).found);
}

}  // namespace
}  // namespace tenon
