// Receipts of graphs that run: what kernels are counted as computing and moving, from shapes by
// hand. Times and limits are whatever they are.
#include "tenon/receipt.h"

#include <gtest/gtest.h>

#include "tenon/tenon.h"

namespace tenon {
namespace {

constexpr ReceiptOptions kQuick = {.seconds = 0, .slice_ms = 1};

// Two layers alike, and a sum of rows.
Graph model() {
  Graph g;
  Value x = g.input("x", {{sym::batch(), 64}, DType::F32});
  for (const char* name : {"w0", "w1"})
    x = g.relu(g.matmul(x, g.param(name, {{64, 64}, DType::F32})));
  g.set_outputs({{"y", g.reduce_sum(x, {1})}});
  return g;
}

CompiledGraph compiled(const CompileOptions& options = {}) {
  CompiledGraph graph = Session().compile(model(), options);
  for (const char* name : {"w0", "w1"}) graph.set_param(name, std::vector<float>(64 * 64, 0.5F));
  return graph;
}

const KernelReceipt* find(const RunReceipt& receipt, const std::string& arithmetic, int launches) {
  for (const KernelReceipt& kernel : receipt.kernels)
    if (kernel.launches == launches && kernel.arithmetic == arithmetic) return &kernel;
  return nullptr;
}

TEST(Receipt, OfARunHasEachKernelsFlopsBytesAndTime) {
  CompiledGraph graph = compiled();
  const std::vector<float> x(10 * 64, 1);
  const RunReceipt receipt = graph.receipt({{"x", view(x, {10, 64})}}, kQuick);
  ASSERT_EQ(receipt.kernels.size(), 2u) << receipt.to_string();
  const KernelReceipt* linear = find(receipt, "f32", 2);
  ASSERT_TRUE(linear) << receipt.to_string();
  EXPECT_EQ(linear->origins.size(), 2u);
  EXPECT_EQ(linear->flops, 2 * 2 * 10 * 64 * 64);
  EXPECT_EQ(linear->bytes, 2 * 4 * (10 * 64 + 64 * 64 + 10 * 64));
  double share = 0, floor = 0;
  for (const KernelReceipt& kernel : receipt.kernels) {
    EXPECT_GT(kernel.milliseconds, 0);
    EXPECT_GT(kernel.floor_ms, 0);
    share += kernel.share_of_run, floor += kernel.floor_ms;
  }
  EXPECT_NEAR(share, 1, 1e-9);
  EXPECT_NEAR(receipt.floor_ms, floor, 1e-12);
  EXPECT_GT(receipt.milliseconds, 0);
  EXPECT_EQ(receipt.limits.threads, graph.threads());
  EXPECT_LE(receipt.share_of_limit(), receipt.floor_ms / receipt.milliseconds);
  EXPECT_GT(receipt.kernels_ms, 0);
  EXPECT_EQ(receipt.to_json().front(), '{');
  EXPECT_EQ(linear->flops, graph.flops_of_last_run());
}

TEST(Receipt, ProductsOfBf16AreHeldAgainstTheirOwnRate) {
  CompiledGraph graph =
      compiled({.precision_policy = PrecisionOptions{PrecisionPolicy::AutoMixed}});
  const std::vector<float> x(10 * 64, 1);
  const RunReceipt receipt = graph.receipt({{"x", view(x, {10, 64})}}, kQuick);
  const bool has_dots = receipt.limits.bf16_gflops > 0;
  for (const KernelReceipt& kernel : receipt.kernels) {
    if (kernel.flops > 0) EXPECT_EQ(kernel.arithmetic, has_dots ? "bf16" : "f32");
  }
}

// Of a table of 1000 rows, 3 are read.
TEST(Receipt, OfALookUpTheRowsThatAreReadCount) {
  Graph g;
  const Value ids = g.input("ids", {{sym::seq()}, DType::I64});
  g.set_outputs({{"y", g.gather(g.param("table", {{1000, 16}, DType::F32}), ids, 0)}});
  CompiledGraph graph = Session().compile(g);
  graph.set_param("table", std::vector<float>(16000, 1));
  const std::vector<int64_t> rows = {7, 900, 7};
  const RunReceipt receipt = graph.receipt({{"ids", view(rows, {3})}}, kQuick);
  ASSERT_EQ(receipt.kernels.size(), 1u);
  EXPECT_EQ(receipt.kernels[0].bytes, 3 * 8 + 2 * 3 * 16 * 4);
}

TEST(Receipt, LeavesStatesAsTheyWere) {
  Graph g;
  const Dim past = sym::past();
  const Value state = g.state("rows", {{past, 4}, DType::F32}, {.axis = 0, .capacity = 8});
  const Value all = g.update(state, g.input("x", {{1, 4}, DType::F32}), past);
  g.set_outputs({{"sum", g.reduce_sum(all, {0})}});
  CompiledGraph graph = Session().compile(g);
  const std::vector<float> first(3 * 4, 1), x(4, 2);
  graph.bind_handle("rows", view(first, {3, 4}));
  graph.receipt({{"x", view(x, {1, 4})}}, kQuick);  // more runs than the state has room for
  EXPECT_EQ(graph.read_handle("rows")->shape, (std::vector<int64_t>{3, 4}));
  EXPECT_EQ(graph.run({{"x", view(x, {1, 4})}})[0], std::vector<float>(4, 5));
}

TEST(MachineLimits, AreRatesOfComputingAndOfEachLevelOfMemory) {
  const MachineLimits limits = measure_machine_limits(1, 1);
  EXPECT_EQ(limits.threads, 1);
  EXPECT_GT(limits.f32_gflops, 0);
  EXPECT_GE(limits.bf16_gflops, 0);
  EXPECT_GE(limits.int8_gflops, 0);
  std::string names;
  for (const MemoryLimit& level : limits.memory) {
    names += level.name + " ";
    EXPECT_GT(level.read_gbs, 0) << level.name;
    EXPECT_GT(level.copy_gbs, 0) << level.name;
    EXPECT_EQ(level.bytes == 0, level.name == "memory");
  }
  EXPECT_EQ(names, "L1 L2 L3 memory ");
  EXPECT_THROW(measure_machine_limits(0), Error);
}

TEST(Receipt, IsHeldAgainstWhatIsRequired) {
  RunReceipt receipt;
  receipt.milliseconds = 2, receipt.floor_ms = 1;
  receipt.unsteady = {"f32 100.0 and 90.0 GFLOP/s"};
  KernelReceipt kernel{.name = "copy", .origins = {"here"}, .launches = 1, .milliseconds = 4};
  kernel.floor_ms = 1, kernel.bytes = 8e6, kernel.flops = 4e6;
  kernel.bound = Bound::Memory, kernel.limit = "memory";
  kernel.share_of_run = receipt.kNoticeableShare;
  receipt.kernels = {kernel};
  EXPECT_EQ(kernel.gbs(), 2);  // 8e6 bytes in 4 ms
  EXPECT_EQ(kernel.gflops(), 1);
  EXPECT_TRUE(receipt.below(0.5, 0.25).empty());
  EXPECT_EQ(receipt.below(0.6),
            std::vector<std::string>{"the run is at 50.0% of its limit, 60.0% is required"});
  EXPECT_EQ(receipt.below(0, 0.3),
            std::vector<std::string>{"copy (here) is at 25.0% of its limit, 30.0% is required"});
  EXPECT_NE(receipt.to_string().find("unsteady"), std::string::npos);
}

TEST(Receipt, IsOfCpusOnly) {
  CompiledGraph graph = Session(Device::Null()).compile(model());
  EXPECT_THROW(graph.receipt({}, kQuick), Error);
  CompiledGraph on_cpu = compiled();
  EXPECT_THROW(on_cpu.receipt({}, kQuick), Error);  // no input
  const std::vector<float> x(64, 1);
  EXPECT_THROW(on_cpu.receipt({{"x", view(x, {1, 64})}}, {.seconds = -1}), Error);
}

}  // namespace
}  // namespace tenon
