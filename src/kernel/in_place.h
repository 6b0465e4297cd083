// Which operands of a kernel its result may overwrite while it is computed.
#pragma once

#include <utility>
#include <vector>

#include "kernel/kernel.h"

namespace tenon::kernel {

// Pairs of a written global buffer and one that is only read, as positions among the global ones.
// Every load of the operand happens in a store to the same element of the result. Since a schedule
// stores each element once, from one work item, nothing reads the operand's element later.
std::vector<std::pair<int, int>> in_place_pairs(const Kernel& scheduled);

}  // namespace tenon::kernel
