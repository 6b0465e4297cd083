// Machine code of a kernel, mapped and run in this process. Arguments end where a page without
// access begins, so that touching what lies behind them is a crash and not luck.
#pragma once

#include <sys/mman.h>
#include <unistd.h>

#include <algorithm>
#include <cstring>
#include <memory>
#include <vector>

#include "base/cpu_info.h"
#include "base/error.h"
#include "codegen/generator.h"
#include "runtime/cpu/call_kernel.h"
#include "runtime/cpu/executable_code.h"
#include "tests/schedule/run_kernel.h"

namespace tenon::kernel_test {

struct NamedIsa {
  std::string name;
  codegen::Isa isa;
  CpuIsa needs;
  schedule::Target target;
};
inline std::vector<NamedIsa> isas() {
  return {{"Avx2", codegen::Isa::Avx2, CpuIsa::Avx2, targets()[0].target},
          {"Avx512", codegen::Isa::Avx512, CpuIsa::Avx512, targets()[1].target}};
}

// Every generator for every instruction set: they all give the same bits.
struct Way : NamedIsa {
  const codegen::Generator* generator;
};
inline std::vector<Way> ways() {
  std::vector<Way> result;
  for (const codegen::Generator& generator : codegen::generators()) {
    for (const NamedIsa& isa : isas()) {
      result.push_back({isa, &generator});
      result.back().name += fmt::format(" by {}", generator.name);
    }
  }
  return result;
}

// Code is generated for every instruction set everywhere; it runs where the machine has it.
inline bool runs_here(const NamedIsa& isa) { return detect_cpu(std::nullopt).isa >= isa.needs; }

// A copy of `bytes` that ends at a page without access, or, `aligned`, less than 64 bytes before.
class GuardedCopy {
 public:
  GuardedCopy(const void* bytes, size_t size, bool aligned) : size_(size) {
    const auto page = static_cast<size_t>(sysconf(_SC_PAGESIZE));
    const size_t room = aligned ? (size + 63) / 64 * 64 : size;
    mapped_ = (room + page - 1) / page * page + page;
    base_ = static_cast<std::byte*>(
        mmap(nullptr, mapped_, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0));
    TENON_CHECK(base_ != MAP_FAILED, "mmap of {} bytes", mapped_);
    mprotect(base_ + mapped_ - page, page, PROT_NONE);
    data_ = base_ + mapped_ - page - room;
    if (bytes && size > 0) std::memcpy(data_, bytes, size);
  }
  ~GuardedCopy() { munmap(base_, mapped_); }
  GuardedCopy(const GuardedCopy&) = delete;
  GuardedCopy& operator=(const GuardedCopy&) = delete;

  std::byte* data() const { return data_; }
  size_t size() const { return size_; }

 private:
  std::byte *base_, *data_;
  size_t size_, mapped_;
};

class CompiledKernel {
 public:
  CompiledKernel(const kernel::Kernel& kernel, const Way& way)
      : code_(runtime::cpu::ExecutableCode::map(*way.generator->generate(kernel, way.isa)).take()) {
  }

  // Work items in pieces and from the last to the first: they are independent. `buffers` has one
  // pointer per buffer of the kernel.
  void run(const kernel::Kernel& kernel, const std::vector<void*>& buffers, const Extents& extents,
           int64_t* fault) const {
    std::vector<std::unique_ptr<GuardedCopy>> copies;
    std::vector<void*> arguments;
    for (size_t i = 0; i < buffers.size(); ++i) {
      const kernel::Buffer& buffer = kernel.buffers[i];
      if (buffer.storage != kernel::Storage::Global) continue;
      const bool packed = buffer.source == kernel::Source::Packed;  // memory of ours: aligned
      copies.push_back(
          std::make_unique<GuardedCopy>(buffers[i], byte_count(buffer, extents), packed));
      arguments.push_back(copies.back()->data());
    }
    const std::vector<int64_t> dims = dim_values(kernel, extents);
    const auto scratch_bytes = static_cast<size_t>(evaluate(kernel.scratch_bytes(), extents));
    const int64_t grid = evaluate(kernel.grid(), extents);
    for (int64_t end = grid, piece = 1; end > 0; end -= piece, piece = piece % 3 + 1) {
      const GuardedCopy scratch(nullptr, scratch_bytes, true);
      std::memset(scratch.data(), 0xff, scratch_bytes);
      runtime::cpu::call_kernel(code_.function(), arguments.data(), dims.data(), scratch.data(),
                                std::max<int64_t>(end - piece, 0), end, fault);
    }
    for (size_t i = 0, at = 0; i < buffers.size(); ++i) {
      if (kernel.buffers[i].storage != kernel::Storage::Global) continue;
      const GuardedCopy& copy = *copies[at++];
      if (copy.size() > 0) std::memcpy(buffers[i], copy.data(), copy.size());
    }
  }

 private:
  runtime::cpu::ExecutableCode code_;
};

// Every kernel of a schedule, compiled once: what run_scheduled calls.
class CompiledSchedule {
 public:
  // By the default generator.
  CompiledSchedule(const schedule::Scheduled& scheduled, codegen::Isa isa)
      : CompiledSchedule(scheduled, Way{{"", isa, CpuIsa::Avx2, {}}, &codegen::generators()[0]}) {}
  CompiledSchedule(const schedule::Scheduled& scheduled, const Way& way) {
    for (const kernel::Kernel& pack : scheduled.packs)
      kernels_.emplace(&pack, CompiledKernel(pack, way));
    kernels_.emplace(&scheduled.kernel, CompiledKernel(scheduled.kernel, way));
  }
  Runner runner() const {
    return [this](const kernel::Kernel& kernel, const std::vector<void*>& buffers,
                  const Extents& extents,
                  int64_t* fault) { kernels_.at(&kernel).run(kernel, buffers, extents, fault); };
  }

 private:
  std::map<const kernel::Kernel*, CompiledKernel> kernels_;
};

}  // namespace tenon::kernel_test
