// What a session gives a compiled graph so that it can be specialized: the option, checked, and the
// compiler behind it.
#pragma once

#include <functional>
#include <memory>
#include <optional>
#include <vector>

#include "compiled/specializer.h"
#include "driver/generate.h"
#include "driver/options.h"
#include "runtime/executor.h"
#include "tenon/compile_options.h"

namespace tenon {

// As the options say, else TENON_SPECIALIZE; absent: not at all. A User error where it makes no
// sense, Unsupported where the device has no use for it.
std::optional<Specialization> specialization_of(const CompileOptions& options);

// The scheduled kernels of a program, one for each of its code; asked for when the first shape is
// specialized, in the background.
using ScheduledKernels = std::function<std::vector<driver::UniqueKernel>()>;

// For the executor, which takes its code from now on; null where nothing is to be specialized.
// `kernels`: those of the program.
std::shared_ptr<compiled::Specializer> specialize(runtime::Executor& executor,
                                                  std::shared_ptr<const program::Program> program,
                                                  ScheduledKernels kernels,
                                                  const CompileOptions& options);

}  // namespace tenon
