// Steps that call a function of the user's: y = 2 x + 3 + w, the 3 by a function between two
// kernels. On a device that shares the host's memory, on one that does not, and without allocations
// once a shape is known.
#include <numeric>

#include "runtime/cpu/cpu_stream.h"
#include "tests/runtime/cuda_fixture.h"

namespace tenon::runtime {
namespace {

// What the function saw.
struct Seen {
  int calls = 0;
  std::vector<int64_t> shape, dims;
  const void* input = nullptr;
  void* output = nullptr;
  bool fails = false;
};

CustomFunction add_three(Seen& seen) {
  return {"add_three",
          [](std::span<const TensorType> inputs, std::span<const Dim>) {
            return std::vector<TensorType>{inputs[0]};
          },
          [&seen](const CustomCall& call) {
            ++seen.calls;
            seen.shape = call.inputs[0].shape;
            seen.dims.assign(call.dims.begin(), call.dims.end());
            seen.input = call.inputs[0].data;
            seen.output = call.outputs[0].data;
            if (seen.fails) throw user_error("it is asked to");
            const auto x = call.input<float>(0);
            const auto y = call.output<float>(0);
            for (size_t i = 0; i < x.size(); ++i) y[i] = x[i] + 3;
          }};
}

std::shared_ptr<Program> custom_program(const CustomFunction& function) {
  auto p = test_program();
  const Dim rows = p->symbols[0], columns = p->symbols[1];
  const TensorType type{{rows, columns}, DType::F32};
  const Dim slot = p->plan.slot_bytes[0];
  p->arena.push_back({rows * columns * 4, 1});
  p->plan.slot_bytes = {slot, slot};
  p->plan.slot_offsets = {Dim(0), slot};
  p->plan.slot_stages = {0, 0};
  p->plan.stage_bytes = {slot * 2, Dim(0)};
  p->plan.bytes = slot * 2;
  p->steps[1].buffers[0] = {BufferKind::Arena, 1};
  p->host_steps = {{.kind = program::HostKind::Custom,
                    .before = 1,
                    .operands = {{{BufferKind::Arena, 0}, type}},
                    .results = {{{BufferKind::Arena, 1}, type}},
                    .symbols = {},
                    .bodies = {},
                    .origin = "layer",
                    .function = function,
                    .dims = {rows + columns, 5}}};
  return p;
}

using CustomStepTest = cuda::CudaTest;

TEST_F(CustomStepTest, WritesWhereTheNextKernelReads) {
  Seen seen;
  const auto executor =
      Executor::with_functions(custom_program(add_three(seen)), thread_pool(), test_functions())
          .take();
  set_weight(*executor, 10);
  check_run(*executor, 2, 3, 5, 4, 13);
  EXPECT_EQ(seen.shape, (std::vector<int64_t>{2, 3}));
  EXPECT_EQ(seen.dims, (std::vector<int64_t>{5, 5}));
  const void *input = seen.input, *output = seen.output;
  EXPECT_NE(input, output);
  check_run(*executor, 2, 3, 5, 4, 13);
  EXPECT_EQ(seen.input, input);  // memory of the arena, not copies that come and go
  EXPECT_EQ(seen.output, output);
  check_run(*executor, 4, 2, 2, 2, 13);
  EXPECT_EQ(seen.dims, (std::vector<int64_t>{6, 5}));
  EXPECT_EQ(seen.calls, 3);
}

// Host code that touches the fake device's memory ends the process.
TEST_F(CustomStepTest, HasCopiesOfWhatLiesOnTheDevice) {
  Seen seen;
  const auto executor =
      load_one(cuda::for_fake_cuda(*custom_program(add_three(seen)), test_functions()));
  set_weight(*executor, 10);
  check_run(*executor, 2, 3, 5, 4, 13);
  check_run(*executor, 30, 20, 20, 20, 13);
  const void* input = seen.input;
  check_run(*executor, 1, 2, 2, 2, 13);
  EXPECT_EQ(seen.input, input);  // memory is kept
  EXPECT_EQ(seen.calls, 3);
}

TEST_F(CustomStepTest, ThatFailsEndsTheRunAndTheNextOneIsGood) {
  Seen seen{.fails = true};
  for (const bool on_device : {false, true}) {
    const auto program = custom_program(add_three(seen));
    const auto executor =
        on_device ? load_one(cuda::for_fake_cuda(*program, test_functions()))
                  : Executor::with_functions(program, thread_pool(), test_functions()).take();
    set_weight(*executor, 10);
    Run run(2, 3, 3, 3);
    ASSERT_TRUE(executor->bind(run.in()).ok());
    seen.fails = true;
    const Status status = executor->execute(run.out());
    ASSERT_FALSE(status.ok());
    EXPECT_STREQ(status.error().what(), "[custom add_three] it is asked to");
    EXPECT_FALSE(executor->cancelled());
    seen.fails = false;
    check_run(*executor, 2, 3, 3, 3, 13);
  }
}

TEST_F(CustomStepTest, IsNotCalledByARunThatIsToStop) {
  Seen seen;
  const auto executor =
      load_one(cuda::for_fake_cuda(*custom_program(add_three(seen)), test_functions()));
  set_weight(*executor, 10);
  Run run(2, 3, 3, 3);
  ASSERT_TRUE(executor->bind(run.in()).ok());
  std::stop_source stop;
  stop.request_stop();
  RunOptions options;
  options.stop = stop.get_token();
  EXPECT_FALSE(executor->execute(run.out(), options).ok());
  EXPECT_TRUE(executor->cancelled());
  EXPECT_EQ(seen.calls, 0);
}

TEST_F(CustomStepTest, WithoutAFunctionIsRefused) {
  Seen seen;
  auto program = custom_program(add_three(seen));
  program->host_steps[0].function.reset();
  const auto executor = Executor::with_functions(program, thread_pool(), test_functions());
  ASSERT_FALSE(executor);
  EXPECT_STREQ(executor.error().what(), "[program] host step 'layer': it lacks a function");
}

}  // namespace
}  // namespace tenon::runtime
