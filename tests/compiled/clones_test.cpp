// Clones of a CompiledGraph on many threads, without the compiler, so that ThreadSanitizer sees all
// of it: an artifact whose code jumps into this process computes y = 2 x + w.
#include <gtest/gtest.h>

#include <atomic>
#include <thread>

#include "base/atomic_file.h"
#include "program/artifact.h"
#include "tenon/compiled_graph.h"
#include "tests/compiled/jump_code.h"
#include "tests/runtime/test_program.h"
#include "tests/temp_file.h"

namespace tenon {
namespace {

using program::KernelFunction;

// w = 3
CompiledGraph load(KernelFunction first = runtime::double_rows) {
  static const float kWeight = 3;
  program::Program program = *runtime::test_program();
  program.params[0].initial = std::as_bytes(std::span(&kWeight, 1));
  program.code = {jump_to("double", first), jump_to("add", runtime::add_weight),
                  jump_to("pack", runtime::pack_weight)};
  const TempFile file(".tenon");
  write_atomically(file.path(), program::ArtifactBytes(program).pieces());
  return CompiledGraph::load(file.path(), {.threads = 2});
}

struct Data {
  Data(int64_t batch, int64_t seq) : shape{batch, seq} {
    for (int64_t i = 0; i < batch * seq; ++i) x.push_back(static_cast<float>(i % 11));
  }
  NamedInputs inputs() const { return {{"x", view(x, shape)}}; }
  bool gives(const void* y, float w) const {
    const auto* values = static_cast<const float*>(y);
    for (size_t i = 0; i < x.size(); ++i) {
      if (values[i] != 2 * x[i] + w) return false;
    }
    return true;
  }

  std::vector<int64_t> shape;
  std::vector<float> x;
};

// The ways of running, each of which says whether the numbers are right.
bool run_raw(CompiledGraph& graph, const Data& data, float w) {
  const TensorView& y = graph.run_raw(data.inputs())[0];
  return y.shape == data.shape && data.gives(y.data, w);
}
bool run_into(CompiledGraph& graph, const Data& data, float w) {
  std::vector<float> y(data.x.size());
  graph.run_into(data.inputs(), {{"y", {y.data(), DType::F32, data.shape}}});
  return data.gives(y.data(), w);
}
bool run_slots(CompiledGraph& graph, const Data& data, float w) {
  graph.set_extents(DimBinding({{"batch", data.shape[0]}, {"seq", data.shape[1]}}));
  const std::span<const std::byte> inputs[] = {std::as_bytes(std::span(data.x))};
  const OutputSlot y = graph.run_slots(inputs)[0];
  return y.length == static_cast<int64_t>(inputs[0].size()) &&
         data.gives(graph.arena_ptr() + y.offset, w);
}
bool run_copied(CompiledGraph& graph, const Data& data, float w) {
  return data.gives(graph.run(data.inputs())[0].data(), w);
}
bool run_of_clone(CompiledGraph& graph, const Data& data, float w) {
  CompiledGraph other = graph.clone();
  return run_raw(other, data, w);
}
constexpr bool (*kWays[])(CompiledGraph&, const Data&, float) = {run_raw, run_into, run_slots,
                                                                 run_copied, run_of_clone};

TEST(Clones, RunAtTheSameTime) {
  constexpr int kThreads = 8, kRuns = 1250;  // 10,000 in all
  CompiledGraph original = load();
  std::vector<CompiledGraph> clones;
  for (int i = 0; i < kThreads; ++i) clones.push_back(original.clone());
  std::atomic<int> wrong = 0;
  {
    std::vector<std::jthread> threads;
    for (int i = 0; i < kThreads; ++i) {
      threads.emplace_back([&, i] {
        CompiledGraph& mine = clones[static_cast<size_t>(i)];
        float w = 3;
        for (int each = 0; each < kRuns; ++each) {
          if (i % 2 == 1 && each % 100 == 99) {
            w = static_cast<float>(each + i);
            mine.set_param("w", {&w, DType::F32, {1}});
          }
          const Data data(1 + (each + i) % 5, 1 + each * 7 % 40);
          if (!kWays[static_cast<size_t>(each + i) % std::size(kWays)](mine, data, w)) ++wrong;
        }
      });
    }
  }
  EXPECT_EQ(wrong, 0);
  for (const auto way : kWays) EXPECT_TRUE(way(original, Data(2, 2), 3));
}

std::atomic<bool> inside = false, released = false;

void wait_within(void* const* buffers, const int64_t* dims, void* scratch, int64_t begin,
                 int64_t end, int64_t* fault) {
  inside = true;
  inside.notify_all();
  released.wait(false);
  runtime::double_rows(buffers, dims, scratch, begin, end, fault);
}

TEST(CompiledGraphs, AreForOneThreadAtATime) {
  CompiledGraph graph = load(wait_within);
  const Data data(1, 4);
  bool right = false;
  std::jthread user([&] { right = run_raw(graph, data, 3); });
  inside.wait(false);
  const float w = 10;
  EXPECT_THROW(graph.run_raw(data.inputs()), Error);
  EXPECT_THROW(run_into(graph, data, 3), Error);
  EXPECT_THROW(graph.set_extents(DimBinding({{"batch", 1}, {"seq", 4}})), Error);
  EXPECT_THROW(graph.set_param("w", {&w, DType::F32, {1}}), Error);
  EXPECT_THROW(graph.clone(), Error);
  released = true;
  released.notify_all();
  user.join();
  EXPECT_TRUE(right);
  EXPECT_TRUE(run_raw(graph, data, 3));  // what was refused changed nothing
}

TEST(ParamStore, IsSetWhileGraphsThatHaveItRun) {
  ParamStore store;
  const auto set = [&](float w) { store.set("w", std::vector<float>{w}); };
  set(1);
  CompiledGraph graph = load();
  graph.use_params(store);
  std::atomic<int> wrong = 0;
  {
    std::vector<std::jthread> threads;
    for (int i = 0; i < 4; ++i) {
      threads.emplace_back([&wrong, mine = graph.clone()]() mutable {
        const std::vector<float> zero(1, 0);
        float last = 1;
        for (int each = 0; each < 500; ++each) {
          const float now = mine.run({{"x", view(zero, {1, 1})}})[0][0];
          wrong += now < last;
          last = now;
        }
      });
    }
    for (int w = 2; w <= 500; ++w) set(static_cast<float>(w));
  }
  EXPECT_EQ(wrong, 0);
  EXPECT_TRUE(Data(2, 3).gives(graph.run_raw(Data(2, 3).inputs())[0].data, 500));
}

}  // namespace
}  // namespace tenon
