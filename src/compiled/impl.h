// What a CompiledGraph holds; shared by the files of this folder.
#pragma once

#include <atomic>
#include <functional>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "base/function_ref.h"
#include "compiled/active_rows.h"
#include "compiled/named_views.h"
#include "compiled/output_block.h"
#include "compiled/run_log.h"
#include "compiled/slot_extents.h"
#include "compiled/specializer.h"
#include "program/program.h"
#include "runtime/executor.h"
#include "runtime/run_owned.h"
#include "tenon/compiled_graph.h"

namespace tenon {

namespace compiled {

// Who uses a graph: nobody, a call, or a cache that waits for what is pending.
enum class Use : uint8_t { None, Call, Drain };

// Held while a call uses a graph: a concurrent one becomes an error instead of a race. Where it is
// drained, the call waits for the end of that.
class Exclusive {
 public:
  explicit Exclusive(std::atomic<Use>& use);
  ~Exclusive() { use_.store(Use::None, std::memory_order_release); }
  Exclusive(const Exclusive&) = delete;
  Exclusive& operator=(const Exclusive&) = delete;

 private:
  std::atomic<Use>& use_;
};

// A program for the active extent of a bucket, and what runs it.
struct ActiveProgram {
  std::shared_ptr<const program::Program> program;
  std::unique_ptr<runtime::Executor> executor;  // null where the device is not there
  int kernels = 0;
  ActiveExtentReport report;
  std::shared_ptr<Specializer> specializer = nullptr;
};

}  // namespace compiled

struct CompiledGraph::Impl {
  Impl(std::shared_ptr<const program::Program> program, Device device,
       std::unique_ptr<runtime::Executor> loaded);

  std::shared_ptr<const program::Program> program;
  Device device;
  compiled::OutputBlock block;                // outlives the executor, whose runs may be writing it
  std::unique_ptr<runtime::Executor> loaded;  // null where the device is not there
  std::string name;                           // as the log calls it
  CompileStats stats;
  FusionReport fusion;
  DispatchReport dispatch;
  std::vector<runtime::IoView> inputs, outputs;  // of the present run, in the program's order
  std::optional<compiled::SlotExtents> extents;
  std::shared_ptr<compiled::Specializer> specializer;  // of all clones; null: nothing is
  bool asked_to_specialize = false;
  compiled::ActiveRows rows;
  ActiveExtentReport active;
  // Compiles again for a bucket; absent where there is nothing to compile from.
  std::function<compiled::ActiveProgram(int64_t upper)> make_active;
  // Whose values runs take, of which parameters, and those of which version the executor has.
  struct SharedParams {
    ParamStore store;
    std::vector<std::string> names;
    uint64_t version = 0;
  };
  std::optional<SharedParams> shared_params;
  bool pending = false;  // a run into the block was begun and not waited for
  compiled::RunLog pending_log;
  // What takes every other set of run_pipelined, where runs go on by themselves.
  std::unique_ptr<runtime::Executor> second;
  uint64_t second_params = 0;  // the version of the parameters that it has
  std::atomic<compiled::Use> use = compiled::Use::None;

  runtime::Executor& executor();  // a User error where there is none
  // Inputs that fit: from here on the outputs of the last run are gone. Others are a User error
  // that changes nothing.
  runtime::Executor& bind(const NamedInputs& given, const RunOptions& options);
  runtime::Executor& bind_shown(const RunOptions& options);  // what `inputs` shows
  void show(const NamedInputs& given);                       // as the program takes them
  void serve_bucket(int64_t upper);                          // from here on
  void serve_rows(ActiveExtentReport report);  // of the program, by which it was compiled
  runtime::Executor& second_executor();
  void take_shared_params();  // those that were set since the last run
  void set_param(const std::string& name, DType dtype, const std::vector<int64_t>& shape,
                 const void* data);
  // A run for each set, `begin` begins it where its inputs are bound; ended when this returns.
  void run_in_turn(const std::vector<NamedInputs>& sets,
                   FunctionRef<Status(size_t set, runtime::Executor& bound)> begin);
  void settle();              // waits for what is pending; its error is thrown here
  void settle_unless_used();  // by a call, whose caller waits itself
  void run_into(const NamedInputs& given, const NamedOutputs& to, const RunOptions& options);
  void run_into_block(runtime::Executor& bound, const RunOptions& options);

  // Held while a call uses a graph of which nothing is to be under way.
  class Settled : compiled::Exclusive {
   public:
    explicit Settled(Impl& impl) : Exclusive(impl.use) { impl.settle(); }
  };
};

namespace compiled {

// With the names and dtypes of the program's outputs.
std::vector<OwnedTensor> named(const program::Program& program,
                               std::vector<runtime::OwnedOutput> outputs);
std::vector<OwnedTensor> copy_of(const OutputBlock& block,
                                 const std::vector<program::IoSlot>& outputs);
runtime::RunOptions runtime_options(const RunOptions& options);
void check(const Status& status, const runtime::Executor& executor);  // Cancelled where it was

}  // namespace compiled
}  // namespace tenon
