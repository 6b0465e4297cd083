// Sets of inputs in turn on two streams of the fake driver, which does what it is asked when it is
// waited for: whoever waits for too much is seen.
#include "runtime/pipelined_runs.h"

#include <algorithm>
#include <cstring>

#include "runtime/run_owned.h"
#include "tests/runtime/cuda_fixture.h"

namespace tenon::runtime::cuda {
namespace {

constexpr int64_t kWide = 512;

class PipelinedRunsTest : public CudaTest {
 protected:
  explicit PipelinedRunsTest(std::vector<program::KernelFunction> functions = test_functions()) {
    load(program(std::move(functions)));
    set_weight(3);
  }
  ~PipelinedRunsTest() override { second_.reset(); }

  std::vector<Executor*> executors() {
    second_ = executor_->clone(FakeCuda::stream()).take();
    return {executor_.get(), second_.get()};
  }
  static Status begin(PipelinedRuns& runs, Run& run) {
    return runs.begin(run.in(), [&](Executor& bound) { return bound.commit(run.out()); });
  }

  std::unique_ptr<Executor> second_;
};

TEST_F(PipelinedRunsTest, ASetWaitsForTheOneBeforeItOnItsStreamAlone) {
  const auto lanes = executors();
  for (Executor* lane : lanes) check_run(*lane, 4, 5, 5, 5, 3);
  std::vector<Run> sets(5, Run(4, 5, 5, 5));
  PipelinedRuns runs(lanes);
  fake_.stream_waits = 0;
  for (int i = 0; i < 5; ++i) {
    ASSERT_TRUE(begin(runs, sets[static_cast<size_t>(i)]).ok());
    EXPECT_EQ(fake_.stream_waits, std::max(0, i - 1));
    for (int j = 0; j <= i; ++j) {
      const bool arrived = j <= i - 2;
      EXPECT_EQ(sets[static_cast<size_t>(j)].y[0], arrived ? 3 : -5) << j << " after " << i;
    }
  }
  ASSERT_TRUE(runs.finish().ok());
  EXPECT_EQ(fake_.stream_waits, 5);
  for (const Run& set : sets) set.expect(3);
}

TEST_F(PipelinedRunsTest, PinnedMemoryIsThatOfOneSetPerStream) {
  const int64_t rows = 2500;  // 5 MB in, 5 MB out
  PipelinedRuns runs(executors());
  std::vector<Run> sets(7, Run(rows, kWide, kWide, kWide));
  fake_.pinned_allocations = 0;
  for (size_t i = 0; i < sets.size(); ++i) {
    ASSERT_TRUE(begin(runs, sets[i]).ok());
    if (i == 1) {  // both streams have theirs
      EXPECT_LE(fake_.pinned_allocations, 2 * 6);
      fake_.pinned_allocations = 0;
    }
  }
  EXPECT_EQ(fake_.pinned_allocations, 0);
  ASSERT_TRUE(runs.finish().ok());
  for (const Run& set : sets) set.expect(3);
}

TEST_F(PipelinedRunsTest, OwnedOutputsArriveInMemoryOfTheirOwn) {
  std::vector<Run> sets;
  for (const int64_t rows : {1, 1500, 7, 1500, 2, 3}) sets.emplace_back(rows, kWide, kWide, kWide);
  std::vector<OwnedRun> owned(sets.size());
  PipelinedRuns runs(executors());
  for (size_t i = 0; i < sets.size(); ++i) {
    ASSERT_TRUE(
        runs.begin(sets[i].in(), [&](Executor& bound) { return owned[i].begin(bound, {}); }).ok());
  }
  ASSERT_TRUE(runs.finish().ok());
  for (size_t i = 0; i < sets.size(); ++i) {
    const std::vector<OwnedOutput> outputs = owned[i].take();
    EXPECT_EQ(outputs[0].shape, sets[i].shape);
    ASSERT_EQ(outputs[0].bytes.size(), sets[i].y.size() * sizeof(float));
    std::memcpy(sets[i].y.data(), outputs[0].bytes.data(), outputs[0].bytes.size());
    sets[i].expect(3);
  }
}

TEST_F(PipelinedRunsTest, WhatIsNotFinishedIsWaitedFor) {
  Run first(4, 5, 5, 5), second(4, 5, 5, 8);
  {
    PipelinedRuns runs(executors());
    ASSERT_TRUE(begin(runs, first).ok());
    ASSERT_TRUE(begin(runs, second).ok());
  }
  first.expect(3);
  second.expect(3);
}

class FaultyRunsTest : public PipelinedRunsTest {
 protected:
  FaultyRunsTest() : PipelinedRunsTest({faulty_rows, add_weight, pack_weight}) {}
};

TEST_F(FaultyRunsTest, TheErrorIsOfTheSetThatHadIt) {
  Run good(2, 1, 1, 1), bad(8, 1, 1, 1);
  PipelinedRuns runs(executors());
  ASSERT_TRUE(begin(runs, good).ok());
  ASSERT_TRUE(begin(runs, bad).ok());
  ASSERT_TRUE(begin(runs, good).ok());
  EXPECT_FALSE(begin(runs, good).ok());
  EXPECT_EQ(runs.failed_set(), 1u);
  EXPECT_EQ(&runs.failed_on(), second_.get());
  EXPECT_FALSE(runs.failed_on().cancelled());
  good.expect(3);
}

TEST_F(PipelinedRunsTest, ATimelineHasThePartsOfEachSet) {
  const auto stream = FakeCuda::stream();
  second_ = executor_->clone(stream).take();
  check_run(*second_, 4, 5, 5, 5, 3);
  Timeline timeline;
  stream->note_in(&timeline);
  check_run(*second_, 4, 5, 5, 5, 3);
  timeline.next_set();
  check_run(*second_, 4, 5, 5, 5, 3);
  stream->note_in(nullptr);
  check_run(*second_, 4, 5, 5, 5, 3);
  const std::vector<Span> spans = timeline.spans();
  ASSERT_EQ(spans.size(), 6u);
  EXPECT_EQ(spans[0].begin, 0);
  for (size_t i = 0; i < spans.size(); ++i) {
    EXPECT_EQ(static_cast<size_t>(spans[i].set), i / 3);
    EXPECT_EQ(static_cast<size_t>(spans[i].part), i % 3);
    EXPECT_LT(spans[i].begin, spans[i].end);
    if (i > 0) {
      EXPECT_GE(spans[i].begin, spans[i - 1].end);
    }
  }
}

TEST(Overlap, IsThePartsByTheTimeFromTheFirstToTheLast) {
  using enum DevicePart;
  const Overlap overlap =
      overlap_of({{0, CopyIn, 1, 3}, {0, Compute, 3, 9}, {1, CopyIn, 3, 5}, {0, CopyOut, 9, 11}});
  EXPECT_EQ(overlap.parts[0], 4);
  EXPECT_EQ(overlap.parts[1], 6);
  EXPECT_EQ(overlap.parts[2], 2);
  EXPECT_EQ(overlap.wall, 10);
  EXPECT_EQ(overlap.ratio(), 1.2);
  EXPECT_EQ(overlap_of({}).ratio(), 0);
}

}  // namespace
}  // namespace tenon::runtime::cuda
