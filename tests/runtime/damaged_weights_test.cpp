// Weights from a file are compared with their digests by the first run that reads them, on the CPU
// and on a GPU: y = 2 x + w, by hand.
#include <gtest/gtest.h>

#include "runtime/executor.h"
#include "tests/runtime/cuda_fixture.h"
#include "tests/runtime/test_program.h"

namespace tenon::runtime {
namespace {

constexpr const char* kDamaged = "[file] parameter \"w\" is damaged: its digest is another";

// Parameters as an artifact has them: "w", which the prologue packs, and "unread", which is
// damaged.
class DamagedWeights : public cuda::CudaTest {
 protected:
  std::shared_ptr<Program> program() {
    auto program = test_program();
    add_data(program->params[0], w_, digest_of_w_);
    program->params.push_back({"unread", {{1}, DType::F32}, {}, nullptr});
    add_data(program->params[1], unread_, Digest());
    return program;
  }
  std::unique_ptr<Executor> on_cpu() {
    return Executor::with_functions(program(), *pool_, test_functions()).take();
  }
  std::unique_ptr<Executor> on_gpu() {
    const std::shared_ptr<cuda::Gpu> gpu = cuda::Gpu::open(cuda::FakeCuda::driver(), 0).take();
    return Executor::load(cuda::for_fake_cuda(*program(), test_functions()),
                          cuda::CudaStream::open(gpu, {}).take())
        .take();
  }

  // Of x = 5: "15" where w is 5, or what went wrong.
  static std::string run(Executor& executor) {
    const std::vector<int64_t> shape = {1, 1};
    float x = 5, y = -1;
    const IoView in[] = {{&x, DType::F32, shape, {}}};
    const IoView out[] = {{&y, DType::F32, shape, {}}};
    if (const Status status = executor.bind(in); !status.ok()) return status.error().what();
    if (const Status status = executor.execute(out); !status.ok()) return status.error().what();
    return std::to_string(static_cast<int>(y));
  }

  float w_ = 5, unread_ = 1;

 private:
  static void add_data(program::ParamSlot& slot, const float& value, const Digest& digest) {
    slot.initial = std::as_bytes(std::span(&value, 1));
    slot.check = std::make_shared<program::CheckedBytes>(slot.initial, std::vector{digest}, "file");
    slot.owner = slot.check;
  }
  const Digest digest_of_w_ = Hasher().bytes(std::as_bytes(std::span(&w_, 1))).finish();
  std::unique_ptr<ThreadPool> pool_ = make_worker_pool({.max_threads = 2});
};

TEST_F(DamagedWeights, AreTheErrorOfTheRunThatReadsThem) {
  for (const auto& executor : {on_cpu(), on_gpu()}) {
    w_ = 6;
    EXPECT_EQ(run(*executor), kDamaged);
    EXPECT_EQ(run(*executor), kDamaged);
    w_ = 5;
    EXPECT_EQ(run(*executor), "15");
  }
}

TEST_F(DamagedWeights, AreOfNoConcernWhereAnotherValueIsSet) {
  for (const auto& executor : {on_cpu(), on_gpu()}) {
    w_ = 6;
    const int64_t shape[] = {1};
    const float other = 1;
    ASSERT_TRUE(executor->set_param("w", DType::F32, shape, &other).ok());
    EXPECT_EQ(run(*executor), "11");
    w_ = 5;
  }
}

TEST_F(DamagedWeights, AreFoundWhereAStepOfTheRunReadsThem) {
  auto direct = program();
  direct->prologue.clear();
  direct->packed.clear();
  direct->steps[1].buffers[1] = {BufferKind::Param, 0};
  const auto pool = make_worker_pool({.max_threads = 1});
  const auto executor = Executor::with_functions(direct, *pool, test_functions()).take();
  w_ = 6;
  EXPECT_EQ(run(*executor), kDamaged);
  w_ = 5;
  EXPECT_EQ(run(*executor), "15");
}

TEST_F(DamagedWeights, AreLookedForOnce) {
  const auto executor = on_cpu();
  EXPECT_EQ(run(*executor), "15");
  w_ = 6;  // nobody looks again: what was packed is used
  EXPECT_EQ(run(*executor), "15");
}

}  // namespace
}  // namespace tenon::runtime
