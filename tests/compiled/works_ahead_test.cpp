// CompiledGraphs on a device that works ahead, a fake GPU on which nothing happens before somebody
// waits: calls that come while a run is pending. The programs: y = 2 x + w, and a log of x whose
// sum is y.
#include <gtest/gtest.h>

#include <thread>

#include "base/atomic_file.h"
#include "program/artifact.h"
#include "tenon/compiled_graph.h"
#include "tests/error_of.h"
#include "tests/runtime/fake_cuda.h"
#include "tests/runtime/log_program.h"
#include "tests/runtime/test_program.h"
#include "tests/temp_file.h"

namespace tenon {
namespace {

using Floats = std::vector<float>;
using runtime::cuda::FakeCuda;
using runtime::cuda::for_fake_cuda;

CompiledGraph load(const program::Program& program) {
  runtime::cuda::use_driver(FakeCuda::driver());
  const TempFile file(".tenon");
  write_atomically(file.path(), program::ArtifactBytes(program).pieces());
  return CompiledGraph::load(file.path());
}

CompiledGraph doubling() {  // w = 3
  static const float kWeight = 3;
  program::Program program = *runtime::test_program();
  program.params[0].initial = std::as_bytes(std::span(&kWeight, 1));
  return load(*for_fake_cuda(program, runtime::test_functions()));
}

CompiledGraph logging(bool late = false) {
  return load(*for_fake_cuda(*runtime::log_program(0, late), runtime::log_functions()));
}

NamedInputs inputs(const Floats& x) {
  return {{"x", view(x, {1, static_cast<int64_t>(x.size())})}};
}
NamedInputs rows(const Floats& x) { return {{"x", view(x, {static_cast<int64_t>(x.size())})}}; }

Floats floats(const TensorView& view) {
  int64_t count = 1;
  for (const int64_t extent : view.shape) count *= extent;
  const auto* data = static_cast<const float*>(view.data);
  return {data, data + count};
}
Floats log_of(CompiledGraph& graph) {
  const OwnedTensor log = graph.read_handle("log").value();
  return {log.as<float>().begin(), log.as<float>().end()};
}

const Floats kX = {1, 0, 2}, kY = {5, 3, 7};

// Outputs are large enough that memory that is given back is gone.
struct Pending {
  Pending() : x(size_t{512} * 17000, 1), graph(doubling()) {
    graph.commit_no_wait({{"x", view(x, {17000, 512})}});
  }
  Floats x;
  CompiledGraph graph;
};

TEST(WorksAhead, AGraphMayGoWhileItsRunIsPending) {
  Pending pending;
  CompiledGraph moved = std::move(pending.graph);
  moved = doubling();
  EXPECT_EQ(moved.run(inputs(kX))[0], kY);
}

TEST(WorksAhead, AGraphMayGoAfterARunThatDidNotBegin) {
  Pending pending;
  FakeCuda& fake = FakeCuda::get();
  fake.fail_allocations_from = 1 << 30;
  const TensorView huge(pending.x.data(), DType::F32, {(int64_t{1} << 31) - 1, 512});
  EXPECT_NE(error_of([&] { pending.graph.commit_no_wait({{"x", huge}}); }).find("out of memory"),
            std::string::npos);
  fake.fail_allocations_from = -1;
}

TEST(WorksAhead, ParametersHoldFromTheNextRun) {
  CompiledGraph graph = doubling();
  graph.run(inputs(kX));
  graph.commit_no_wait(inputs(kX));
  graph.set_param("w", Floats{5});
  EXPECT_EQ(floats(graph.sync_pending()[0]), kY);
  CompiledGraph other = graph.clone();
  EXPECT_EQ(other.run(inputs(kX))[0], (Floats{7, 5, 9}));
}

TEST(WorksAhead, ClonesAndFilesComeAfterWhatIsPending) {
  CompiledGraph graph = doubling();
  graph.commit_no_wait(inputs(kX));
  CompiledGraph other = graph.clone();
  EXPECT_TRUE(other.sync_pending().empty());
  EXPECT_EQ(other.run(inputs({4}))[0], Floats{11});
  EXPECT_EQ(floats(graph.sync_pending()[0]), kY);
  graph.commit_no_wait(inputs(kX));
  const TempFile file(".tenon");
  graph.save(file.path());
  EXPECT_EQ(CompiledGraph::load(file.path()).run(inputs(kX))[0], kY);
  EXPECT_EQ(floats(graph.sync_pending()[0]), kY);
}

TEST(WorksAhead, TheLastOfSeveralIsThereAfterSync) {
  CompiledGraph graph = doubling();
  Floats x = {4, 5};
  graph.commit_no_wait(inputs(x));
  x = {6};  // read already
  graph.commit_no_wait(inputs(kX));
  EXPECT_EQ(floats(graph.sync_pending()[0]), kY);
  graph.commit_no_wait(inputs(x));
  EXPECT_EQ(graph.run_typed(inputs(kX))[0].shape, (std::vector<int64_t>{1, 3}));
  EXPECT_TRUE(graph.sync_pending().empty());  // those of run_typed are the caller's
}

TEST(WorksAhead, WhatIsRefusedLeavesTheRunBefore) {
  CompiledGraph graph = doubling();
  graph.commit_no_wait(inputs(kX));
  const Floats large(400, 1);
  EXPECT_NE(error_of([&] { graph.commit_no_wait({}); }), "no error");
  EXPECT_NE(error_of([&] { graph.commit_no_wait(inputs(large), {.memory_limit = 1}); }),
            "no error");
  EXPECT_EQ(floats(graph.sync_pending()[0]), kY);
}

TEST(WorksAhead, LateOutputsAreThoseOfTheirRun) {
  CompiledGraph graph = logging(true);
  graph.bind_handle("log", TensorView(nullptr, DType::F32, {2, 0}));
  const Floats two = {5, 6}, many(20, 1);
  graph.commit_no_wait(rows(two));
  EXPECT_NE(error_of([&] { graph.commit_no_wait(rows(many)); }), "no error");  // batch is 2
  const auto& outputs = graph.sync_pending();
  EXPECT_EQ(floats(outputs[0]), two);
  EXPECT_EQ(floats(outputs[1]), two);
}

TEST(WorksAhead, HandlesChangeAfterWhatIsPending) {
  CompiledGraph graph = logging();
  const Floats first = {1, 2}, x = {10, 20};
  graph.bind_handle("log", view(first, {2, 1}));
  graph.commit_no_wait(rows(x));
  const Handle fork = graph.fork_handle("log");
  EXPECT_EQ(fork.shape(), (std::vector<int64_t>{2, 2}));
  graph.commit_no_wait(rows(x));
  graph.trim_handle("log", 1);
  EXPECT_EQ(log_of(graph), first);
  EXPECT_EQ(floats(graph.sync_pending()[0]), (Floats{21, 42}));
  graph.commit_no_wait(rows(x));
  graph.bind_handle("log", fork);
  EXPECT_EQ(floats(graph.sync_pending()[0]), (Floats{11, 22}));
  EXPECT_EQ(log_of(graph), (Floats{1, 10, 2, 20}));
  graph.commit_no_wait(rows(x));
  graph.unbind_handle("log");
  EXPECT_EQ(floats(graph.sync_pending()[0]), (Floats{21, 42}));
  EXPECT_FALSE(graph.has_handle("log"));
}

TEST(WorksAhead, AnInputWithAHandleChangesAfterWhatIsPending) {
  CompiledGraph graph = doubling();
  const Floats other = {7, 7, 7};
  for (const bool bound : {true, false}) {
    graph.bind_handle("x", view(kX, {1, 3}));
    graph.commit_no_wait({});
    bound ? graph.bind_handle("x", view(other, {1, 3})) : graph.unbind_handle("x");
    EXPECT_EQ(floats(graph.sync_pending()[0]), kY);
  }
}

TEST(WorksAhead, EveryRunOfAPipelineReadsWhatWasBound) {
  CompiledGraph graph = doubling();
  graph.bind_handle("x", view(kX, {1, 3}));
  for (const auto& outputs : graph.run_pipelined({{}, {}, {}, {}}))
    EXPECT_EQ(Floats(outputs[0].as<float>().begin(), outputs[0].as<float>().end()), kY);
}

TEST(WorksAhead, WhoAsksForMemoryTakesNone) {
  CompiledGraph graph = logging();
  graph.bind_handle("log", view(Floats{1, 2}, {2, 1}));
  const Handle fork = graph.fork_handle("log");
  const size_t before = FakeCuda::get().live_allocations();
  EXPECT_EQ(graph.memory_of(rows({1, 1}))[0].bytes, 2 * runtime::kLogCapacity * 4);
  EXPECT_EQ(FakeCuda::get().live_allocations(), before);
}

TEST(WorksAhead, AForkIsTheBeginningOfManyThreads) {
  CompiledGraph graph = logging();
  graph.bind_handle("log", view(Floats{1, 2}, {2, 1}));
  const Handle fork = graph.fork_handle("log");
  std::vector<CompiledGraph> clones;
  for (int i = 0; i < 4; ++i) clones.push_back(graph.clone());
  std::vector<Floats> logs(clones.size());
  {
    std::vector<std::jthread> threads;
    for (size_t i = 0; i < clones.size(); ++i) {
      threads.emplace_back([&, i] {
        clones[i].bind_handle("log", fork);
        const auto value = static_cast<float>(i);
        clones[i].run(rows({value, value}));
        clones[i].bind_handle("log", fork);
        clones[i].run(rows({value, 0}));
        logs[i] = log_of(clones[i]);
      });
    }
  }
  for (size_t i = 0; i < logs.size(); ++i)
    EXPECT_EQ(logs[i], (Floats{1, static_cast<float>(i), 2, 0}));
  EXPECT_EQ(log_of(graph), (Floats{1, 2}));
}

}  // namespace
}  // namespace tenon
