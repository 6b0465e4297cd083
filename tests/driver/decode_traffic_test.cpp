// What attention to a cache moves for a token: the cache once, and nothing of it anywhere else.
#include <gtest/gtest.h>

#include "tests/driver/run_graph.h"
#include "tests/schedule/kernel_traffic.h"

namespace tenon::graph_test {
namespace {

using graph::Graph;
using graph::Value;
using kernel::Storage;

constexpr int64_t kKvHeads = 2, kWidth = 32, kCapacity = 512;

// The attention kernel of a decoder, each of whose key heads serves `shared_by` heads.
kernel::Kernel cached_attention(int64_t shared_by, CpuIsa isa) {
  Graph g;
  const Dim batch = sym::batch(), seq = sym::seq(), past = sym::past();
  const int64_t heads = kKvHeads * shared_by, kv_width = kKvHeads * kWidth;
  const auto cache = [&](const char* name, const char* rows) {
    const Value state =
        g.state(name, {{batch, past, kv_width}, DType::F32}, {.axis = 1, .capacity = kCapacity});
    return g.update(state, g.input(rows, {{batch, seq, kv_width}, DType::F32}), past);
  };
  const Value q = g.input("q", {{batch, seq, heads * kWidth}, DType::F32});
  g.set_outputs({{"y", g.attention(q, cache("keys", "k"), cache("values", "v"),
                                   {.heads = heads, .kv_heads = kKvHeads, .causal = true})}});
  driver::Pipeline pipeline({.cpu = detect_cpu(isa), .dump = {}});
  const driver::Lir lir = pipeline.plan(pipeline.optimize(pipeline.preprocess(g)).graph);
  for (const driver::UniqueKernel& made : lir.kernels)
    if (made.kernel.name == "attention") return made.kernel;
  throw internal_error("no attention");
}

kernel_test::KernelTraffic traffic(const kernel::Kernel& attention, int64_t tokens, int64_t keys) {
  return {attention, {{"batch", 1}, {"seq", tokens}, {"past", keys - tokens}}};
}

TEST(DecodeTraffic, OfATokenIsItsCacheOnce) {
  for (const CpuIsa isa : isas_here()) {
    for (const int64_t shared_by : {1, 4, 7}) {
      const kernel::Kernel attention = cached_attention(shared_by, isa);
      // Rows of 7 heads are a tile of 8, or where registers are few, one of 6 and one of 1.
      const int64_t passes = shared_by == 7 && isa == CpuIsa::Avx2 ? 2 : 1;
      const int64_t rows = shared_by == 7 && isa == CpuIsa::Avx512 ? 8 : shared_by;
      const int64_t row_bytes = kKvHeads * rows * kWidth * 4;  // of queries, and of results
      for (const int64_t keys : {1, 130}) {
        const auto moved = traffic(attention, 1, keys);
        const int64_t cache_bytes = 2 * keys * kKvHeads * kWidth * 4;
        EXPECT_EQ(moved.loaded(Storage::Global), passes * cache_bytes + row_bytes);
        EXPECT_EQ(moved.stored(Storage::Global), row_bytes);
        EXPECT_EQ(moved.stored(Storage::Scratch), 0);
        EXPECT_EQ(moved.scratch_bytes(), 0);
      }
    }
  }
}

// Many queries gain by panels, which the same kernel makes of what they all read.
TEST(DecodeTraffic, OfAPromptHasPanels) {
  const kernel::Kernel attention = cached_attention(4, CpuIsa::Avx2);
  const auto moved = traffic(attention, 10, 70);
  EXPECT_GE(moved.stored(Storage::Scratch), 2 * 70 * kKvHeads * kWidth * 4);
  EXPECT_GT(moved.scratch_bytes(), 0);
}

}  // namespace
}  // namespace tenon::graph_test
