// A CUDA driver for tests, on machines without a GPU. Its device memory is memory of this process
// that nobody can touch except the driver's own operations: host code that reads or writes through
// a device pointer ends the process. What is asked of a stream happens when the stream, or an event
// behind it, is waited for and not before, so pinned memory that is reused too early gives wrong
// results, and what waits for more than it should is seen. Its clock counts what streams did. Its
// "cubins" name kernels for CPUs, which are called item by item, block by block.
#pragma once

#include <sys/mman.h>

#include <algorithm>
#include <atomic>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <deque>
#include <functional>
#include <map>
#include <memory>
#include <mutex>
#include <vector>

#include "program/verify.h"
#include "runtime/cpu/call_kernel.h"
#include "runtime/cpu/executable_code.h"
#include "runtime/cuda/argument_block.h"
#include "runtime/cuda/cuda_stream.h"
#include "runtime/cuda/driver.h"
#include "runtime/cuda/gpu.h"

namespace tenon::runtime::cuda {

struct FakeCubin {
  program::KernelFunction function;
  int64_t buffers;
};

class FakeCuda {
 public:
  static FakeCuda& get() {
    static FakeCuda fake;
    return fake;
  }
  static const Driver& driver() {
    static const Driver kTable = make_driver();
    return kTable;
  }
  // A stream of a GPU of its own: pools or none.
  static std::shared_ptr<CudaStream> stream(const StreamOptions& options = {}) {
    return CudaStream::open(Gpu::open(driver(), 0).take(), options).take();
  }

  // What the driver says of its device, and what was asked of it.
  int capability_major = 9, memory_pools = 1;
  using Count = std::atomic<int>;
  Count launches = 0, replays = 0, recordings = 0, modules = 0;
  Count sends = 0, receives = 0;  // copies to the device, to the host
  Count pinned_allocations = 0, stream_waits = 0, event_waits = 0;
  std::atomic<int64_t> most_blocks = 0;
  int fail_allocations_from = -1;  // bytes; -1: none fails
  size_t live_allocations() {
    const std::lock_guard lock(mutex_);
    return memory_.size();
  }

 private:
  using Work = std::function<void()>;
  struct Stream {
    std::deque<Work> queue;
    std::vector<Work>* recording = nullptr;
    void add(Work work) {
      recording ? recording->push_back(std::move(work)) : queue.push_back(std::move(work));
    }
  };
  struct Kernel {
    FakeCubin cubin;
  };

  struct Event {
    Stream* stream = nullptr;  // where it was recorded last
    int64_t recorded = 0, reached = 0, time = 0;
    bool is_reached() const { return reached == recorded; }
  };
  using EventHandle = std::shared_ptr<Event>;  // the stream may come to what was destroyed
  static EventHandle& event_of(void* handle) { return *static_cast<EventHandle*>(handle); }

  static Stream& stream_of(void* handle) { return *static_cast<Stream*>(handle); }
  static std::byte* pointer(uint64_t address) { return reinterpret_cast<std::byte*>(address); }

  // While it lives, device memory can be used.
  class Open {
   public:
    explicit Open(FakeCuda& fake) : lock_(fake.mutex_), fake_(fake) {
      fake.protect(PROT_READ | PROT_WRITE);
    }
    ~Open() { fake_.protect(PROT_NONE); }

   private:
    std::lock_guard<std::mutex> lock_;
    FakeCuda& fake_;
  };
  void protect(int how) {
    for (const auto& [address, bytes] : memory_) mprotect(pointer(address), bytes, how);
  }

  int take(uint64_t* to, size_t bytes) {
    const std::lock_guard lock(mutex_);
    if (fail_allocations_from >= 0 && bytes >= static_cast<size_t>(fail_allocations_from))
      return kOutOfMemory;
    const size_t size = (bytes + 4095) / 4096 * 4096;
    void* pages = mmap(nullptr, size, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
    if (pages == MAP_FAILED) return kOutOfMemory;
    std::memset(pages, 0xcd, size);  // nothing counts on zeros
    mprotect(pages, size, PROT_NONE);
    *to = reinterpret_cast<uint64_t>(pages);
    memory_[*to] = size;
    return kSuccess;
  }
  void give(uint64_t address) {
    const std::lock_guard lock(mutex_);
    const auto found = memory_.find(address);
    if (found == memory_.end()) std::abort();
    munmap(pointer(address), found->second);
    memory_.erase(found);
  }
  bool is_pinned(const void* from) {
    const std::lock_guard lock(mutex_);
    const auto address = reinterpret_cast<uint64_t>(from);
    const auto after = pinned_.upper_bound(address);
    if (after == pinned_.begin()) return false;
    const auto& [begin, bytes] = *std::prev(after);
    return address < begin + bytes;
  }

  static void run_next(Stream& stream) {
    const Work work = std::move(stream.queue.front());
    stream.queue.pop_front();
    work();
    ++get().clock_;
  }
  static void run_all(Stream& stream) {
    while (!stream.queue.empty()) run_next(stream);
  }

  // A real kernel could not use anything but device memory.
  void check_arguments(void* const* buffers, int64_t count, int64_t grid) {
    bool good = grid >= 0 && grid < int64_t{1} << 40;
    for (int64_t i = 0; i < count && good; ++i) {
      const auto address = reinterpret_cast<uint64_t>(buffers[i]);
      const auto after = memory_.upper_bound(address);
      good =
          buffers[i] == nullptr || (after != memory_.begin() &&
                                    address <= std::prev(after)->first + std::prev(after)->second);
    }
    if (good) return;
    std::fputs("a kernel was given memory of the host, or nonsense\n", stderr);
    std::abort();
  }

  void run_kernel(const FakeCubin& cubin, uint64_t arguments, unsigned blocks) {
    const Open open(*this);
    auto* words = reinterpret_cast<uint64_t*>(arguments);
    auto* fault = reinterpret_cast<int64_t*>(words[kFaultWord]);
    const auto grid = static_cast<int64_t>(words[kGridWord]);
    auto* const* buffers = reinterpret_cast<void* const*>(words + kFirstBufferWord);
    check_arguments(buffers, cubin.buffers, grid);
    const auto* dims = reinterpret_cast<const int64_t*>(words + kFirstBufferWord + cubin.buffers);
    for (int64_t block = 0; block < blocks; ++block) {
      auto* scratch = reinterpret_cast<std::byte*>(words[kScratchWord]) +
                      block * static_cast<int64_t>(words[kScratchBytesWord]);
      for (int64_t item = block; item < grid; item += blocks) {
        int64_t found[program::kFaultWords] = {};
        cpu::call_kernel(cubin.function, buffers, dims, scratch, item, item + 1, found);
        if (found[0] == 0 || fault[0] != 0) continue;
        std::copy_n(found, program::kFaultWords, fault);
        fault[program::kFaultWords] = static_cast<int64_t>(words[kStepWord]);
      }
    }
  }

  static Driver make_driver();

  std::atomic<int64_t> clock_ = 0;
  std::mutex mutex_;
  std::map<uint64_t, size_t> memory_, pinned_;
};

inline Driver FakeCuda::make_driver() {
  Driver d;
  d.error_name = [](int, const char** text) { return *text = "FAKE_ERROR", kSuccess; };
  d.error_text = [](int, const char** text) { return *text = "a fake error", kSuccess; };
  d.init = [](unsigned) { return kSuccess; };
  d.device_count = [](int* count) { return *count = 1, kSuccess; };
  d.device_get = [](int* device, int) { return *device = 0, kSuccess; };
  d.device_name = [](char* name, int, int) { return std::strcpy(name, "Fake"), kSuccess; };
  d.device_memory = [](size_t* bytes, int) { return *bytes = size_t{1} << 30, kSuccess; };
  d.device_attribute = [](int* value, int attribute, int) {
    const std::map<int, int> values = {
        {16, 2}, {75, get().capability_major}, {76, 0}, {97, 1 << 17}, {115, get().memory_pools}};
    return *value = values.at(attribute), kSuccess;
  };
  d.context_retain = [](void** context, int) { return *context = &get(), kSuccess; };
  d.context_release = [](int) { return kSuccess; };
  d.context_push = [](void*) { return kSuccess; };
  d.context_pop = [](void**) { return kSuccess; };
  d.stream_create = [](void** stream, unsigned) { return *stream = new Stream, kSuccess; };
  d.stream_destroy = [](void* stream) { return delete &stream_of(stream), kSuccess; };
  d.stream_synchronize = [](void* stream) {
    ++get().stream_waits;
    return run_all(stream_of(stream)), kSuccess;
  };
  d.event_create = [](void** event, unsigned) {
    return *event = new EventHandle(std::make_shared<Event>()), kSuccess;
  };
  d.event_destroy = [](void* event) { return delete &event_of(event), kSuccess; };
  d.event_record = [](void* event, void* stream) {
    EventHandle& recorded = event_of(event);
    recorded->stream = &stream_of(stream);
    stream_of(stream).add([recorded, number = ++recorded->recorded] {
      recorded->reached = number;
      recorded->time = get().clock_;
    });
    return kSuccess;
  };
  d.event_query = [](void* event) { return event_of(event)->is_reached() ? kSuccess : 600; };
  d.event_synchronize = [](void* event) {
    ++get().event_waits;
    while (!event_of(event)->is_reached()) run_next(*event_of(event)->stream);
    return kSuccess;
  };
  d.event_elapsed = [](float* milliseconds, void* begin, void* end) {
    *milliseconds = static_cast<float>(event_of(end)->time - event_of(begin)->time);
    return kSuccess;
  };
  d.capture_begin = [](void* stream, int) {
    stream_of(stream).recording = new std::vector<Work>;
    return kSuccess;
  };
  d.capture_end = [](void* stream, void** graph) {
    ++get().recordings;
    *graph = std::exchange(stream_of(stream).recording, nullptr);
    return kSuccess;
  };
  d.graph_instantiate = [](void** executable, void* graph, unsigned long long) {
    *executable = new std::vector<Work>(*static_cast<std::vector<Work>*>(graph));
    return kSuccess;
  };
  d.graph_launch = [](void* executable, void* stream) {
    ++get().replays;
    for (const Work& work : *static_cast<std::vector<Work>*>(executable))
      stream_of(stream).add(work);
    return kSuccess;
  };
  d.graph_destroy = [](void* graph) {
    return delete static_cast<std::vector<Work>*>(graph), kSuccess;
  };
  d.graph_exec_destroy = d.graph_destroy;
  d.allocate = [](uint64_t* to, size_t bytes) { return get().take(to, bytes); };
  d.free = [](uint64_t address) { return get().give(address), kSuccess; };
  d.allocate_async = [](uint64_t* to, size_t bytes, void*) { return get().take(to, bytes); };
  d.free_async = [](uint64_t address, void* stream) {
    stream_of(stream).add([=] { get().give(address); });
    return kSuccess;
  };
  d.host_allocate = [](void** to, size_t bytes, unsigned) {
    ++get().pinned_allocations;
    *to = std::malloc(bytes);
    const std::lock_guard lock(get().mutex_);
    get().pinned_[reinterpret_cast<uint64_t>(*to)] = bytes;
    return kSuccess;
  };
  d.host_free = [](void* address) {
    const std::lock_guard lock(get().mutex_);
    get().pinned_.erase(reinterpret_cast<uint64_t>(address));
    return std::free(address), kSuccess;
  };
  d.copy_to_device = [](uint64_t to, const void* from, size_t bytes, void* stream) {
    ++get().sends;
    const auto copy = [=](const void* source) {
      const Open open(get());
      std::memcpy(pointer(to), source, bytes);
    };
    if (get().is_pinned(from)) {
      stream_of(stream).add([=] { copy(from); });
    } else {  // read before the call returns
      const auto* first = static_cast<const std::byte*>(from);
      stream_of(stream).add(
          [=, held = std::vector<std::byte>(first, first + bytes)] { copy(held.data()); });
    }
    return kSuccess;
  };
  d.copy_to_host = [](void* to, uint64_t from, size_t bytes, void* stream) {
    ++get().receives;
    stream_of(stream).add([=] {
      const Open open(get());
      std::memcpy(to, pointer(from), bytes);
    });
    if (!get().is_pinned(to)) run_all(stream_of(stream));
    return kSuccess;
  };
  d.copy_within = [](uint64_t to, uint64_t from, size_t bytes, void* stream) {
    stream_of(stream).add([=] {
      const Open open(get());
      std::memcpy(pointer(to), pointer(from), bytes);
    });
    return kSuccess;
  };
  d.fill = [](uint64_t to, unsigned char value, size_t bytes, void* stream) {
    stream_of(stream).add([=] {
      const Open open(get());
      std::memset(pointer(to), value, bytes);
    });
    return kSuccess;
  };
  d.module_load = [](void** module, const void* image) {
    ++get().modules;
    auto* kernel = new Kernel;
    std::memcpy(&kernel->cubin, image, sizeof(FakeCubin));
    return *module = kernel, kSuccess;
  };
  d.module_unload = [](void* module) { return delete static_cast<Kernel*>(module), kSuccess; };
  d.module_function = [](void** function, void* module, const char* name) {
    return *function = module, std::strcmp(name, kKernelName) == 0 ? kSuccess : 500;
  };
  d.function_set = [](void*, int, int) { return kSuccess; };
  d.launch = [](void* function, unsigned blocks, unsigned, unsigned, unsigned, unsigned, unsigned,
                unsigned, void* stream, void** parameters, void**) {
    ++get().launches;
    get().most_blocks = std::max<int64_t>(get().most_blocks, blocks);  // of one thread at a time
    const FakeCubin cubin = static_cast<Kernel*>(function)->cubin;
    const uint64_t arguments = *static_cast<const uint64_t*>(parameters[0]);
    stream_of(stream).add([=] { get().run_kernel(cubin, arguments, blocks); });
    return kSuccess;
  };
  return d;
}

// The program with the kernels of a CPU, as one for the fake GPU. `functions`: one per code; empty:
// the code is mapped, for good.
inline std::shared_ptr<const program::Program> for_fake_cuda(
    const program::Program& source, std::span<const program::KernelFunction> functions = {}) {
  auto program = std::make_shared<program::Program>(source);
  program->device = program::DeviceKind::Cuda;
  program->cuda_arch = 90;
  static auto& mapped = *new std::vector<cpu::ExecutableCode>;
  std::vector<int64_t> buffers(source.code.size(), 0);
  for (const auto* steps : {&source.prologue, &source.steps}) {
    for (const program::Step& step : *steps)
      buffers[static_cast<size_t>(step.code)] = static_cast<int64_t>(step.buffers.size());
  }
  for (size_t i = 0; i < source.code.size(); ++i) {
    FakeCubin cubin{nullptr, buffers[i]};
    if (functions.empty()) {
      mapped.push_back(cpu::ExecutableCode::map(*source.code[i]).take());
      cubin.function = mapped.back().function();
    } else {
      cubin.function = functions[i];
    }
    program::Code code{.name = source.code[i]->name, .bytes = {}, .digest = {}, .threads = 128};
    code.bytes.resize(sizeof(cubin));
    std::memcpy(code.bytes.data(), &cubin, sizeof(cubin));
    code.digest = program::code_digest(code.bytes);
    program->code[i] = std::make_shared<const program::Code>(std::move(code));
  }
  for (program::HostStep& step : program->host_steps) {
    for (auto& body : step.bodies) body = for_fake_cuda(*body);
  }
  return program;
}

}  // namespace tenon::runtime::cuda
