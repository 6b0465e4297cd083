// Operands that are made ready by a kernel of their own before the one that reads them.
#pragma once

#include <string>
#include <vector>

#include "kernel/kernel.h"

namespace tenon::schedule {

// `value` at `offset` for each iteration of the loops.
struct Pack {
  std::string name;
  kernel::ExprRef value;
  std::vector<kernel::Loop> loops;
  Dim offset, elements;
};

// A buffer in global memory, filled by a (lowered) kernel that is added to `packs`: once where the
// value comes from parameters, per run otherwise. Gives the buffer's number in `kernel`.
int add_pack(kernel::Kernel& kernel, std::vector<kernel::Kernel>& packs, const Pack& pack);

// Made of parameters and constants only.
bool is_constant(const kernel::Kernel& kernel, const kernel::ExprRef& value);

}  // namespace tenon::schedule
