// Code of a program's kernels for given extents: each as it was scheduled, its dims replaced by
// numbers, so that it computes the same in the same order.
#pragma once

#include <memory>
#include <span>
#include <vector>

#include "driver/generate.h"
#include "driver/options.h"

namespace tenon::driver {

class KernelSpecializer {
 public:
  // `kernels`: one for each of Program::code, as Compiled::scheduled or Lir::kernels.
  KernelSpecializer(std::vector<UniqueKernel> kernels, const Options& options);

  // On the calling thread alone. Null where numbers change nothing (it has no dims), or make no
  // sense in it (one is 0, or divides by 0 what is never computed). `compiled` is set where the
  // kernel cache had none.
  std::shared_ptr<const program::Code> generate(int kernel, std::span<const int64_t> dims,
                                                bool& compiled) const;

 private:
  std::vector<UniqueKernel> kernels_;
  std::shared_ptr<const Backend> backend_;
};

}  // namespace tenon::driver
