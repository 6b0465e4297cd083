// Weights that several programs read are made once: y = 2 x + w, by hand. Under ThreadSanitizer
// this is where sharing shows.
#include "runtime/weight_pool.h"

#include <gtest/gtest.h>

#include <atomic>
#include <set>
#include <thread>

#include "runtime/executor.h"
#include "tests/runtime/test_program.h"

namespace tenon::runtime {
namespace {

std::atomic<int> packs = 0;

void count_packs(void* const* buffers, const int64_t* dims, void* scratch, int64_t begin,
                 int64_t end, int64_t* fault) {
  ++packs;
  pack_weight(buffers, dims, scratch, begin, end, fault);
}

void pack_negative(void* const* buffers, const int64_t*, void*, int64_t, int64_t, int64_t*) {
  *static_cast<float*>(buffers[1]) = -*static_cast<const float*>(buffers[0]);
}

class SharedWeights : public ::testing::Test {
 protected:
  SharedWeights() : before_(bytes_of_all_weights()) { packs = 0; }

  // Programs that differ in more than their weights.
  std::unique_ptr<Executor> load(const std::shared_ptr<const float>& w, int64_t most_seq,
                                 program::KernelFunction pack = count_packs) {
    auto program = test_program(most_seq);
    program->params[0].initial = std::as_bytes(std::span(w.get(), 1));
    program->params[0].owner = w;
    return Executor::with_functions(std::move(program), *pool_, {double_rows, add_weight, pack})
        .take();
  }

  static void set_weight(Executor& executor, float w) {
    const int64_t shape[] = {1};
    ASSERT_TRUE(executor.set_param("w", DType::F32, shape, &w).ok());
  }

  static float run(Executor& executor, float x) {
    const std::vector<int64_t> shape = {1, 1};
    float y = -1;
    const IoView in[] = {{&x, DType::F32, shape, {}}};
    const IoView out[] = {{&y, DType::F32, shape, {}}};
    return executor.bind(in).ok() && executor.execute(out).ok() ? y : -1;
  }

  int64_t held() const { return bytes_of_all_weights() - before_; }

  std::unique_ptr<ThreadPool> pool_ = make_worker_pool({.max_threads = 2});
  int64_t before_;
};

TEST_F(SharedWeights, AreMadeOnceForAllPrograms) {
  const auto w = std::make_shared<const float>(3.0F);
  auto a = load(w, 16);
  EXPECT_EQ(held(), 0);  // before the first run
  EXPECT_EQ(run(*a, 5), 13);
  const int64_t of_one = held();
  EXPECT_GT(of_one, 0);
  auto b = load(w, 32), c = load(w, 64);
  EXPECT_EQ(run(*b, 1), 5);
  EXPECT_EQ(run(*c, 2), 7);
  EXPECT_EQ(packs, 1);
  EXPECT_EQ(held(), of_one);
  a.reset();
  b.reset();
  EXPECT_EQ(run(*c, 4), 11);
  EXPECT_EQ(held(), of_one);
  c.reset();
  EXPECT_EQ(held(), 0);
}

TEST_F(SharedWeights, AreThoseOfTheSameValueMadeTheSameWay) {
  const auto w = std::make_shared<const float>(3.0F), same_value = std::make_shared<const float>(3);
  auto a = load(w, 16), b = load(same_value, 16), c = load(w, 16, pack_negative);
  EXPECT_EQ(run(*a, 1), 5);
  EXPECT_EQ(run(*b, 1), 5);
  EXPECT_EQ(packs, 2);
  EXPECT_EQ(run(*c, 1), -1);
  EXPECT_EQ(run(*a, 1), 5);
}

TEST_F(SharedWeights, OfOneThatSetsAParameterAreItsOwn) {
  const auto w = std::make_shared<const float>(3.0F);
  auto a = load(w, 16), b = load(w, 32);
  EXPECT_EQ(run(*a, 1), 5);
  EXPECT_EQ(run(*b, 1), 5);
  const int64_t of_one = held();
  set_weight(*a, 10);
  EXPECT_EQ(run(*a, 1), 12);
  EXPECT_EQ(run(*b, 1), 5);
  EXPECT_EQ(held(), 2 * of_one);
  for (int i = 0; i < 10; ++i) {
    set_weight(*a, static_cast<float>(i));
    EXPECT_EQ(run(*a, 1), 2 + static_cast<float>(i));
  }
  EXPECT_EQ(held(), 2 * of_one);
}

TEST_F(SharedWeights, OfSetParametersAreTakenOver) {
  const auto w = std::make_shared<const float>(3.0F);
  auto a = load(w, 16), b = load(w, 32);
  set_weight(*a, 8);
  EXPECT_EQ(run(*a, 1), 10);
  b->take_params(*a);
  EXPECT_EQ(run(*b, 1), 10);
  EXPECT_EQ(packs, 1);
  set_weight(*a, 9);  // not in the memory that b reads
  EXPECT_EQ(run(*b, 1), 10);
  EXPECT_EQ(run(*a, 1), 11);
}

TEST_F(SharedWeights, AreMadeByOneOfManyThreads) {
  constexpr int kThreads = 8;
  const auto w = std::make_shared<const float>(3.0F);
  std::vector<std::unique_ptr<Executor>> executors;
  for (int i = 0; i < kThreads; ++i) executors.push_back(load(w, 16 + i));
  std::atomic<int> wrong = 0;
  {
    std::vector<std::jthread> threads;
    for (int i = 0; i < kThreads; ++i) {
      threads.emplace_back([&, i] {
        for (int each = 0; each < 100; ++each) {
          const auto x = static_cast<float>(each + i);
          wrong += run(*executors[static_cast<size_t>(i)], x) != 2 * x + 3;
        }
      });
    }
  }
  EXPECT_EQ(wrong, 0);
  EXPECT_EQ(packs, 1);
}

// Straight to the pool.

std::shared_ptr<Memory> host() { return {std::shared_ptr<void>(), &host_memory()}; }

TEST(WeightPool, KeepsWhatARecipeNamesByItsAddress) {
  auto source = std::make_shared<const float>(1.0F);
  const std::weak_ptr<const float> watched = source;
  WeightBuffers held;
  {
    const WeightRecipe recipe[] = {{unique_recipe(), 4, {std::move(source)}}};
    ASSERT_TRUE(obtain_weights(recipe, host(), held).ok());
  }
  EXPECT_FALSE(watched.expired());
  held.clear();
  EXPECT_TRUE(watched.expired());
}

TEST(WeightPool, AFailedFillIsTriedAgain) {
  WeightBuffers a, b;
  const WeightRecipe recipe[] = {{unique_recipe(), 8}};
  ASSERT_TRUE(obtain_weights(recipe, host(), a).ok());
  ASSERT_TRUE(obtain_weights(recipe, host(), b).ok());
  EXPECT_EQ(a[0]->data(), b[0]->data());
  int fills = 0;
  const auto fail = [&](const std::vector<bool>&) -> Status { return user_error("no"); };
  const auto succeed = [&](const std::vector<bool>& empty) -> Status {
    fills += empty[0];
    return {};
  };
  EXPECT_FALSE(fill_weights(a, fail).ok());
  EXPECT_TRUE(fill_weights(b, succeed).ok());
  EXPECT_TRUE(fill_weights(a, fail).ok());  // is not called
  EXPECT_EQ(fills, 1);
}

TEST(WeightPool, HoldsTheSameRecipeOnceAlsoWithinOneCall) {
  const Digest twice = unique_recipe();
  const WeightRecipe recipes[] = {{twice, 300}, {unique_recipe(), 300}, {twice, 300}};
  WeightBuffers held;
  ASSERT_TRUE(obtain_weights(recipes, host(), held).ok());
  EXPECT_EQ(held[0], held[2]);
  EXPECT_EQ(held[1]->data() - held[0]->data(), 512);  // aligned to 256
  int fills = 0;
  ASSERT_TRUE(fill_weights(held, [&](const std::vector<bool>& empty) -> Status {
                for (const bool each : empty) fills += each;
                return {};
              }).ok());
  EXPECT_EQ(fills, 2);
}

// Two packs in a wave, then one that reads what the first made.
Program three_packs() {
  Program p = *test_program();
  p.params.push_back({"v", {{1}, DType::F32}, {}, nullptr});
  p.packed = {{4}, {4}, {4}};
  const program::Step first = p.prologue[0];
  program::Step second = first, third = first;
  second.buffers = {{BufferKind::Param, 1}, {BufferKind::Packed, 1}};
  second.with_previous = true;
  third.buffers = {{BufferKind::Packed, 0}, {BufferKind::Packed, 2}};
  p.prologue = {first, second, third};
  return p;
}

std::vector<Digest> recipes_of(const Program& program, std::span<const Digest> params) {
  struct NoStandIn : LoadedCode {};
  std::vector<Digest> digests;
  for (const WeightRecipe& recipe : Packing(program).recipes(NoStandIn(), params))
    digests.push_back(recipe.digest);
  return digests;
}

TEST(Packing, ARecipeChangesWithWhatItsStepsRead) {
  const Program program = three_packs();
  const Digest w = unique_recipe(), v = unique_recipe(), other = unique_recipe();
  const auto before = recipes_of(program, std::vector{w, v});
  EXPECT_EQ(before, recipes_of(three_packs(), std::vector{w, v}));
  const auto other_v = recipes_of(program, std::vector{w, other});
  EXPECT_EQ(before[0], other_v[0]);
  EXPECT_NE(before[1], other_v[1]);
  EXPECT_EQ(before[2], other_v[2]);
  const auto other_w = recipes_of(program, std::vector{other, v});
  EXPECT_NE(before[0], other_w[0]);
  EXPECT_EQ(before[1], other_w[1]);
  EXPECT_NE(before[2], other_w[2]);  // through what the first step made
}

TEST(Packing, ARecipeChangesWithCodeExtentsAndConstants) {
  const std::vector<Digest> params = {unique_recipe(), unique_recipe()};
  Program program = three_packs();
  program.constants = {{{{1}, DType::F32}, std::vector<std::byte>(4)}};
  program.prologue[0].buffers.push_back({BufferKind::Constant, 0});
  program.prologue[0].writes.push_back(false);
  std::set<Digest> all = {recipes_of(program, params)[0]};
  program.constants[0].bytes[0] = std::byte{1};
  all.insert(recipes_of(program, params)[0]);
  program.prologue[0].dims = {7};
  all.insert(recipes_of(program, params)[0]);
  program.prologue[0].grid = 2;
  all.insert(recipes_of(program, params)[0]);
  auto code = std::make_shared<program::Code>(*program.code[2]);
  code->digest = unique_recipe();
  program.code[2] = std::move(code);
  all.insert(recipes_of(program, params)[0]);
  program.packed[0].bytes = 4096;
  all.insert(recipes_of(program, params)[0]);
  EXPECT_EQ(all.size(), 6);
}

TEST(Packing, OnlyTheStepsOfUnitsThatAreWantedRun) {
  const Program program = three_packs();
  const Packing packing(program);
  EXPECT_EQ(packing.steps_for({true, true, true}).size(), 3);
  EXPECT_TRUE(packing.steps_for({true, true, true})[1].with_previous);
  EXPECT_TRUE(packing.steps_for({false, false, false}).empty());
  const auto second = packing.steps_for({false, true, true});
  ASSERT_EQ(second.size(), 2);
  EXPECT_EQ(second[0].buffers[0].index, 1);
  EXPECT_FALSE(second[0].with_previous);  // the step that it would run with is not there
}

TEST(Packing, WhatGoesThroughTheArenaIsMadeTogether) {
  Program program = three_packs();
  program.prologue[0].buffers[1] = {BufferKind::Arena, 0};
  program.prologue[2].buffers[0] = {BufferKind::Arena, 0};
  const Packing packing(program);
  EXPECT_NE(packing.place(1).unit, packing.place(2).unit);
  std::vector<bool> wanted(3);
  wanted[static_cast<size_t>(packing.place(2).unit)] = true;
  EXPECT_EQ(packing.steps_for(wanted).size(), 2);
}

}  // namespace
}  // namespace tenon::runtime
