// See gpu.h.
#include "runtime/cuda/gpu.h"

#include "runtime/cuda/module.h"

namespace tenon::runtime::cuda {
namespace {

// Of cuDeviceGetAttribute.
constexpr int kMultiprocessors = 16, kCapabilityMajor = 75, kCapabilityMinor = 76;
constexpr int kMostSharedBytes = 97, kMemoryPools = 115;

constexpr int kLeastArch = 80;

}  // namespace

Result<std::shared_ptr<Gpu>> Gpu::open(const Driver& driver, int index) {
  std::shared_ptr<Gpu> gpu(new Gpu(driver));
  if (Status status = gpu->read_properties(index); !status.ok()) return status.error();
  if (gpu->arch_ < kLeastArch) {
    return user_error("device {}, {}, has compute capability {}.{}; 8.0 is needed", index,
                      gpu->name_, gpu->arch_ / 10, gpu->arch_ % 10);
  }
  const int result = driver.context_retain(&gpu->context_, gpu->device_);
  if (result != kSuccess) gpu->context_ = nullptr;
  if (Status status = driver.check(result, "cuDevicePrimaryCtxRetain"); !status.ok())
    return status.error();
  return gpu;
}

Gpu::~Gpu() {
  if (context_) driver_.context_release(device_);
}

Status Gpu::read_properties(int index) {
  int count = 0;
  if (Status status = driver_.check(driver_.device_count(&count), "cuDeviceGetCount"); !status.ok())
    return status;
  if (index < 0 || index >= count)
    return user_error("no device {}: the driver knows {}", index, count);
  if (Status status = driver_.check(driver_.device_get(&device_, index), "cuDeviceGet");
      !status.ok())
    return status;
  char name[256] = {};
  driver_.device_name(name, sizeof(name) - 1, device_);
  name_ = name;
  size_t memory = 0;
  driver_.device_memory(&memory, device_);
  memory_bytes_ = static_cast<int64_t>(memory);
  const auto attribute = [&](int which) {
    int value = 0;
    return driver_.device_attribute(&value, which, device_) == kSuccess ? value : 0;
  };
  arch_ = attribute(kCapabilityMajor) * 10 + attribute(kCapabilityMinor);
  multiprocessors_ = attribute(kMultiprocessors);
  most_shared_bytes_ = attribute(kMostSharedBytes);
  has_memory_pools_ = attribute(kMemoryPools) != 0;
  return {};
}

std::string Gpu::describe() const {
  return fmt::format("{}, compute capability {}.{}, {} multiprocessors, {:.1f} GiB", name_,
                     arch_ / 10, arch_ % 10, multiprocessors_,
                     static_cast<double>(memory_bytes_) / (int64_t{1} << 30));
}

Result<Allocation> allocated(const Driver& driver, int result, uint64_t pointer, int64_t bytes,
                             const char* purpose) {
  if (result == kOutOfMemory)
    return user_error("out of memory on the GPU: {} bytes for {}", bytes, purpose);
  if (Status status = driver.check(result, purpose); !status.ok()) return status.error();
  auto* data = reinterpret_cast<std::byte*>(pointer);
  return Allocation{data, bytes, data, static_cast<size_t>(bytes)};
}

Result<Allocation> Gpu::allocate(int64_t bytes, const char* purpose) {
  const Current current(*this);
  uint64_t pointer = 0;
  const int result = driver_.allocate(&pointer, static_cast<size_t>(bytes));
  return allocated(driver_, result, pointer, bytes, purpose);
}

void Gpu::release(const Allocation& allocation) noexcept {
  const Current current(*this);
  driver_.free(address_of(allocation.data));
}

Result<std::shared_ptr<const Module>> Gpu::module(const program::Code& code) {
  const std::lock_guard lock(mutex_);
  std::erase_if(modules_, [](const auto& entry) { return entry.second.expired(); });
  std::weak_ptr<const Module>& known = modules_[code.digest];
  if (auto module = known.lock()) return module;
  auto module = Module::load(shared_from_this(), code);
  if (module) known = module.value();
  return module;
}

}  // namespace tenon::runtime::cuda
