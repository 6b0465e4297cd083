// What peak_bytes says beforehand against what a run takes: the arena and the scratch that it asks
// its device for, and the bytes of the arena that its steps touch.
#include <gtest/gtest.h>

#include <algorithm>
#include <random>
#include <string_view>

#include "base/thread_pool.h"
#include "runtime/cpu/cpu_stream.h"
#include "tests/driver/encoder_graph.h"
#include "tests/driver/run_graph.h"

namespace tenon::graph_test {
namespace {

using Extents = std::map<std::string, int64_t>;

// The CPU, and what was asked of it. The arena has a block for each stage; scratch is one, which
// may grow.
class Counting : public runtime::cpu::CpuStream {
 public:
  using CpuStream::CpuStream;
  Result<runtime::Allocation> allocate(int64_t bytes, const char* purpose) override {
    const std::string_view what = purpose;
    if (what == "the arena") arena += bytes;
    if (what == "scratch") scratch = std::max(scratch, bytes);
    return CpuStream::allocate(bytes, purpose);
  }
  int64_t arena = 0, scratch = 0;
};

// Up to the last byte of the arena that some step reads or writes: from the steps' buffers.
int64_t touched_bytes(const program::Program& program, const Extents& extents) {
  const auto value = [&](const Dim& dim) {
    return dim
        .evaluate([&](const Symbol& symbol) -> std::optional<int64_t> {
          return extents.at(symbol.name());
        })
        .value();
  };
  int64_t last = 0;
  for (const program::Step& step : program.steps) {
    for (const program::BufferRef& ref : step.buffers) {
      const program::BufferRef root = program::root_of(program, ref);
      if (root.kind != program::BufferKind::Arena) continue;
      const auto& buffer = program.arena[static_cast<size_t>(root.index)];
      const Dim& slot = program.plan.slot_offsets[static_cast<size_t>(buffer.slot)];
      last = std::max(last, value(slot) + value(buffer.offset) + value(buffer.bytes));
    }
  }
  return last;
}

// Executors keep the memory of the largest run: each binding gets one of its own.
TEST(PeakBytes, IsNeverLessThanWhatARunTakesAndHardlyMore) {
  constexpr int kBindings = 200;
  const graph::Graph g = encoder(2);
  const auto program =
      std::make_shared<const program::Program>(driver::compile(g, {.cpu = cpu_info()}).program);
  std::mt19937 random(7);
  const auto between = [&](int64_t least, int64_t most) {
    return std::uniform_int_distribution<int64_t>(least, most)(random);
  };
  for (int i = 0; i < kBindings; ++i) {
    const Extents extents = {{"batch", between(1, 16)}, {"seq", between(1, 128)}};
    auto stream = std::make_shared<Counting>(thread_pool());
    const auto executor = runtime::Executor::load(program, stream).take();
    const int64_t formula = executor->peak_bytes(extents).take();
    Tensors inputs = encoder_inputs(g, extents.at("batch"), extents.at("seq"));
    std::vector<runtime::IoView> views;
    for (const program::IoSlot& slot : program->inputs) {
      graph::Tensor& tensor = inputs.at(slot.name);
      views.push_back({tensor.bytes.data(), tensor.dtype, tensor.shape, tensor.shape});
    }
    runtime::run_owned(*executor, views).take();
    const int64_t touched = touched_bytes(*program, extents);
    const std::string where =
        fmt::format("batch {}, seq {}", extents.at("batch"), extents.at("seq"));
    EXPECT_LE(stream->arena + stream->scratch, formula) << where;
    EXPECT_LE(touched, stream->arena) << where;
    EXPECT_GE(static_cast<double>(touched + stream->scratch), 0.95 * static_cast<double>(formula))
        << where;
  }
}

}  // namespace
}  // namespace tenon::graph_test
