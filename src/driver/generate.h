// From scheduled kernels to code: in parallel, each kernel once, and none that the process has
// compiled before.
#pragma once

#include <memory>
#include <string>
#include <vector>

#include "driver/backend.h"
#include "kernel/kernel.h"
#include "program/program.h"

namespace tenon::driver {

struct UniqueKernel {
  kernel::Kernel kernel;
  std::string text;  // canonical: equal for kernels that are equal but for names
};

struct Generated {
  std::vector<std::shared_ptr<const program::Code>> code;  // of each kernel, in their order
  int compiled = 0;  // of them; the others were in the kernel cache
};

// One that is found in the kernel cache, or made for it: then `compiled` is set.
std::shared_ptr<const program::Code> generate(const UniqueKernel& kernel, const Backend& backend,
                                              bool& compiled);
// The first failure is thrown when all are done.
Generated generate(const std::vector<UniqueKernel>& kernels, const Backend& backend);

}  // namespace tenon::driver
