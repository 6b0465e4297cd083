// What a compile is told beside the graph.
#pragma once

#include <functional>
#include <map>
#include <optional>
#include <set>
#include <string>
#include <string_view>
#include <vector>

#include "base/cpu_info.h"
#include "kernel/kernel.h"
#include "plan/plan_options.h"
#include "program/device_kind.h"
#include "program/program.h"
#include "schedule/choice.h"
#include "schedule/precision.h"
#include "tenon/dispatch.h"
#include "tenon/fusion_options.h"
#include "tenon/optimizer.h"
#include "tenon/precision.h"

namespace tenon::driver {

class Backend;

// The kernels that every run of a program needs, as they were lowered: each once, and not those of
// bodies, which are programs of their own. The program has no code, and is not planned.
struct LoweredKernels {
  const program::Program& program;
  const Backend& backend;
  const std::vector<kernel::Kernel>& kernels;
};

struct Options {
  std::string name = "graph";                                // as logs and dumps call it
  program::DeviceKind device = program::DeviceKind::Cpu;     // what to generate code for
  schedule::Precision precision = schedule::Precision::F32;  // of contractions; others: GPUs only
  PrecisionOptions precision_policy;                         // of values that are declared f32
  int cuda_arch = 0;                                         // of a GPU: 80 or 90
  CpuInfo cpu;                                               // of a CPU
  std::string codegen;                // what generates it: llvm or c; empty: TENON_CODEGEN, or llvm
  std::optional<plan::Options> plan;  // of memory; absent: as TENON_MEMORY_PLANNER says
  std::optional<OptStrategy> optimizer;       // of kernels; absent: as TENON_OPTIMIZER says
  std::optional<FusionLimits> fusion_limits;  // of what one kernel computes; absent: the target's
  bool assert_fusion_clean = false;           // a known pattern that stays written out is an error
  std::vector<std::string> skip;              // passes not to run, by name
  std::optional<DispatchOptions> dispatch;    // absent: as the environment says
  // What the backend may take as it is; absent: all that it has kernels for.
  std::optional<std::set<std::string>> supported_ops;
  std::map<std::string, int> bucket_axes;  // marked ones of inputs: see graph/active_extent.h
  bool bucket_axes_guessed = false;        // none of these is marked
  std::set<std::string> outer_symbols;     // of a body: those that have values around it
  bool keep_kernels = false;               // in what is compiled, so that they can be specialized
  // Asked once for each plan, where set: what the schedules of these kernels decide otherwise than
  // the model, one choice for each. OptStrategy::Beam needs it.
  std::function<std::vector<schedule::Choice>(const LoweredKernels&)> choose = {};
  // Called with the name of each stage and the text of what it made, where set (TENON_DUMP, `tenon
  // show`). Stages of the first body, a branch or a loop, are named "body0/simplify".
  std::function<void(std::string_view pass, const std::string& text)> dump;
  // Called with each kernel as it is compiled, those of bodies too.
  std::function<void(const kernel::Kernel& kernel)> see_kernel;
};

}  // namespace tenon::driver
