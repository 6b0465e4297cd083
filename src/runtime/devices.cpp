// See devices.h. GPUs are looked for when first asked about, and kept.
#include "runtime/devices.h"

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

}  // namespace

std::string why_unavailable(const DeviceId& device) {
  if (device.kind == DeviceKind::Cuda) {
    const auto opened = gpu(device.index);
    return opened ? "" : opened.error().what();
  }
  if (device.index != 0) return "there is one CPU";
  return cpu_info().isa == CpuIsa::Generic ? "the CPU has no AVX2 and FMA" : "";
}

std::string describe(const DeviceId& device) {
  if (device.kind == DeviceKind::Cuda) {
    const auto opened = gpu(device.index);
    return opened ? opened.value()->describe() : opened.error().what();
  }
  if (device.kind == DeviceKind::Null) return "computes nothing";
  const bool wide = cpu_info().isa == CpuIsa::Avx512;
  return fmt::format("{}, {} threads", wide ? "AVX-512" : "AVX2", thread_pool().max_threads());
}

std::vector<DeviceId> known_devices() {
  std::vector<DeviceId> devices = {{DeviceKind::Cpu, 0}, {DeviceKind::Cuda, 0}};
  for (int i = 1; i < gpu_count(); ++i) devices.push_back({DeviceKind::Cuda, i});
  return devices;
}

Result<int> cuda_arch(int index) {
  const auto opened = gpu(index);
  if (!opened) return opened.error();
  return opened.value()->arch();
}

Result<std::shared_ptr<DeviceStream>> open_stream(const DeviceId& device, ThreadPool& pool) {
  if (device.kind == DeviceKind::Cpu)
    return std::shared_ptr<DeviceStream>(std::make_shared<cpu::CpuStream>(pool));
  if (device.kind == DeviceKind::Null)
    return std::shared_ptr<DeviceStream>(std::make_shared<NullStream>(pool));
  const auto opened = gpu(device.index);
  if (!opened) return user_error("cuda:{}: {}", device.index, opened.error().what());
  auto stream = cuda::CudaStream::open(opened.value(), {.graphs = knobs().cuda_graphs != "0"});
  if (!stream) return stream.error();
  return std::shared_ptr<DeviceStream>(std::move(stream.value()));
}

}  // namespace tenon::runtime
