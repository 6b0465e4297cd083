// CompiledGraph: a compiled model, and everything about running it.
#pragma once

#include <cstdint>
#include <map>
#include <memory>
#include <stop_token>
#include <string>
#include <vector>

#include "tenon/device.h"
#include "tenon/error.h"
#include "tenon/tensor.h"

namespace tenon {

struct CompileStats {
  double milliseconds = 0;
  int kernels = 0;           // compiled: structurally equal ones once
  int steps = 0;             // of a run
  int64_t weight_bytes = 0;  // parameters as given
  int64_t packed_bytes = 0;  // weights made ready for the kernels
};

struct TensorInfo {
  std::string name;
  DType dtype{};
  std::vector<std::string> shape;  // "batch", "seq", "384"
};

// A symbol of the inputs' shapes and the extents it may take.
struct DimInfo {
  std::string name;
  int64_t least = 1, most = 1;
};

// Memory that a run takes: an input, an output, or the arena of what lies between.
struct MemoryUse {
  std::string what;  // `input "input_ids"`
  int64_t bytes = 0;
};

// How one run goes.
struct RunOptions {
  // Asked to stop (from any thread), the run ends with Cancelled at the next piece of work, some
  // hundred microseconds at most where work can be cut that fine.
  std::stop_token stop = {};
  // The most bytes the run may take between its steps: arena, scratch, and what the bodies of
  // branches and loops give. Inputs, outputs and weights are apart. 0: no limit.
  int64_t memory_limit = 0;
};

// A run that was asked to stop. Its outputs hold whatever was written until then.
class Cancelled : public Error {
 public:
  Cancelled() : Error(ErrorKind::User, "[run] cancelled") {}
};

// One compiled model. One thread at a time may run it; a concurrent run is an Error.
class CompiledGraph {
 public:
  ~CompiledGraph();
  CompiledGraph(CompiledGraph&&) noexcept;
  CompiledGraph& operator=(CompiledGraph&&) noexcept;

  // Extents come from the shapes of the inputs. Unknown or missing names, wrong dtypes or sizes,
  // extents outside their bounds: an Error before anything runs.
  // After an Error, Cancelled among them, the graph may be run again.
  std::vector<OwnedTensor> run(const NamedInputs& inputs, const RunOptions& options = {});
  // Writes into the caller's memory, which may overlap neither that of inputs nor that of other
  // outputs. Allocates nothing after the first run of a shape.
  void run_into(const NamedInputs& inputs, const NamedOutputs& outputs,
                const RunOptions& options = {});

  // What a run with inputs of these shapes would take; nothing runs and none of it is reserved.
  // Data is not read and may be null. Names, dtypes and shapes that run() refuses are the same
  // Error here.
  std::vector<MemoryUse> memory_of(const NamedInputs& inputs);

  // The bytes of arena and scratch that a run takes at these extents: {{"batch", 8}, {"seq", 128}},
  // one for every dim, and with the present number of threads. Models with branches or loops are
  // Unsupported: only a run knows.
  int64_t peak_bytes(const std::map<std::string, int64_t>& extents);

  void set_threads(int threads);  // at most as many as this process may use
  // Copies the value; holds from the next run on.
  void set_param(const std::string& name, const TensorView& value);

  std::vector<TensorInfo> inputs() const;
  std::vector<TensorInfo> outputs() const;
  std::vector<DimInfo> dims() const;
  Device device() const;
  int threads() const;
  const CompileStats& stats() const;
  // Multiply-adds counted twice, from the graph's shapes, at the extents of the last run (or
  // memory_of).
  double flops_of_last_run() const;
  int64_t arena_bytes() const;  // of the last run (or memory_of)

 private:
  friend class Session;
  struct Impl;
  explicit CompiledGraph(std::unique_ptr<Impl> impl);
  std::unique_ptr<Impl> impl_;
};

}  // namespace tenon
