// See devices.h. GPUs are looked for when first asked about, and kept.
#include "runtime/devices.h"

#include <algorithm>
#include <map>
#include <mutex>

#include "base/cpu_info.h"
#include "base/knobs.h"
#include "runtime/cpu/cpu_stream.h"
#include "runtime/cuda/cuda_stream.h"
#include "runtime/cuda/gpu.h"
#include "runtime/null_stream.h"

namespace tenon::runtime {
namespace {

using program::DeviceKind;

// Kept for good: at the end of the process the driver may be gone before us.
Result<std::shared_ptr<cuda::Gpu>> gpu(int index) {
  struct Known {
    std::mutex mutex;
    std::map<int, std::shared_ptr<cuda::Gpu>> gpus;
  };
  static Known& known = *new Known;
  const auto driver = cuda::driver();
  if (!driver) return driver.error();
  const std::lock_guard lock(known.mutex);
  std::shared_ptr<cuda::Gpu>& gpu = known.gpus[index];
  if (gpu) return gpu;
  auto opened = cuda::Gpu::open(*driver.value(), index);
  if (opened) gpu = opened.value();
  return opened;
}

int gpu_count() {
  const auto driver = cuda::driver();
  int count = 0;
  return driver && driver.value()->device_count(&count) == cuda::kSuccess ? count : 0;
}

std::string why_no_gpu(int index) {
  const auto opened = gpu(index);
  return opened ? "" : opened.error().what();
}

std::string describe_gpu(int index) {
  const auto opened = gpu(index);
  return opened ? opened.value()->describe() : opened.error().what();
}

Result<std::shared_ptr<DeviceStream>> open_gpu(int index, ThreadPool& pool) {
  const auto opened = gpu(index);
  if (!opened) return user_error("cuda:{}: {}", index, opened.error().what());
  auto stream =
      cuda::CudaStream::open(opened.value(), {.graphs = knobs().cuda_graphs != "0", .pool = &pool});
  if (!stream) return stream.error();
  return std::shared_ptr<DeviceStream>(std::move(stream.value()));
}

std::string why_no_cpu(int index) {
  if (index != 0) return "there is one CPU";
  return cpu_info().isa == CpuIsa::Generic ? "the CPU has no AVX2 and FMA" : "";
}

std::string describe_cpu(int /*index*/) {
  const bool wide = cpu_info().isa == CpuIsa::Avx512;
  return fmt::format("{}, {} threads", wide ? "AVX-512" : "AVX2", thread_pool().max_threads());
}

template <typename Stream>
Result<std::shared_ptr<DeviceStream>> open(int /*index*/, ThreadPool& pool) {
  return std::shared_ptr<DeviceStream>(std::make_shared<Stream>(pool));
}

// Devices of one kind, by their index.
struct DeviceFamily {
  int (*count)();                             // that known_devices tells of
  std::string (*why_unavailable)(int index);  // empty: it can be used
  std::string (*describe)(int index);
  Result<std::shared_ptr<DeviceStream>> (*open)(int index, ThreadPool& pool);
};

constexpr DeviceFamily kCpus = {[] { return 1; }, why_no_cpu, describe_cpu, open<cpu::CpuStream>};
constexpr DeviceFamily kGpus = {[] { return std::max(1, gpu_count()); }, why_no_gpu, describe_gpu,
                                open_gpu};
constexpr const char* kTestsOnly = "tests alone run what is compiled for it";
constexpr DeviceFamily kEmulated = {[] { return 0; }, [](int) -> std::string { return kTestsOnly; },
                                    [](int) -> std::string { return kTestsOnly; },
                                    [](int, ThreadPool&) -> Result<std::shared_ptr<DeviceStream>> {
                                      return unsupported_error("emulated-gpu: {}", kTestsOnly);
                                    }};
// Kernels are planned for this CPU.
constexpr DeviceFamily kNull = {[] { return 0; }, why_no_cpu,
                                [](int) -> std::string { return "computes nothing"; },
                                open<NullStream>};

constexpr DeviceFamily kFamilies[] = {
#define DEVICE(kind, name, backend, family) family,
#include "program/devices.def"
#undef DEVICE
};

const DeviceFamily& family_of(DeviceKind kind) { return kFamilies[static_cast<int>(kind)]; }

}  // namespace

std::string why_unavailable(const DeviceId& device) {
  return family_of(device.kind).why_unavailable(device.index);
}

std::string describe(const DeviceId& device) {
  return family_of(device.kind).describe(device.index);
}

std::vector<DeviceId> known_devices() {
  std::vector<DeviceId> devices;
  for (int kind = 0; kind < program::kDeviceKinds; ++kind) {
    for (int i = 0; i < kFamilies[kind].count(); ++i)
      devices.push_back({static_cast<DeviceKind>(kind), i});
  }
  return devices;
}

Result<int> cuda_arch(int index) {
  const auto opened = gpu(index);
  if (!opened) return opened.error();
  return opened.value()->arch();
}

Result<std::shared_ptr<DeviceStream>> open_stream(const DeviceId& device, ThreadPool& pool) {
  return family_of(device.kind).open(device.index, pool);
}

}  // namespace tenon::runtime
