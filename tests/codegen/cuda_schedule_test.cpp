// What the schedules for GPUs make of lowered kernels, in CUDA C++: the bits of the interpreter
// that runs the same scheduled kernel.
#include <cstring>
#include <map>
#include <memory>

#include "schedule/gpu/schedule.h"
#include "tenon/error.h"
#include "tests/codegen/cuda_kernel.h"
#include "tests/full.h"
#include "tests/schedule/kernel_cases.h"
#include "tests/schedule/run_kernel.h"

namespace tenon::cuda_test {
namespace {

using namespace kernel_test;

// A compiler runs for every kernel: in the plain tests each third case is looked at.
constexpr size_t kSampled = 3;

using Compiled = std::map<const kernel::Kernel*, std::unique_ptr<HostKernel>>;

void run_on_host(Compiled& compiled, const kernel::Kernel& kernel,
                 const std::vector<void*>& pointers, const Extents& extents, int64_t* fault) {
  auto& host = compiled[&kernel];
  if (!host) host = std::make_unique<HostKernel>(kernel);
  std::vector<Bytes> buffers;
  for (size_t i = 0; i < pointers.size(); ++i) {
    if (kernel.buffers[i].storage != kernel::Storage::Global) continue;
    const auto* begin = static_cast<const std::byte*>(pointers[i]);
    buffers.emplace_back(begin, begin + byte_count(kernel.buffers[i], extents));
  }
  uint64_t words[4] = {};
  host->run(buffers, dim_values(kernel, extents), 3, false, words);
  for (size_t i = 0, at = 0; i < pointers.size(); ++i) {
    if (kernel.buffers[i].storage != kernel::Storage::Global) continue;
    const Bytes& bytes = buffers[at++];
    if (!bytes.empty()) std::memcpy(pointers[i], bytes.data(), bytes.size());
  }
  for (size_t i = 0; i < 3; ++i) fault[i] = static_cast<int64_t>(words[i]);
}

void expect_same(const Case& test) {
  const kernel::Kernel lowered = kernel::parse(test.text);
  const schedule::Scheduled scheduled = schedule::schedule_for_gpu(lowered, {});
  EXPECT_TRUE(is_taken_by_nvrtc(scheduled.kernel));
  Compiled compiled;
  for (const Extents& extents : {test.runs.front(), test.runs.back()}) {
    const Memory inputs = random_memory(lowered, extents, test.indices);
    Memory expected = inputs, actual = inputs;
    const Fault wanted = run_scheduled(scheduled, extents, expected, kernel_test::interpret);
    const Fault found =
        run_scheduled(scheduled, extents, actual,
                      [&](const auto& kernel, const auto& pointers, const auto& at,
                          int64_t* fault) { run_on_host(compiled, kernel, pointers, at, fault); });
    EXPECT_EQ(difference(expected, actual), "") << text_of(extents);
    EXPECT_EQ(wanted[0] != 0, found[0] != 0) << text_of(extents);
  }
}

TEST(CudaSchedule, GivesTheBitsOfTheInterpreter) {
  const std::vector<Case> cases = all_cases();
  for (size_t at = 0; at < cases.size(); at += full_tests() ? 1 : kSampled) {
    SCOPED_TRACE(cases[at].name);
    try {
      expect_same(cases[at]);
    } catch (const Error& error) {
      ADD_FAILURE() << error.what();
    }
  }
}

}  // namespace
}  // namespace tenon::cuda_test
