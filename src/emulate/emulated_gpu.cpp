// See emulated_gpu.h.
#include "emulate/emulated_gpu.h"

#include <array>
#include <cstring>
#include <string_view>
#include <vector>

#include "kernel/kernel.h"

namespace tenon::emulate {
namespace {

using runtime::Allocation;
using runtime::LoadedCode;
using runtime::Memory;
using runtime::StepList;
using runtime::StepRunner;

class Kernels : public LoadedCode {
 public:
  explicit Kernels(const program::Program& program) {
    for (const auto& code : program.code) {
      kernels.push_back(
          kernel::parse({reinterpret_cast<const char*>(code->bytes.data()), code->bytes.size()}));
    }
  }
  std::vector<kernel::Kernel> kernels;
};

class Runner : public StepRunner {
 public:
  Runner(StepList steps, std::shared_ptr<const Kernels> kernels)
      : StepRunner(std::move(steps)), kernels_(std::move(kernels)) {}

  Status resolve(std::span<const int64_t> variables, int) override {
    return steps_.resolve(variables);
  }
  int64_t scratch_bytes() const override { return 0; }  // the interpreter has its own
  Status run(std::byte*, const std::stop_token& stop) override {
    for (int i = 0; i < steps_.size(); ++i) {
      was_stopped_ = stop.stop_requested();
      if (was_stopped_) return user_error("[run] cancelled");
      if (Status status = run_step(i); !status.ok()) return status;
    }
    return {};
  }

 private:
  Status run_step(int index) {
    const kernel::Kernel& kernel = kernels_->kernels[static_cast<size_t>(steps_.step(index).code)];
    std::vector<void*> buffers;
    size_t argument = 0;
    for (const kernel::Buffer& buffer : kernel.buffers) {
      const bool global = buffer.storage == kernel::Storage::Global;
      buffers.push_back(global ? steps_.pointers(index)[argument++] : nullptr);
    }
    std::array<int64_t, program::kFaultWords> fault{};
    try {
      kernel::interpret(kernel, buffers, steps_.dims(index), fault.data());
    } catch (const Error& error) {
      return error;
    }
    return fault[0] == 0 ? Status() : Status(steps_.fault(index, fault));
  }

  std::shared_ptr<const Kernels> kernels_;
};

class EmulatedGpu : public runtime::DeviceStream {
 public:
  Result<Allocation> allocate(int64_t bytes, const char* purpose) override {
    return runtime::host_memory().allocate(bytes, purpose);
  }
  void release(const Allocation& allocation) noexcept override {
    runtime::host_memory().release(allocation);
  }
  bool shares_host_memory() const override { return false; }
  int max_threads() const override { return 1; }
  std::shared_ptr<Memory> lasting_memory() override {
    return {std::shared_ptr<void>(), &runtime::host_memory()};  // owned by nobody
  }

  Result<std::shared_ptr<const LoadedCode>> load(const program::Program& program) override {
    if (program.device != program::DeviceKind::EmulatedGpu) {
      return user_error("[run] the program was compiled for {}, not for an emulated GPU",
                        program::name_of(program.device));
    }
    try {
      return std::shared_ptr<const LoadedCode>(std::make_shared<Kernels>(program));
    } catch (const Error& error) {
      return error;
    }
  }
  Result<std::unique_ptr<StepRunner>> prepare(StepList steps,
                                              std::shared_ptr<const LoadedCode> code) override {
    return std::unique_ptr<StepRunner>(std::make_unique<Runner>(
        std::move(steps), std::static_pointer_cast<const Kernels>(std::move(code))));
  }

  Status copy_in(void* to, const void* from, int64_t bytes) override {
    return copy_within(to, from, bytes);
  }
  Status copy_out(void* to, const void* from, int64_t bytes) override {
    return copy_within(to, from, bytes);
  }
  Status copy_within(void* to, const void* from, int64_t bytes) override {
    if (bytes > 0) std::memcpy(to, from, static_cast<size_t>(bytes));
    return {};
  }
  Status synchronize() override { return {}; }
};

}  // namespace

std::shared_ptr<runtime::DeviceStream> open_emulated_gpu() {
  return std::make_shared<EmulatedGpu>();
}

}  // namespace tenon::emulate
