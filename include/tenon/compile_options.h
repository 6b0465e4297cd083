// CompileOptions: how a model is compiled. Whatever is left out is as the session says, then as the
// profile says, then the default. Nothing is ignored silently: options that contradict each other,
// or that a device has no use for, are Errors.
#pragma once

#include <cstdint>
#include <map>
#include <optional>
#include <set>
#include <string>
#include <utility>

#include "tenon/device.h"
#include "tenon/dim_binding.h"
#include "tenon/dispatch.h"
#include "tenon/fusion_options.h"
#include "tenon/log.h"
#include "tenon/optimizer.h"
#include "tenon/plan_options.h"
#include "tenon/precision.h"
#include "tenon/specialization.h"
#include "tenon/tuning.h"

namespace tenon {

// A preset; what the options say themselves wins over it.
enum class Profile : uint8_t {
  Latency,     // one request at a time: all threads work on it
  Throughput,  // many at a time, on clones: each runs on one thread
  Debug,       // every value has memory of its own, and the compiler logs what it does
};

using Verbosity = LogLevel;

struct CompileOptions {
  std::optional<Device> device;  // absent: the CPU. One that is not available is an Error
  // The compute capability to compile for, 90 for 9.0, where `device` is a GPU; 0: what it has.
  // Where given, the GPU need not be there: then it is the run that is an Error.
  int cuda_arch = 0;
  int threads = 0;  // 0: as many as this process may use
  std::string cpu;  // "avx2" or "avx512" caps the instruction set; empty: what the machine has (and
                    // TENON_CPU)
  // What generates machine code: "llvm", in this process, or "c", through the C compiler that
  // TENON_CC names (the same results; a process per kernel, so compiling takes longer). Empty:
  // TENON_CODEGEN, or llvm.
  std::string codegen;
  // What operands of f32 contractions (linear layers, matrix products, convolutions) may be rounded
  // to so that tensor cores multiply them: "tf32" or "bf16", on GPUs. Sums and everything else stay
  // f32. Empty or "f32": they are not rounded.
  std::string precision = {};
  // What f32 values are stored and multiplied as; absent: f32.
  std::optional<PrecisionOptions> precision_policy = {};
  // Narrows symbols of a model from a file: {"seq", {1, 512}}.
  std::map<std::string, std::pair<int64_t, int64_t>> dim_bounds = {};

  // Values for all symbols of the inputs: the model is compiled for these extents alone.
  DimBinding dim_binding = {};
  FusionOptions fusion = {};
  // Ops that the backend may run as they are, by name; all others become primitives, which are
  // claimed as well or the compile is an Error that lists them. Absent: what it has kernels for.
  std::optional<std::set<std::string>> supported_ops = {};
  // Absent: as TENON_KERNEL_DISPATCH and TENON_FORCE_COMMON say.
  std::optional<DispatchOptions> dispatch = {};
  std::optional<PlanOptions> memory = {};  // absent: as TENON_MEMORY_PLANNER says
  // How schedules of kernels are found; absent: as TENON_OPTIMIZER says, or by the analytic model.
  std::optional<OptStrategy> optimizer = {};
  // Schedules that tuning found, a file (TuningReport::save): kernels and machines that it names
  // take them, others are scheduled as the optimizer says. Empty: none.
  std::string tuned = {};
  // How OptStrategy::Beam searches; an Error where the optimizer is another one.
  std::optional<BeamConfig> beam = {};
  // Whether code for the extents that come most is made in the background, on CPUs; absent: as
  // TENON_SPECIALIZE says, by default not.
  std::optional<Specialization> specialize = {};
  std::optional<Profile> profile = {};
  // Whether what is compiled is kept on disk, and taken from there where it was compiled before: in
  // the folder that TENON_CACHE_DIR names. Absent: no. docs/disk_cache.md.
  std::optional<bool> disk_cache = {};
  std::optional<Verbosity> verbosity = {};  // of this compile; absent: as TENON_LOG says
  // What logs and dumps call the model. Empty: the name of the module, or the path of the file.
  std::string name = {};
};

// `given`, and what it leaves out from `base`. Lists are not joined: one that is given replaces the
// other.
CompileOptions merged(const CompileOptions& base, const CompileOptions& given);

}  // namespace tenon
