// Copies of a stream, by parts through pinned memory, on the fake driver.
#include "runtime/cuda/staging.h"

#include <numeric>

#include "tests/runtime/cuda_fixture.h"

namespace tenon::runtime::cuda {
namespace {

std::vector<std::byte> numbers(int64_t bytes) {
  std::vector<std::byte> values(static_cast<size_t>(bytes));
  for (size_t i = 0; i < values.size(); i += 61) values[i] = std::byte(i * 7 >> 5);
  return values;
}

class StagingTest : public CudaTest {
 protected:
  // There and back.
  void expect_copied(CudaStream& stream, int64_t bytes) {
    const std::vector<std::byte> values = numbers(bytes);
    std::vector<std::byte> back(values.size()), appended;
    appended.reserve(values.size());
    const Allocation memory = stream.allocate(bytes, "a test").take();
    ASSERT_TRUE(stream.copy_in(memory.data, values.data(), bytes).ok());
    ASSERT_TRUE(stream.copy_out(back.data(), memory.data, bytes).ok());
    ASSERT_TRUE(stream.append_out(appended, memory.data, bytes).ok());
    ASSERT_TRUE(stream.synchronize().ok());
    EXPECT_TRUE(back == values) << bytes;
    EXPECT_TRUE(appended == values) << bytes;
    stream.release(memory);
    ASSERT_TRUE(stream.synchronize().ok());
  }
};

TEST_F(StagingTest, CopiesOfEverySizeArrive) {
  for (ThreadPool* pool : {static_cast<ThreadPool*>(nullptr), &thread_pool()}) {
    const auto stream = FakeCuda::stream({.pool = pool});
    for (const int64_t bytes : {int64_t{1}, int64_t{255}, Staging::kSlotBytes - 1,
                                Staging::kSlotBytes, 3 * Staging::kSlotBytes + 5})
      expect_copied(*stream, bytes);
  }
}

TEST_F(StagingTest, LargeCopiesPassThroughALimitedAmountOfMemory) {
  const auto stream = FakeCuda::stream();
  fake_.pinned_allocations = 0;
  expect_copied(*stream, (Staging::kMostSlots + 3) * Staging::kSlotBytes);
  EXPECT_EQ(fake_.pinned_allocations, Staging::kMostSlots);
}

TEST_F(StagingTest, SmallCopiesShareASlotAndWaitForNoEvent) {
  const auto stream = FakeCuda::stream();
  fake_.pinned_allocations = 0;
  for (int i = 0; i < 10; ++i) expect_copied(*stream, 1000);
  EXPECT_EQ(fake_.pinned_allocations, 1);
  EXPECT_EQ(fake_.event_waits, 0);
}

// The device is done with the input's parts when the output's are asked for.
TEST_F(StagingTest, WhatTheDeviceIsDoneWithIsUsedAgain) {
  const auto stream = FakeCuda::stream();
  const int64_t bytes = 4 * Staging::kSlotBytes;
  const std::vector<std::byte> values = numbers(bytes);
  std::vector<std::byte> back(values.size());
  const Allocation memory = stream->allocate(bytes, "a test").take();
  fake_.pinned_allocations = 0;
  ASSERT_TRUE(stream->copy_in(memory.data, values.data(), bytes).ok());
  FakeCuda::driver().stream_synchronize(stream->handle());  // time goes by
  ASSERT_TRUE(stream->copy_out(back.data(), memory.data, bytes).ok());
  ASSERT_TRUE(stream->synchronize().ok());
  EXPECT_TRUE(back == values);
  EXPECT_LE(fake_.pinned_allocations, 5);
  stream->release(memory);
}

}  // namespace
}  // namespace tenon::runtime::cuda
