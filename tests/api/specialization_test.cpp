// Specialization through the public API: the same bits before, while and after code is swapped, for
// every way of compiling; what it says about itself; options that make no sense.
#include "tenon/specialization.h"

#include <gtest/gtest.h>

#include <atomic>
#include <chrono>
#include <cstdlib>
#include <thread>

#include "base/knobs.h"
#include "tenon/tenon.h"
#include "tests/driver/small_encoder.h"
#include "tests/error_of.h"
#include "tests/sanitizers.h"

namespace tenon {
namespace {

using graph_test::Request;
using graph_test::small_encoder;
using Floats = std::vector<float>;

constexpr Specialization kAtOnce{.after = 1, .cpu_share = 1};

Floats hidden_of(CompiledGraph& graph, int64_t batch, int64_t seq, int64_t spare = 0) {
  Request request(batch, seq, spare);
  graph.run_into(request.inputs, request.outputs);
  return request.hidden();
}

TEST(Specialization, GivesTheSameBitsBeforeAndAfter) {
  for (const char* cpu : graph_test::cpus_here()) {
    CompiledGraph any = small_encoder({.cpu = cpu});
    CompiledGraph special = small_encoder({.cpu = cpu, .specialize = Specialization{.after = 3}});
    int shapes = 0;
    for (const auto& [batch, seq] : {std::pair{1, 1}, {1, 7}, {2, 16}, {3, 37}, {8, 64}}) {
      const Floats want = hidden_of(any, batch, seq);
      for (int run = 1; run <= 3; ++run) {
        EXPECT_EQ(special.specialization_stats().shapes, shapes);
        EXPECT_EQ(hidden_of(special, batch, seq), want) << batch << " x " << seq;
      }
      special.wait_for_specialization();
      EXPECT_EQ(special.specialization_stats().shapes, ++shapes);
      EXPECT_EQ(hidden_of(special, batch, seq), want) << batch << " x " << seq;
      special.set_threads(1);
      EXPECT_EQ(hidden_of(special, batch, seq), want) << batch << " x " << seq;
      special.set_threads(2);
    }
    for (const auto& [batch, seq] : {std::pair{8, 64}, {1, 1}, {3, 37}})  // from one to another
      EXPECT_EQ(hidden_of(special, batch, seq), hidden_of(any, batch, seq));
  }
}

TEST(Specialization, OfMemoryWithGapsIsItsOwn) {
  CompiledGraph graph = small_encoder({.specialize = kAtOnce});
  const Floats want = hidden_of(graph, 2, 9);
  graph.wait_for_specialization();
  EXPECT_EQ(hidden_of(graph, 2, 9, 3), want);
  graph.wait_for_specialization();
  EXPECT_EQ(graph.specialization_stats().shapes, 2);
  EXPECT_EQ(hidden_of(graph, 2, 9, 3), want);
  EXPECT_EQ(hidden_of(graph, 2, 9), want);
}

TEST(Specialization, SwapsCodeWhileClonesRun) {
  CompiledGraph any = small_encoder();
  CompiledGraph special = small_encoder({.threads = 1, .specialize = Specialization{.after = 2}});
  constexpr std::pair<int64_t, int64_t> kShapes[] = {{1, 5}, {2, 8}, {1, 33}};
  std::vector<Floats> want;
  for (const auto& [batch, seq] : kShapes) want.push_back(hidden_of(any, batch, seq));
  std::atomic<int> wrong = 0;
  std::atomic<bool> specialized = false;
  {
    std::vector<std::jthread> threads;
    for (int i = 0; i < 3; ++i) {
      threads.emplace_back([&, clone = special.clone()]() mutable {
        for (bool last = false; !last;) {
          last = specialized;
          for (size_t k = 0; k < std::size(kShapes); ++k)
            wrong += hidden_of(clone, kShapes[k].first, kShapes[k].second) != want[k];
          std::this_thread::sleep_for(std::chrono::milliseconds(1));  // the compiler gets its turn
        }
      });
    }
    while (special.specialization_stats().shapes < 3) special.wait_for_specialization();
    specialized = true;
  }
  EXPECT_EQ(wrong, 0);
}

TEST(Specialization, SaysWhatItDid) {
  static int64_t seq = 20;  // others each time: kernels are kept for the process
  ++seq;
  CompiledGraph graph = small_encoder({.specialize = Specialization{.after = 2}});
  EXPECT_EQ(graph.specialization_stats().off, "");
  hidden_of(graph, 1, seq);
  EXPECT_EQ(graph.specialization_stats().pending, 0);
  hidden_of(graph, 1, seq);
  graph.wait_for_specialization();
  const SpecializationStats stats = graph.specialization_stats();
  EXPECT_EQ(stats.shapes, 1);
  EXPECT_EQ(stats.pending, 0);
  EXPECT_EQ(stats.failed, 0);
  EXPECT_GT(stats.kernels, 5);
  EXPECT_LE(stats.kernels, graph.stats().kernels);
  EXPECT_GT(stats.milliseconds, 0);
  EXPECT_EQ(graph.clone().specialization_stats().shapes, 1);
}

TEST(Specialization, IsOffWhereItIsNotAskedFor) {
  if (knobs().specialize == "1") GTEST_SKIP() << "TENON_SPECIALIZE asks for it";
  CompiledGraph graph = small_encoder();
  for (int i = 0; i < 5; ++i) hidden_of(graph, 1, 22);
  graph.wait_for_specialization();
  EXPECT_EQ(graph.specialization_stats().shapes, 0);
  EXPECT_EQ(graph.specialization_stats().off, "it was not asked for");
  EXPECT_EQ(small_encoder({.specialize = Specialization{.most = 0}}).specialization_stats().off,
            "it was not asked for");
}

Graph doubled(const Shape& shape) {
  Graph g;
  const Value x = g.input("x", {shape, DType::F32});
  g.set_outputs({{"y", g.add(x, x)}});
  return g;
}

TEST(Specialization, SaysWhyNothingIsToBeDone) {
  const Session session(CompileOptions{.specialize = kAtOnce});
  EXPECT_EQ(session.compile(doubled({4})).specialization_stats().off,
            "its extents are numbers already");
  Graph g;
  const Value cache = g.state("cache", {{sym::past(), 4}, DType::F32}, {.axis = 0, .capacity = 8});
  const Value x = g.input("x", {{1, 4}, DType::F32});
  g.set_outputs({{"y", g.reduce_sum(g.update(cache, x, sym::past()), {0})}});
  EXPECT_EQ(session.compile(g).specialization_stats().off,
            "it has states, whose extents change with every run");
}

TEST(Specialization, OfALirModuleIsTheSame) {
  Graph g;
  const Value x = g.input("x", {{sym::batch(), 40}, DType::F32});
  g.set_outputs({{"y", g.softmax(x, 1)}});
  const LirModule lir = CompilePipeline(CompileOptions()).compile_mir(g).lir;
  CompiledGraph graph = Session().compile(lir, {.specialize = kAtOnce});
  const Floats data(size_t{3 * 40}, 0.25F);
  const auto before = graph.run({{"x", view(data, {3, 40})}});
  graph.wait_for_specialization();
  EXPECT_EQ(graph.specialization_stats().shapes, 1);
  EXPECT_EQ(graph.run({{"x", view(data, {3, 40})}}), before);
}

TEST(Specialization, HoldsForAnActiveExtent) {
  Graph g;
  const Value x = g.input("x", {{64, 8}, DType::F32}, {.bucket_axis = 0});
  g.set_outputs({{"y", g.softmax(x, 1)}});
  CompiledGraph graph = Session().compile(g, {.specialize = kAtOnce});
  Floats data;
  for (int i = 0; i < 64 * 8; ++i) data.push_back(static_cast<float>(i % 19) / 7);
  graph.set_active_extent(5, 64);
  const auto before = graph.run({{"x", view(data, {64, 8})}});
  graph.wait_for_specialization();
  EXPECT_EQ(graph.specialization_stats().shapes, 1);
  EXPECT_EQ(graph.run({{"x", view(data, {64, 8})}}), before);
}

TEST(Specialization, MayBePendingWhenTheGraphGoes) {
  for (int i = 0; i < 5; ++i) {
    CompiledGraph graph = small_encoder({.specialize = Specialization{.after = 1}});
    hidden_of(graph, 1, 50 + i);
    EXPECT_LE(graph.specialization_stats().pending, 1);
  }
}

#if !TENON_ADDRESS_SANITIZER  // takes what threads of the parent held for leaks of the child
TEST(Specialization, MayBePendingWhenTheProcessEnds) {
  CompiledGraph graph = small_encoder({.specialize = Specialization{.after = 1}});
  const auto run_and_exit = [&] {  // in a forked child
    hidden_of(graph, 1, 60);
    std::exit(graph.specialization_stats().pending <= 1 ? 0 : 1);
  };
  EXPECT_EXIT(run_and_exit(), testing::ExitedWithCode(0), "");
}
#endif

TEST(Specialization, HasOptionsThatMakeSense) {
  const Graph g = doubled({sym::batch()});
  const auto error = [&](const Specialization& how) {
    return user_error_of([&] { Session().compile(g, {.specialize = how}); });
  };
  EXPECT_EQ(error({.after = 0}), "[compile] specialize after 0 runs: 1..65535 are possible");
  EXPECT_EQ(error({.cpu_share = 0}),
            "[compile] specialize with 0 of a core: more than 0, at most 1 is possible");
  EXPECT_EQ(error({.cpu_share = 1.5}),
            "[compile] specialize with 1.5 of a core: more than 0, at most 1 is possible");
  EXPECT_EQ(error({.most = -1}),
            "[compile] specialize for -1 sets of extents: 0 or more are possible");
  EXPECT_EQ(error_of([&] { Session(Device::Null()).compile(g, {.specialize = kAtOnce}); },
                     ErrorKind::Unsupported),
            "[compile] specialize is for the CPU, the device is null");
}

}  // namespace
}  // namespace tenon
