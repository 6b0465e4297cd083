// BucketedCompileCache::run_padded: what a graph compiled for exactly these rows gives, whatever
// ran in the bucket before. The graphs are small enough to be computed by hand.
#include <gtest/gtest.h>

#include <thread>

#include "tenon/tenon.h"
#include "tests/error_of.h"

namespace tenon {
namespace {

using Floats = std::vector<float>;
using Buckets = std::vector<Bucket>;

const Buckets kBuckets = {{1, 5}, {5, 9}};

// Of x [upper, 2]: y = x + 1, mean of all rows, and y turned, [2, upper].
Graph model(int64_t upper) {
  Graph g;
  const Value x = g.input("x", {{upper, 2}, DType::F32}, {.bucket_axis = 0});
  const Value y = g.add(x, g.scalar(DType::F32, 1));
  g.set_outputs({{"y", y}, {"mean", g.reduce_mean(x, {0})}, {"turned", g.transpose(y, {1, 0})}});
  return g;
}

// y = x + table, whose rows are the bucket's: shapes do not follow from the extent.
Graph falls_back(int64_t upper) {
  const Floats ones(static_cast<size_t>(upper * 2), 1);
  Graph g;
  const Value x = g.input("x", {{upper, 2}, DType::F32}, {.bucket_axis = 0});
  const Value table = g.param("table", {{upper, 2}, DType::F32}, std::as_bytes(std::span(ones)));
  g.set_outputs({{"y", g.add(x, table)}, {"turned", g.transpose(g.add(x, table), {1, 0})}});
  return g;
}

// y = x [upper, 2] * scale [2] + the row's id, of i64
Graph mixed(int64_t upper) {
  Graph g;
  const Value x = g.input("x", {{upper, 2}, DType::F32}, {.bucket_axis = 0});
  const Value ids = g.input("ids", {{upper, 1}, DType::I64}, {.bucket_axis = 0});
  const Value scale = g.input("scale", {{2}, DType::F32});
  g.set_outputs({{"y", g.add(g.mul(x, scale), g.cast(ids, DType::F32))}, {"ids", ids}});
  return g;
}

Floats whole(const Floats& rows, size_t elements) {
  Floats result = rows;
  result.resize(elements, 0);
  return result;
}

TEST(RunPadded, SlicesOutputsToTheRowsThereAre) {
  BucketedCompileCache cache(Device::Cpu(), kBuckets);
  const auto ran = cache.run_padded(3, 3, model, {{"x", Floats{1, 2, 3, 4, 5, 6}, 2}}, {2, 0, 0});
  ASSERT_TRUE(ran);
  EXPECT_EQ(ran->upper, 4);
  EXPECT_EQ(ran->outputs[0], (Floats{2, 3, 4, 5, 6, 7}));
  EXPECT_EQ(ran->outputs[1], (Floats{3, 4}));  // of three rows, not of four
  EXPECT_EQ(ran->outputs[2], (Floats{2, 4, 6, 0, 3, 5, 7, 0}));
  EXPECT_EQ(cache.compiled_count(), 1u);
}

TEST(RunPadded, AWholeOutputIsZeroPastTheRowsOnEveryCall) {
  for (const auto& build : {&model, &falls_back}) {
    BucketedCompileCache cache(Device::Cpu(), kBuckets);
    const auto outputs_of = [&](const Floats& x) {
      const auto rows = static_cast<int64_t>(x.size()) / 2;
      return cache.run_padded(rows, rows, build, {{"x", x, 2}})->outputs;
    };
    EXPECT_EQ(outputs_of({1, 2, 3, 4, 5, 6, 7, 8})[0], (Floats{2, 3, 4, 5, 6, 7, 8, 9}));
    EXPECT_EQ(outputs_of({9, 9})[0], whole({10, 10}, 8));  // nothing of the four rows before
    EXPECT_EQ(outputs_of({1, 2, 3, 4})[0], whole({2, 3, 4, 5}, 8));
    const auto outputs = outputs_of({1, 2, 3, 4});
    EXPECT_EQ(outputs.back(), (Floats{2, 4, 0, 0, 3, 5, 0, 0}));
  }
}

TEST(RunPadded, WhereShapesDoNotFollowItPadsWithZeros) {
  BucketedCompileCache cache(Device::Cpu(), kBuckets);
  const auto ran = cache.run_padded(2, 2, falls_back, {{"x", Floats{1, 2, 3, 4}, 2}}, {2});
  EXPECT_EQ(ran->outputs[0], (Floats{2, 3, 4, 5}));
  EXPECT_FALSE(cache.compiled_for_key(2)->active_extent_report().fallback.empty());
}

// Which axis is the bucket's cannot be told: nothing is taken for padding.
TEST(RunPadded, WhereOtherAxesAreAsLongNothingIsCleared) {
  const auto folds = [](int64_t upper) {
    Graph g;
    const Value x = g.input("x", {{upper, 4}, DType::F32}, {.bucket_axis = 0});
    g.set_outputs(
        {{"y", g.reshape(g.reshape(x, {upper * 4}), {4, upper})}, {"sums", g.reduce_sum(x, {0})}});
    return g;
  };
  BucketedCompileCache cache(Device::Cpu(), {{1, 5}});
  const auto ran = cache.run_padded(2, 2, folds, {{"x", Floats{1, 2, 3, 4, 5, 6, 7, 8}, 4}});
  EXPECT_FALSE(cache.compiled_for_key(2)->active_extent_report().fallback.empty());
  EXPECT_EQ(ran->outputs[1], (Floats{6, 8, 10, 12}));
}

TEST(RunPadded, TheBucketIsThatOfTheKey) {
  BucketedCompileCache cache(Device::Cpu(), kBuckets);
  const Floats x = {1, 2};
  EXPECT_EQ(cache.run_padded(8, 1, model, {{"x", x, 2}}, {2})->upper, 8);
  EXPECT_EQ(cache.run_padded(1, 1, model, {{"x", x, 2}}, {2})->upper, 4);
  const auto never = [](int64_t) -> Graph { throw std::logic_error("called"); };
  EXPECT_FALSE(cache.run_padded(9, 1, never, {{"x", x, 2}}, {2}));
  EXPECT_FALSE(cache.run_padded(0, 1, never, {{"x", x, 2}}, {2}));
}

TEST(RunPadded, ClearsTheActiveExtentAlsoAfterAnError) {
  BucketedCompileCache cache(Device::Cpu(), kBuckets);
  cache.run_padded(2, 2, model, {{"x", Floats{1, 2, 3, 4}, 2}});
  const CompiledHandle graph = cache.compiled_for_key(2);
  const Floats full = {1, 2, 3, 4, 5, 6, 7, 8};
  EXPECT_EQ(graph->run({{"x", full}})[1], (Floats{4, 5}));
  EXPECT_NE(user_error_of([&] {
              cache.run_padded(2, 2, model, {{"z", Floats{1, 2, 3, 4}, 2}});
            }).find("\"z\""),
            std::string::npos);
  EXPECT_EQ(graph->run({{"x", full}})[1], (Floats{4, 5}));
}

TEST(RunPadded, OtherInputsArePassedAsTheyAre) {
  BucketedCompileCache cache(Device::Cpu(), kBuckets);
  const std::vector<int64_t> ids = {100, 200, 300};
  const Floats x = {1, 2, 3, 4, 5, 6}, scale = {10, 1};
  const auto ran = cache.run_padded_mixed(
      3, 3, mixed,
      {{.name = "x", .data = view(x, {3, 2}), .row_inner = 2}, {"ids", ids, 1}, {"scale", scale}},
      {2, 1});
  EXPECT_EQ(ran->outputs[0], (Floats{110, 102, 230, 204, 350, 306}));
  EXPECT_EQ(ran->outputs[1], (Floats{100, 200, 300}));
}

TEST(RunPadded, RowsThatDoNotFitAreAnErrorBeforeAnythingIsBuilt) {
  BucketedCompileCache cache(Device::Cpu(), kBuckets);
  const auto never = [](int64_t) -> Graph { throw std::logic_error("called"); };
  const auto error = [&](int64_t rows, const std::vector<RowsInput>& inputs,
                         const std::vector<int64_t>& inners = {}) {
    return user_error_of([&] { cache.run_padded(2, rows, never, inputs, inners); });
  };
  const Floats x = {1, 2, 3, 4};
  EXPECT_EQ(error(5, {{"x", x, 2}}), "[run_padded] 5 rows exceed upper, 4");
  EXPECT_EQ(error(0, {{"x", x, 2}}), "[run_padded] 0 rows: at least 1 is needed");
  EXPECT_EQ(error(3, {{"x", x, 2}}), "[run_padded] input \"x\" has 2 rows of 2, but the run has 3");
  EXPECT_EQ(error(2, {{"x", x, 3}}),
            "[run_padded] input \"x\": 4 elements are not whole rows of 3");
  EXPECT_EQ(error(2, {{"x", x, 0}}),
            "[run_padded] input \"x\": a row of 0 elements; at least 1 is needed");
  EXPECT_EQ(error(2, {{"x", x, 2}, {"x", x, 2}}), "[run_padded] input \"x\" is given twice");
  EXPECT_EQ(error(2, {{"x", x, 2}}, {-1}),
            "[run_padded] rows of -1 elements of an output: 0 or more are needed");
  EXPECT_EQ(cache.compiled_count(), 0u);
}

TEST(RunPadded, OutputsThatAreNoSuchRowsAreAnError) {
  BucketedCompileCache cache(Device::Cpu(), kBuckets);
  const auto error = [&](const std::vector<int64_t>& inners) {
    return user_error_of(
        [&] { cache.run_padded(2, 2, model, {{"x", Floats{1, 2, 3, 4}, 2}}, inners); });
  };
  EXPECT_EQ(error({3}), "[slice_rows] 8 elements are not whole rows of 3");
  EXPECT_EQ(error({8}), "[slice_rows] 2 rows exceed upper, 1");
  EXPECT_EQ(error({2, 0, 0, 1}), "[run_padded] row sizes of 4 outputs are given, the model has 3");
}

TEST(RunPadded, ABucketThatIsCompiledRunsAsItWas) {
  BucketedCompileCache cache(Device::Cpu(), kBuckets);
  const auto found = cache.get_or_compile_with_options(2, {.threads = 1}, model);
  const auto never = [](int64_t) -> Graph { throw std::logic_error("called"); };
  EXPECT_EQ(cache.run_padded(2, 1, never, {{"x", Floats{1, 2}, 2}}, {2})->outputs[0],
            (Floats{2, 3}));
  EXPECT_EQ(cache.compiled_for_key(2), found->handle);
}

TEST(RunPadded, ThreadsMayRunInOneBucket) {
  BucketedCompileCache cache(Device::Cpu(), kBuckets);
  std::vector<std::jthread> threads;
  for (int64_t i = 0; i < 8; ++i) {
    threads.emplace_back([&, i] {
      const int64_t rows = 1 + i % 4;
      const Floats x(static_cast<size_t>(rows * 2), static_cast<float>(i));
      for (int run = 0; run < 20; ++run) {
        const auto ran = cache.run_padded(rows, rows, model, {{"x", x, 2}}, {2});
        EXPECT_EQ(ran->outputs[0], Floats(x.size(), static_cast<float>(i + 1)));
        EXPECT_EQ(ran->outputs[1], Floats(2, static_cast<float>(i)));
        cache.sync_all();
      }
    });
  }
}

}  // namespace
}  // namespace tenon
