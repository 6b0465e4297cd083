// Buckets compiled with parameters: y = x [upper] * w, by hand.
#include <gtest/gtest.h>

#include "tenon/tenon.h"
#include "tests/error_of.h"

namespace tenon {
namespace {

using Floats = std::vector<float>;
using Buckets = std::vector<Bucket>;

const Buckets kBuckets = {{1, 3}, {3, 5}};

Graph model(int64_t upper) {
  Graph g;
  const Value x = g.input("x", {{upper}, DType::F32});
  g.set_outputs({{"y", g.mul(x, g.param("w", {{1}, DType::F32}))}});
  return g;
}

HirModule blocks(int64_t upper) {
  HirModule m;
  const HirValue x = m.input("x", {{upper}, DType::F32});
  m.set_outputs({{"y", m.op1("mul", {x, m.param("w", {{1}, DType::F32})})}});
  return m;
}

ParamStore store(float w) { return ParamStore({{"w", Floats{w}}}); }

TEST(BucketsWithParams, ParametersAreTakenOnce) {
  BucketedCompileCache cache(Device::Cpu(), kBuckets);
  int built = 0;
  const auto build = [&](int64_t upper) {
    ++built;
    return std::pair(model(upper), store(static_cast<float>(10 * built)));
  };
  const auto found = cache.ensure_graph_with_params(1, build);
  ASSERT_TRUE(found);
  EXPECT_EQ(found->upper, 2);
  EXPECT_EQ(found->handle->run({{"x", Floats{1, 2}}})[0], (Floats{10, 20}));
  EXPECT_EQ(cache.ensure_graph_with_params(2, build)->handle, found->handle);
  EXPECT_EQ(built, 1);
  EXPECT_EQ(found->handle->run({{"x", Floats{1, 2}}})[0], (Floats{10, 20}));
  EXPECT_FALSE(cache.ensure_graph_with_params(5, build));
  EXPECT_EQ(built, 1);
}

TEST(BucketsWithParams, BlocksAndOptions) {
  BucketedCompileCache cache(Device::Cpu(), kBuckets);
  const auto build = [](int64_t upper) { return std::pair(blocks(upper), store(3)); };
  const auto found = cache.ensure_hir_with_params(4, build, {.threads = 1});
  EXPECT_EQ(found->handle->threads(), 1);
  EXPECT_EQ(found->handle->run({{"x", Floats{1, 2, 3, 4}}})[0], (Floats{3, 6, 9, 12}));
  EXPECT_NE(user_error_of([&] {
              cache.ensure_hir_with_params(4, build, {.threads = 2});
            }).find("threads 1, now 2"),
            std::string::npos);
}

TEST(BucketsWithParams, AnUnknownNameLeavesTheBucketUncompiled) {
  BucketedCompileCache cache(Device::Cpu(), kBuckets);
  const auto unknown = [](int64_t upper) {
    return std::pair(model(upper), ParamStore({{"v", Floats{1}}}));
  };
  EXPECT_NE(user_error_of([&] { cache.ensure_graph_with_params(1, unknown); }).find("\"v\""),
            std::string::npos);
  EXPECT_EQ(cache.compiled_count(), 0u);
  EXPECT_EQ(cache.compiled_for_key(1), nullptr);
}

TEST(BucketsWithParams, OnlyThoseThatWereGivenOneStoreShareIt) {
  BucketedCompileCache cache(Device::Cpu(), kBuckets);
  const ParamStore weights = store(2);
  const auto build = [&](int64_t upper) { return std::pair(model(upper), weights); };
  const CompiledHandle small = cache.ensure_graph_with_params(1, build)->handle;
  cache.ensure_graph_with_params(3, build);
  BucketedCompileCache another(Device::Cpu(), kBuckets);
  const auto alone = [&](int64_t upper) { return std::pair(model(upper), store(2)); };
  const CompiledHandle apart = another.ensure_graph_with_params(1, alone)->handle;
  small->set_param("w", Floats{7});
  const auto never = [](int64_t) -> Graph { throw std::logic_error("called"); };
  EXPECT_EQ(cache.run_padded(3, 3, never, {{"x", Floats{1, 2, 3}, 1}}, {1})->outputs[0],
            (Floats{7, 14, 21}));
  EXPECT_EQ(apart->run({{"x", Floats{1, 2}}})[0], (Floats{2, 4}));
}

}  // namespace
}  // namespace tenon
