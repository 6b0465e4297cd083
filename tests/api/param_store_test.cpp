// ParamStore: values that several graphs share, by arithmetic: y = w * x and z = w * x + b.
#include "tenon/param_store.h"

#include <gtest/gtest.h>

#include <atomic>
#include <thread>

#include "runtime/weight_pool.h"
#include "tenon/tenon.h"
#include "tests/error_of.h"

namespace tenon {
namespace {

constexpr int64_t kWidth = 16;
using Floats = std::vector<float>;

Floats diagonal(float value) {
  Floats w(kWidth * kWidth, 0);
  for (size_t i = 0; i < kWidth; ++i) w[i * kWidth + i] = value;
  return w;
}

CompiledGraph product(bool with_bias = false) {
  Graph g;
  const Value x = g.input("x", {{sym::batch(), kWidth}, DType::F32});
  const Value w = g.param("w", {{kWidth, kWidth}, DType::F32});
  const Value b = with_bias ? g.param("b", {{kWidth}, DType::F32}) : Value();
  g.set_outputs({{"y", g.linear(x, w, b)}});
  return Session().compile(g);
}

float run(CompiledGraph& graph, float x) {
  const Floats input(2 * kWidth, x);
  const Floats y = graph.run({{"x", view(input, {2, kWidth})}})[0];
  for (const float each : y) {
    if (each != y[0]) return -1;  // of two values at once
  }
  return y[0];
}

TEST(ParamStore, GraphsThatHaveItSeeWhatIsSetInIt) {
  ParamStore store({{"w", view(diagonal(3), {kWidth, kWidth})}});
  CompiledGraph plain = product(), biased = product(true), apart = product();
  plain.use_params(store);
  biased.use_params(store);
  biased.set_param("b", Floats(kWidth, 1));  // its own
  apart.set_param("w", diagonal(7));
  EXPECT_EQ(run(plain, 2), 6);
  EXPECT_EQ(run(biased, 2), 7);
  store.set("w", view(diagonal(4), {kWidth, kWidth}));
  EXPECT_EQ(run(plain, 2), 8);
  EXPECT_EQ(run(biased, 2), 9);
  biased.set_param("w", diagonal(5));  // of one that has it: for all
  EXPECT_EQ(run(plain, 2), 10);
  EXPECT_EQ(run(biased, 2), 11);
  EXPECT_EQ(run(apart, 2), 14);
  const ParamStore same = store;  // a copy is the same store
  CompiledGraph late = product();
  late.use_params(same);
  late.set_param_typed("w", std::as_bytes(std::span<const float>(diagonal(6))), DType::F32);
  EXPECT_EQ(run(plain, 2), 12);
}

TEST(ParamStore, ClonesKeepUsingIt) {
  ParamStore store;
  store.set("w", diagonal(3));
  CompiledGraph graph = product();
  graph.use_params(store);
  CompiledGraph clone = graph.clone();
  store.set("w", diagonal(4));
  EXPECT_EQ(run(graph, 1), 4);
  EXPECT_EQ(run(clone, 1), 4);
}

TEST(ParamStore, ValuesAndWhatIsMadeOfThemAreHeldOnce) {
  ParamStore store({{"w", view(diagonal(3), {kWidth, kWidth})}});
  CompiledGraph plain = product(), biased = product(true);
  plain.use_params(store);
  biased.use_params(store);
  biased.set_param("b", Floats(kWidth, 1));
  run(plain, 1);
  const int64_t of_one = runtime::bytes_of_all_weights();
  run(biased, 1);
  EXPECT_EQ(runtime::bytes_of_all_weights(), of_one);
  for (int i = 0; i < 5; ++i) {
    store.set("w", diagonal(static_cast<float>(i)));
    EXPECT_EQ(run(plain, 1), static_cast<float>(i));
    EXPECT_EQ(run(biased, 1), static_cast<float>(i + 1));
  }
  EXPECT_EQ(runtime::bytes_of_all_weights(), of_one);
}

TEST(ParamStore, SaysWhatItHolds) {
  ParamStore store;
  EXPECT_FALSE(store.contains("w"));
  store.set("w", view(diagonal(1), {kWidth, kWidth}));
  store.set_typed("b", std::as_bytes(std::span<const float>(Floats(kWidth))), DType::F32);
  EXPECT_TRUE(store.contains("w"));
  EXPECT_EQ(store.names(), (std::vector<std::string>{"b", "w"}));
  EXPECT_EQ(store.bytes(), (kWidth * kWidth + kWidth) * sizeof(float));
}

TEST(ParamStore, WhatDoesNotFitIsAnErrorThatChangesNothing) {
  CompiledGraph graph = product();
  graph.set_param("w", diagonal(2));
  ParamStore unknown(
      {{"v", view(diagonal(3), {kWidth, kWidth})}, {"w", view(diagonal(3), {kWidth, kWidth})}});
  EXPECT_EQ(error_of([&] { graph.use_params(unknown); }),
            "[use_params] the model has no parameter \"v\"");
  EXPECT_EQ(run(graph, 1), 2);
  ParamStore narrow({{"w", view(diagonal(3), {kWidth * kWidth})}});
  EXPECT_EQ(error_of([&] { graph.use_params(narrow); }),
            "[use_params] parameter \"w\" is f32[16, 16], but the store's is f32[256]");
  ParamStore store;
  store.set("w", diagonal(3));
  graph.use_params(store);
  EXPECT_EQ(error_of([&] { store.set("w", Floats(7)); }),
            "[ParamStore] \"w\" is 1024 bytes of f32, but the value is 28 bytes of f32");
  EXPECT_EQ(error_of([&] { graph.set_param("w", view(Floats(256), {256})); }),
            "parameter \"w\" is f32[16, 16], but the value is f32[256]");
  EXPECT_EQ(run(graph, 1), 3);
}

TEST(ParamStore, ARunTakesOneValueOfAParameterWhileOthersAreSet) {
  ParamStore store({{"w", view(diagonal(1), {kWidth, kWidth})}});
  CompiledGraph plain = product();
  plain.use_params(store);
  std::atomic<int> wrong = 0;
  {
    std::vector<std::jthread> threads;
    for (int i = 0; i < 3; ++i) {
      threads.emplace_back([&, mine = plain.clone()]() mutable {
        float last = 0;
        for (int each = 0; each < 200; ++each) {
          const float now = run(mine, 1);
          wrong += now < last;  // an old value again, or a mixture
          last = now;
        }
      });
    }
    threads.emplace_back([&] {
      for (int i = 2; i < 300; ++i) store.set("w", diagonal(static_cast<float>(i)));
    });
  }
  EXPECT_EQ(wrong, 0);
  EXPECT_EQ(run(plain, 1), 299);
}

}  // namespace
}  // namespace tenon
