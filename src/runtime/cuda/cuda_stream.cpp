// See cuda_stream.h.
#include "runtime/cuda/cuda_stream.h"

#include <algorithm>

#include "program/cuda_arch.h"
#include "runtime/cuda/argument_block.h"
#include "runtime/cuda/module.h"
#include "runtime/cuda/step_runner.h"

namespace tenon::runtime::cuda {
namespace {

constexpr unsigned kNonBlocking = 1;  // of cuStreamCreate
constexpr size_t kFaultBytes = kFaultWordsOnDevice * sizeof(int64_t);
constexpr int64_t kGranularity = 256;

}  // namespace

Result<std::shared_ptr<CudaStream>> CudaStream::open(std::shared_ptr<Gpu> gpu,
                                                     const StreamOptions& options) {
  std::shared_ptr<CudaStream> stream(new CudaStream(std::move(gpu), options));
  if (Status status = stream->create(); !status.ok()) return status.error();
  return stream;
}

Status CudaStream::create() {
  const Driver& driver = gpu_->driver();
  const Current current(*gpu_);
  if (Status status = check(driver.stream_create(&stream_, kNonBlocking), "cuStreamCreate");
      !status.ok())
    return status;
  if (Status status = check(driver.allocate(&fault_words_, kFaultBytes), "cuMemAlloc");
      !status.ok())
    return status;
  void* copy = nullptr;
  if (Status status = check(driver.host_allocate(&copy, kFaultBytes, 0), "cuMemHostAlloc");
      !status.ok())
    return status;
  fault_copy_ = static_cast<int64_t*>(copy);
  return check(driver.fill(fault_words_, 0, kFaultBytes, stream_), "cuMemsetD8Async");
}

CudaStream::~CudaStream() {
  const Driver& driver = gpu_->driver();
  const Current current(*gpu_);
  if (stream_) driver.stream_synchronize(stream_);
  if (fault_copy_) driver.host_free(fault_copy_);
  if (fault_words_) driver.free(fault_words_);
  if (stream_) driver.stream_destroy(stream_);
}

Result<Allocation> CudaStream::allocate(int64_t bytes, const char* purpose) {
  if (!gpu_->has_memory_pools()) return gpu_->allocate(bytes, purpose);
  const Current current(*gpu_);
  uint64_t pointer = 0;
  const int64_t size = (bytes + kGranularity - 1) / kGranularity * kGranularity;
  const int result = gpu_->driver().allocate_async(&pointer, static_cast<size_t>(size), stream_);
  return allocated(gpu_->driver(), result, pointer, size, purpose);
}

// cuMemFree waits for what may use the memory; cuMemFreeAsync comes after it.
void CudaStream::release(const Allocation& allocation) noexcept {
  if (!gpu_->has_memory_pools()) return gpu_->release(allocation);
  const Current current(*gpu_);
  gpu_->driver().free_async(address_of(allocation.data), stream_);
}

Result<std::shared_ptr<const LoadedCode>> CudaStream::load(const program::Program& program) {
  if (program.device != program::DeviceKind::Cuda) {
    return user_error("[run] the program was compiled for {}, not for a GPU",
                      program::name_of(program.device));
  }
  const int here = gpu_->arch(), wanted = program.cuda_arch;
  if (!program::cubin_runs_on(wanted, here)) {
    return user_error(
        "[run] the program was compiled for compute capability {}.{}, this GPU has {}.{}",
        wanted / 10, wanted % 10, here / 10, here % 10);
  }
  auto modules = Modules::load(*gpu_, program);
  if (!modules) return modules.error();
  return std::shared_ptr<const LoadedCode>(std::move(modules.value()));
}

Result<std::unique_ptr<StepRunner>> CudaStream::prepare(StepList steps,
                                                        std::shared_ptr<const LoadedCode> code) {
  auto modules = std::static_pointer_cast<const Modules>(std::move(code));
  return std::unique_ptr<StepRunner>(
      std::make_unique<CudaStepRunner>(std::move(steps), std::move(modules), *this));
}

Status CudaStream::copy_in(void* to, const void* from, int64_t bytes) {
  for (int64_t done = 0; done < bytes;) {
    const auto part = staging_.take(bytes - done, stream_);
    if (!part) return part.error();
    const size_t size = part.value().size();
    staging_.copy(part.value().data(), static_cast<const std::byte*>(from) + done,
                  static_cast<int64_t>(size));
    busy_ = true;
    const Status status = noted(DevicePart::CopyIn, [&] {
      const uint64_t target = address_of(to) + static_cast<uint64_t>(done);
      return check(gpu_->driver().copy_to_device(target, part.value().data(), size, stream_),
                   "cuMemcpyHtoDAsync");
    });
    if (!status.ok()) return status;
    done += static_cast<int64_t>(size);
  }
  return {};
}

Status CudaStream::copy_out(void* to, const void* from, int64_t bytes) {
  return receive({.memory = static_cast<std::byte*>(to)}, from, bytes);
}

Status CudaStream::append_out(std::vector<std::byte>& to, const void* from, int64_t bytes) {
  return receive({.appended_to = &to}, from, bytes);
}

Status CudaStream::receive(Destination to, const void* from, int64_t bytes) {
  for (int64_t done = 0; done < bytes;) {
    const auto part = staging_.take(bytes - done, stream_);
    if (!part) return part.error();
    const size_t size = part.value().size();
    busy_ = true;
    const Status status = noted(DevicePart::CopyOut, [&] {
      const uint64_t source = address_of(from) + static_cast<uint64_t>(done);
      return check(gpu_->driver().copy_to_host(part.value().data(), source, size, stream_),
                   "cuMemcpyDtoHAsync");
    });
    if (!status.ok()) return status;
    staging_.expect(part.value(), to);
    if (to.memory) to.memory += size;
    done += static_cast<int64_t>(size);
  }
  return {};
}

Status CudaStream::copy_within(void* to, const void* from, int64_t bytes) {
  if (bytes <= 0 || to == from) return {};
  const Current current(*gpu_);
  busy_ = true;
  return check(gpu_->driver().copy_within(address_of(to), address_of(from),
                                          static_cast<size_t>(bytes), stream_),
               "cuMemcpyDtoDAsync");
}

Status CudaStream::synchronize() {
  if (!busy_) return {};
  const Driver& driver = gpu_->driver();
  const Current current(*gpu_);
  const bool launched = launched_;
  launched_ = busy_ = false;
  Status status;
  if (launched) {
    status = check(driver.copy_to_host(fault_copy_, fault_words_, kFaultBytes, stream_),
                   "cuMemcpyDtoHAsync");
  }
  if (status.ok()) status = staging_.hand_on();
  if (status.ok()) status = check(driver.stream_synchronize(stream_), "cuStreamSynchronize");
  status.ok() ? staging_.finish() : staging_.forget();
  if (!status.ok()) return status;
  return launched && fault_copy_[0] != 0 ? take_fault() : Status();
}

Result<std::unique_ptr<Moment>> CudaStream::moment() {
  auto event = Event::make(*gpu_, Event::Clock::Timed);
  if (!event) return event.error();
  if (Status status = event.value().record(stream_); !status.ok()) return status.error();
  return std::unique_ptr<Moment>(std::make_unique<EventMoment>(std::move(event.value())));
}

Status CudaStream::noted(DevicePart part, FunctionRef<Status()> work) {
  const Current current(*gpu_);
  if (!timeline_) return work();
  auto begin = moment();
  if (!begin) return begin.error();
  if (Status status = work(); !status.ok()) return status;
  auto end = moment();
  if (!end) return end.error();
  timeline_->add(part, std::move(begin.value()), std::move(end.value()));
  return {};
}

Status CudaStream::take_fault() {
  const std::span<const int64_t> words(fault_copy_, kFaultWordsOnDevice);
  const int result = gpu_->driver().fill(fault_words_, 0, kFaultBytes, stream_);
  if (Status status = check(result, "cuMemsetD8Async"); !status.ok()) return status;
  const int64_t number = words[program::kFaultWords];
  for (const Enlisted& list : enlisted_) {
    const int64_t index = number - list.first;
    if (index >= 0 && index < list.steps->size())
      return list.steps->fault(static_cast<int>(index), words);
  }
  return internal_error("[cuda] a fault of step {}, which nobody knows", number);
}

int64_t CudaStream::enlist(const StepList& steps) {
  enlisted_.push_back({next_number_, &steps});
  next_number_ += steps.size();
  return enlisted_.back().first;
}

void CudaStream::strike(const StepList& steps) noexcept {
  std::erase_if(enlisted_, [&](const Enlisted& list) { return list.steps == &steps; });
}

}  // namespace tenon::runtime::cuda
