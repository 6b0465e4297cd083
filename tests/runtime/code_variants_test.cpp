// Code for given extents in an executor: taken between two runs and at these extents alone, asked
// for after as many runs as are worth it, and no more of it than there may be.
#include "runtime/code_variants.h"

#include <gtest/gtest.h>

#include "base/thread_pool.h"
#include "runtime/cpu/cpu_stream.h"
#include "runtime/cpu/kernel_functions.h"
#include "runtime/executor.h"
#include "runtime/run_owned.h"
#include "tests/runtime/test_program.h"

namespace tenon::runtime {
namespace {

using Values = std::vector<int64_t>;

class Variants : public CodeVariants {
 public:
  using CodeVariants::CodeVariants;
  std::vector<Values> asked;
  std::vector<std::vector<Values>> dims;  // of the steps, as they were asked with

 protected:
  void ask(std::span<const int64_t> values, const StepList& steps) override {
    asked.emplace_back(values.begin(), values.end());
    auto& of_steps = dims.emplace_back();
    for (int i = 0; i < steps.size(); ++i)
      of_steps.emplace_back(steps.dims(i).begin(), steps.dims(i).end());
  }
};

// What stands for the code of two steps of test_program: y = x * 2 + w + 100.
void add_more(void* const* buffers, const int64_t* dims, void* scratch, int64_t begin, int64_t end,
              int64_t* fault) {
  add_weight(buffers, dims, scratch, begin, end, fault);
  auto* y = static_cast<float*>(buffers[2]);
  for (int64_t i = begin; i < end; ++i) {
    for (int64_t j = 0; j < dims[0]; ++j) y[i * dims[1] + j] += 100;
  }
}
std::shared_ptr<const LoadedCode> other_code() {
  return std::make_shared<cpu::KernelFunctions>(
      std::vector<program::KernelFunction>{double_rows, add_more});
}

class CodeVariantsTest : public testing::Test {
 protected:
  std::unique_ptr<Executor> executor(const std::shared_ptr<CodeVariants>& variants) {
    auto made = Executor::with_functions(test_program(), thread_pool(), test_functions()).take();
    const float w = 3;
    made->set_param("w", DType::F32, Values{1}, &w).throw_if_error();
    made->use_variants(variants);
    return made;
  }
  // The first element of y where all of x are 1: 5, or 105 by the other code.
  static float run(Executor& executor, int64_t batch, int64_t seq) {
    std::vector<float> x(static_cast<size_t>(batch * seq), 1);
    const Values shape = {batch, seq};
    const IoView view{x.data(), DType::F32, shape, {}};
    const auto outputs = run_owned(executor, {&view, 1}).take();
    return *reinterpret_cast<const float*>(outputs[0].bytes.data());
  }
};

TEST_F(CodeVariantsTest, AreAskedForOnceAfterEnoughRunsOfAShape) {
  const auto variants = std::make_shared<Variants>(3, 8);
  const auto one = executor(variants);
  const auto clone = one->clone(std::make_shared<cpu::CpuStream>(thread_pool())).take();
  run(*one, 2, 4), run(*one, 2, 5), run(*clone, 2, 4), run(*one, 2, 5);
  EXPECT_TRUE(variants->asked.empty());
  run(*one, 2, 4);  // the third, one of them by the clone
  ASSERT_EQ(variants->asked.size(), 1u);
  EXPECT_EQ(variants->dims[0], (std::vector<Values>{{4, 4}, {4, 4}}));
  for (int i = 0; i < 10; ++i) run(*one, 2, 4);
  EXPECT_EQ(variants->asked.size(), 1u);
}

TEST_F(CodeVariantsTest, AreTakenFromTheNextRunOnAtTheirExtentsAlone) {
  const auto variants = std::make_shared<Variants>(1, 8);
  const auto one = executor(variants);
  const auto clone = one->clone(std::make_shared<cpu::CpuStream>(thread_pool())).take();
  EXPECT_EQ(run(*one, 2, 4), 5);
  EXPECT_EQ(run(*clone, 2, 4), 5);
  variants->add(variants->asked.at(0), other_code());
  EXPECT_EQ(run(*one, 2, 4), 105);
  EXPECT_EQ(run(*clone, 2, 4), 105);
  EXPECT_EQ(run(*one, 2, 5), 5);
  EXPECT_EQ(run(*one, 3, 4), 5);
  EXPECT_EQ(run(*one, 2, 4), 105);
  EXPECT_EQ(variants->asked.size(), 3u);  // whoever has code of its own does not ask
}

TEST_F(CodeVariantsTest, GoWhenOthersWereUsedLater) {
  const auto variants = std::make_shared<Variants>(1, 2);
  const auto one = executor(variants);
  for (const int64_t seq : {1, 2}) {
    run(*one, 1, seq);
    variants->add(variants->asked.back(), other_code());
  }
  EXPECT_EQ(run(*one, 1, 1), 105);  // the older one, used later
  EXPECT_EQ(run(*one, 1, 3), 5);
  variants->add(variants->asked.back(), other_code());
  EXPECT_EQ(variants->table()->size(), 2u);
  EXPECT_EQ(run(*one, 1, 1), 105);
  EXPECT_EQ(run(*one, 1, 3), 105);
  EXPECT_EQ(variants->asked.size(), 3u);
  EXPECT_EQ(run(*one, 1, 2), 5);  // gone, and counted from the beginning
  EXPECT_EQ(variants->asked.size(), 4u);
}

TEST_F(CodeVariantsTest, OfOtherThreadCountsAreTheSame) {
  const auto variants = std::make_shared<Variants>(1, 2);
  const auto one = executor(variants);
  run(*one, 2, 4);
  variants->add(variants->asked.at(0), other_code());
  one->set_threads(1);
  EXPECT_EQ(run(*one, 2, 4), 105);
}

TEST(RunCounts, CountEachOfAHundredShapes) {
  RunCounts counts;
  for (int round = 1; round <= 3; ++round) {
    for (uint64_t shape = 0; shape < 100; ++shape)
      EXPECT_EQ(counts.add((shape << 32) + shape), round);
  }
  counts.forget(5 + (uint64_t{5} << 32));
  EXPECT_EQ(counts.add(5 + (uint64_t{5} << 32)), 1);
  EXPECT_EQ(counts.add(6 + (uint64_t{6} << 32)), 4);
}

TEST(RunCounts, OfShapesThatMeetBeginAnew) {
  RunCounts counts;
  const uint64_t one = uint64_t{1} << 40, other = uint64_t{2} << 40;  // one slot
  EXPECT_EQ(counts.add(one), 1);
  EXPECT_EQ(counts.add(one), 2);
  EXPECT_EQ(counts.add(other), 1);
  EXPECT_EQ(counts.add(one), 1);
}

TEST(RunCounts, EndAtTheMostThatTheyHold) {
  RunCounts counts;
  for (int i = 0; i < RunCounts::kMost; ++i) counts.add(1);
  EXPECT_EQ(counts.add(1), RunCounts::kMost);
}

}  // namespace
}  // namespace tenon::runtime
