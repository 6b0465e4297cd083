// CompiledGraph: a compiled model, and everything about running it.
#pragma once

#include <cstdint>
#include <map>
#include <memory>
#include <optional>
#include <span>
#include <stop_token>
#include <string>
#include <vector>

#include "tenon/active_extent.h"
#include "tenon/artifact.h"
#include "tenon/device.h"
#include "tenon/dim_binding.h"
#include "tenon/dispatch.h"
#include "tenon/error.h"
#include "tenon/fusion_report.h"
#include "tenon/handle.h"
#include "tenon/param_store.h"
#include "tenon/receipt.h"
#include "tenon/specialization.h"
#include "tenon/tensor.h"

namespace tenon {

struct CompileStats {
  double milliseconds = 0;
  int kernels = 0;             // structurally equal ones once
  int kernels_from_cache = 0;  // of these: compiled before, for another graph of this process
  bool from_disk = false;      // nothing was compiled: the disk cache had all of it
  int steps = 0;               // of a run
  int64_t weight_bytes = 0;    // parameters as given
  int64_t packed_bytes = 0;    // weights made ready for the kernels
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

// Where an output of run_slots lies: bytes from CompiledGraph::arena_ptr().
struct OutputSlot {
  int64_t offset = 0;
  int64_t length = 0;
};

// One compiled model. One thread at a time may use it, a concurrent call is an Error: clone it, one
// for each thread. After an Error, Cancelled among them, it may be used as before.
//
// Inputs are given by name, with their extents: unknown or missing names, wrong dtypes or sizes,
// extents outside their bounds, parameters that were never set are Errors before anything runs.
//
// Outputs of run, run_read_outputs, run_raw and run_slots lie in memory of the graph's own until
// the next run.
class CompiledGraph {
 public:
  ~CompiledGraph();
  CompiledGraph(CompiledGraph&&) noexcept;  // what was moved from can be assigned to, and no more
  CompiledGraph& operator=(CompiledGraph&&) noexcept;

  // Another one with code and weights in common and memory of its own. Parameters, handles and
  // extents that one of them sets later, the other does not see. Both may run at the same time.
  CompiledGraph clone() const;

  // Writes code and weights, those that set_param gave among them, to a file that load opens in any
  // process, without compiling. The file is there whole or not at all.
  void save(const std::string& path, const SaveOptions& options = {}) const;
  // Likewise, one model compiled for several devices, with weights once: load takes the graph that
  // suits the machine best. Inputs, outputs and parameters that are not the same are an Error.
  static void save_all(const std::string& path, std::span<const CompiledGraph> graphs,
                       const SaveOptions& options = {});
  // A file that is damaged, of another version, or for no CPU or GPU that this machine has is an
  // Error. It is mapped: it must not be changed while the graph lives. Load no file whose origin
  // you do not trust: it contains machine code.
  static CompiledGraph load(const std::string& path, const LoadOptions& options = {});

  // The outputs as f32, whatever their dtype, in the order of outputs().
  std::vector<std::vector<float>> run(const NamedInputs& inputs, const RunOptions& options = {});
  // Those that are asked for, by index, in the order asked; nullopt: all.
  std::vector<std::vector<float>> run_read_outputs(const NamedInputs& inputs,
                                                   const std::optional<std::vector<int>>& indices,
                                                   const RunOptions& options = {});
  // The outputs in their own dtypes, with their shapes.
  std::vector<OwnedTensor> run_typed(const NamedInputs& inputs, const RunOptions& options = {});

  // These allocate nothing after the first run of a shape.
  //
  // Writes into the caller's memory, which may overlap neither that of inputs nor that of other
  // outputs.
  void run_into(const NamedInputs& inputs, const NamedOutputs& outputs,
                const RunOptions& options = {});
  // Views of the outputs, valid until the next run.
  const std::vector<TensorView>& run_raw(const NamedInputs& inputs, const RunOptions& options = {});
  // Inputs in the order of inputs(), those without a handle, dense, of exactly the bytes that
  // set_extents makes them; where each output lies, to be read at arena_ptr() until the next run.
  std::span<const OutputSlot> run_slots(std::span<const std::span<const std::byte>> inputs,
                                        const RunOptions& options = {});
  const std::byte* arena_ptr() const;

  // Begins a run and returns as soon as the inputs have been read: on a GPU before the run has
  // ended, on a CPU after it. Several may be begun; sync_pending waits for all of them and gives
  // the outputs of the last, as run_raw does. A fault that a run finds on its way is this call's
  // Error where the run has ended in it (a CPU), else that of sync_pending or whatever is called
  // instead: a call that runs, sets or copies waits first. Where nothing is under way, sync_pending
  // does nothing: the views are those of the last run, none where it failed or there was none.
  void commit_no_wait(const NamedInputs& inputs, const RunOptions& options = {});
  const std::vector<TensorView>& sync_pending();
  // A run for each set of inputs: result[set][output]. On a GPU copies of one run go on beside the
  // work of another, in memory for two. After an Error, which says in which set, there are no
  // results; runs before it have been done.
  std::vector<std::vector<OwnedTensor>> run_pipelined(const std::vector<NamedInputs>& sets,
                                                      const RunOptions& options = {});
  // Likewise into the caller's memory: outputs[set], each as run_into takes them, none overlapping
  // another's. The faster one where memory is used again: new memory costs as much as a copy.
  void run_pipelined_into(const std::vector<NamedInputs>& sets,
                          const std::vector<NamedOutputs>& outputs, const RunOptions& options = {});

  // The extents of run_slots: a value for each of dims(). Those that only states have follow from
  // their handles: they may be left out, and are an Error of the run where they are others.
  void set_extents(const DimBinding& extents);

  // Of a graph compiled for a bucket, inputs with an axis of extent `upper`: runs compute what a
  // graph compiled for `actual` would, in its time, until clear_active_extent. The bucket's axis of
  // an input is the one that the builder marked, else the first of this extent. Inputs may have
  // either extent; outputs keep their shapes: the rows past those of `actual` stay what they were,
  // zero at first. Where shapes do not follow, everything runs at `upper`, short inputs filled up
  // with zeros: active_extent_report() says so, states refuse it, files do not have it. An `actual`
  // above `upper` is an Error, so is an `upper` that the graph is not compiled for. Without marks a
  // graph is compiled again at its first call; one in a file must be marked, or saved after it.
  void set_active_extent(int64_t actual, int64_t upper);
  void clear_active_extent();
  const ActiveExtentReport& active_extent_report() const;

  // Elements row*inner .. (row+1)*inner of an output that lies in the graph's memory, as f32.
  // nullopt where there is no such output or it has fewer elements.
  std::optional<std::vector<float>> read_output_row(int output, int64_t row, int64_t inner) const;

  // Copies the value, which holds from the next run on. With a shape it must be of the parameter's
  // type; f32 elements without one, in row-major order, are converted to its dtype.
  void set_param(const std::string& name, const TensorView& value);
  void set_param_typed(const std::string& name, std::span<const std::byte> bytes, DType dtype);
  // From now on the parameters that the store has are the store's, also in clones made later: what
  // is set there, or for one of the graphs that were given it, holds for all of them from the next
  // run of each. Names that the store gets later are not taken. A name that is no parameter of the
  // graph's, or one of another type, is an Error that changes nothing. Another store takes the
  // place of this one; what only this one had keeps its value.
  void use_params(const ParamStore& store);

  // Handles: inputs that stay on the device between runs. A bound one feeds the input of its name,
  // which runs then leave out; giving both is an Error, so is a name that no input has. A state
  // (Graph::state) needs one, of its first value: empty along its axis, as a rule. A run that ended
  // well leaves there what its updates made of it; after any other its length is as before.
  // docs/state.md.
  //
  // Copies a dense value, or shares a handle's memory until one of both is changed.
  void bind_handle(const std::string& name, const TensorView& value);
  void bind_handle(const std::string& name, const Handle& value);
  void unbind_handle(const std::string& name);
  bool has_handle(const std::string& name) const;
  std::optional<OwnedTensor> read_handle(const std::string& name);  // nullopt: none is bound
  // The value as it is now, whatever runs do with theirs later: the same beginning for another
  // sequence, of this graph or of a clone. Nothing is copied before one of both changes.
  Handle fork_handle(const std::string& name);
  // Keeps the first `length` rows: along the axis of a state, else along the outermost.
  void trim_handle(const std::string& name, int64_t length);
  // From now on the output of each run is the handle's value for the next, without a copy by the
  // host. nullopt: no output is. run_into may leave such an output out.
  void set_handle_feed(const std::string& name, const std::optional<std::string>& output);
  // Runs, and gives the output that feeds a handle, as f32; there must be one.
  std::vector<float> run_feed_handle(const NamedInputs& inputs, const RunOptions& options = {});

  // What a run with inputs of these shapes would take; nothing runs and none of it is reserved.
  // Data is not read and may be null. Names, dtypes and shapes that run() refuses are the same
  // Error here.
  std::vector<MemoryUse> memory_of(const NamedInputs& inputs);
  // The bytes of arena and scratch that a run takes at these extents, one for every dim, and with
  // the present number of threads. Models with branches or loops are Unsupported: only a run knows.
  int64_t peak_bytes(const DimBinding& extents);

  // Runs with these inputs for a while and tells of each kernel what it computes, moves and takes,
  // and what this machine, measured before and after on as many threads, would take at best. States
  // are left as they were. Of graphs on a CPU; any other is Unsupported.
  RunReceipt receipt(const NamedInputs& inputs, const ReceiptOptions& options = {});

  void set_threads(int threads);  // at most as many as this process may use

  std::vector<TensorInfo> inputs() const;
  std::vector<TensorInfo> outputs() const;
  std::vector<TensorInfo> params() const;
  std::vector<DimInfo> dims() const;
  Device device() const;
  int threads() const;
  const CompileStats& stats() const;
  // What the compiler fused, missed and dispatched. Empty for what was planned or compiled before:
  // a LirModule, an artifact.
  const FusionReport& fusion_report() const;
  const DispatchReport& dispatch_report() const;
  // What CompileOptions::specialize has led to, for this graph and its clones.
  SpecializationStats specialization_stats() const;
  // Until nothing is pending: before it is served, or measured. The calling thread makes code, too,
  // and is not held to a share of a core.
  void wait_for_specialization() const;
  // Multiply-adds counted twice, from the graph's shapes, at the extents of the last run (or
  // memory_of).
  double flops_of_last_run() const;
  int64_t arena_bytes() const;  // of the last run (or memory_of)

 private:
  friend class Session;
  friend struct CachedGraph;  // what a cache holds
  struct Impl;
  explicit CompiledGraph(std::unique_ptr<Impl> impl);
  void set_elements(const std::string& name, const TensorView& value);
  Impl& impl() const;  // an Error where it was moved from
  std::unique_ptr<Impl> impl_;
};

}  // namespace tenon
