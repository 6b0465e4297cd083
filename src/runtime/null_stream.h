// The device that computes nothing: memory and copies are the host's, steps are resolved and not
// run. Shows what everything but the kernels costs, and checks inputs without a model's work.
#pragma once

#include "runtime/cpu/cpu_stream.h"

namespace tenon::runtime {

class NullStream : public cpu::CpuStream {
 public:
  using CpuStream::CpuStream;
  Result<std::shared_ptr<const LoadedCode>> load(const program::Program& program) override;
  Result<std::unique_ptr<StepRunner>> prepare(StepList steps,
                                              std::shared_ptr<const LoadedCode> code) override;
};

}  // namespace tenon::runtime
