// States through the whole compiler, on every kind of device: what runs give and leave behind is
// what the interpreter gives, and what a token costs does not depend on the tokens before it.
#include "graph/state.h"

#include <gtest/gtest.h>

#include "emulate/emulated_gpu.h"
#include "tests/driver/run_graph.h"

namespace tenon::graph_test {
namespace {

using graph::Graph;
using graph::Op;
using graph::Value;

constexpr int64_t kHeads = 2, kWidth = 32;

// Causal attention of new tokens to all that came before; keys are turned on their way to the
// cache.
Graph cached_attention(int64_t capacity) {
  Graph g;
  const Dim batch = sym::batch(), seq = sym::seq(), past = sym::past();
  const auto input = [&](const char* name, Shape shape) {
    return g.input(name, {std::move(shape), DType::F32});
  };
  const TensorType cache{{batch, past, kWidth}, DType::F32};
  const Value keys = g.state("keys", cache, {.axis = 1, .capacity = capacity});
  const Value values = g.state("values", cache, {.axis = 1, .capacity = capacity});
  const Value angles = input("angles", {seq, kWidth / kHeads / 2});
  const Value k = g.rotary(input("k", {batch, seq, kWidth}), angles, angles, {.heads = kHeads});
  const Value v = g.gelu(input("v", {batch, seq, kWidth}));
  g.set_outputs({{"y", g.attention(input("q", {batch, seq, kWidth}), g.update(keys, k, past),
                                   g.update(values, v, past), {.heads = kHeads, .causal = true})}});
  return g;
}

std::shared_ptr<const program::Program> compiled(const Graph& g, program::DeviceKind device) {
  driver::Options options{.cpu = detect_cpu(CpuIsa::Avx2), .dump = {}};
  options.device = device;
  return std::make_shared<const program::Program>(driver::compile(g, options).program);
}

// Runs with 3 tokens, then one, then two: each begins with the states that the last one left.
void expect_like_interpreter(const Graph& g, runtime::Executor& executor) {
  Tensors states;
  for (const Value& input : g.inputs()) {
    if (graph::state_layout(input))
      states[input.node->name()] = random_tensor(input, {{"batch", 2}, {"past", 0}});
  }
  int64_t past = 0;
  for (const int64_t seq : {3, 1, 2}) {
    Tensors given;
    std::vector<runtime::IoView> views;
    for (size_t i = 0; i < g.inputs().size(); ++i) {
      const Value input = g.inputs()[i];
      const std::string& name = input.node->name();
      const auto index = static_cast<int>(i);
      const bool state = states.contains(name);
      graph::Tensor& tensor = given[name] =
          state ? states[name]
                : random_tensor(input, {{"batch", 2}, {"seq", seq}, {"past", past}},
                                static_cast<unsigned>(past));
      if (state && past == 0)
        executor.handles()
            .bind(index, {tensor.bytes.data(), DType::F32, tensor.shape, {}})
            .throw_if_error();
      views.push_back(state ? executor.handles().view(index).take()
                            : runtime::IoView{tensor.bytes.data(), DType::F32, tensor.shape, {}});
    }
    const std::vector<graph::Tensor> expected = graph::interpret(g, given);
    executor.bind(views).throw_if_error();
    graph::Tensor y = expected[0];
    std::vector<runtime::IoView> outputs = {{y.bytes.data(), DType::F32, y.shape, {}}};
    executor.execute(outputs).throw_if_error();
    expect_close(y, expected[0], 1e-5, "y");
    past += seq;
    for (size_t i = 1; i < expected.size(); ++i) {
      const std::string& name = g.outputs()[i].name;
      int index = 0;
      while (executor.program().inputs[static_cast<size_t>(index)].name != name) ++index;
      const graph::Tensor left{DType::F32, executor.handles().value(index).shape,
                               executor.handles().read(index).take()};
      EXPECT_EQ(left.shape, expected[i].shape);
      expect_close(left, expected[i], 1e-5, name);
      states[name] = left;
    }
  }
}

TEST(States, GoFromRunToRunOnACpu) {
  const Graph g = cached_attention(8);
  auto executor = runtime::Executor::load(compiled(g, program::DeviceKind::Cpu), thread_pool());
  expect_like_interpreter(g, *executor.value());
}

TEST(States, GoFromRunToRunInMemoryThatTheHostCannotTouch) {
  const Graph g = cached_attention(8);
  auto executor =
      runtime::Executor::load(runtime::cuda::for_fake_cuda(*compiled(g, program::DeviceKind::Cpu)),
                              runtime::cuda::FakeCuda::stream());
  expect_like_interpreter(g, *executor.value());
}

TEST(States, GoFromRunToRunOnAGpu) {
  const Graph g = cached_attention(8);
  auto executor = runtime::Executor::load(compiled(g, program::DeviceKind::EmulatedGpu),
                                          emulate::open_emulated_gpu());
  expect_like_interpreter(g, *executor.value());
}

TEST(States, AreReadWhereTheyLieAndWrittenByTheRowsThatAreNew) {
  const auto program = compiled(cached_attention(2048), program::DeviceKind::Cpu);
  int updates = 0;
  for (const program::Step& step : program->steps) {
    for (size_t i = 0; i < step.buffers.size(); ++i) {
      if (!step.writes[i]) continue;
      const bool to_state = step.buffers[i].kind == program::BufferKind::Input;
      updates += to_state ? 1 : 0;
      // Everything that steps write, but their results in the caller's memory, is as large as the
      // new tokens make it.
      const Dim bytes = to_state ? step.bytes : byte_range(*program, step.buffers[i]).end;
      EXPECT_FALSE(bytes.uses(sym::past())) << step.origin << ": " << bytes.to_string();
    }
  }
  EXPECT_EQ(updates, 2);
}

}  // namespace
}  // namespace tenon::graph_test
