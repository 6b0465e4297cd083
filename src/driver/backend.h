// What differs from device to device in compiling: how a lowered kernel is scheduled, and how a
// scheduled one becomes code. Everything else of the compiler is the same for all.
#pragma once

#include <memory>
#include <string>

#include "driver/options.h"
#include "graph/node.h"
#include "kernel/kernel.h"
#include "program/program.h"
#include "schedule/schedule.h"

namespace tenon::driver {

class Backend {
 public:
  virtual ~Backend() = default;

  virtual std::string name() const = 0;  // as messages call it
  // Whether it has a kernel for the node; others become primitives.
  virtual bool claims(const graph::Node&) const { return true; }
  // How much one kernel computes, where the options do not say.
  virtual FusionLimits fusion_limits() const = 0;
  // Whether its convolutions are fastest where channels lie innermost.
  virtual bool keeps_channels_last() const { return false; }
  // By the model, but for what the choice says and the device has a choice of.
  virtual schedule::Scheduled schedule(const kernel::Kernel& lowered,
                                       const schedule::Choice& choice) const = 0;
  // Called from several threads at once.
  virtual std::shared_ptr<const program::Code> generate(const kernel::Kernel& kernel) const = 0;
  virtual std::string source(const kernel::Kernel& kernel) const = 0;  // as text, for people
  // What decides, together with a kernel's text, the code that generate makes of it.
  virtual std::string key() const = 0;
  // Says in the program what it is for.
  virtual void describe(program::Program& program) const = 0;
};

// By Options::device. Unsupported where the options name something that no code can be made for.
std::unique_ptr<Backend> make_backend(const Options& options);

// What the options say; else the environment.
OptStrategy cpu_strategy(const Options& options);
// GPUs have no schedules but those of the analytic model: Unsupported where others are asked for.
void check_gpu_strategy(const Options& options);

// What GPUs claim. A tile of theirs has one contraction: a gated linear is two linears there.
bool has_gpu_kernel(const graph::Node& node);
// A thread has 255 registers, and an address takes two: those of 64 tensors leave half for values.
// Steps are as for CPUs.
inline constexpr FusionLimits kGpuFusionLimits = {.max_steps = 128, .max_inputs = 64};

#define DEVICE(kind, name, backend, family) \
  std::unique_ptr<Backend> backend(const Options& options);
#include "program/devices.def"
#undef DEVICE

}  // namespace tenon::driver
