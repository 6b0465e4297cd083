// What a CompiledGraph holds; shared by the files of this folder.
#pragma once

#include <atomic>
#include <memory>
#include <optional>
#include <vector>

#include "compiled/named_views.h"
#include "compiled/output_block.h"
#include "program/program.h"
#include "runtime/executor.h"
#include "tenon/compiled_graph.h"

namespace tenon {

struct CompiledGraph::Impl {
  Impl(std::shared_ptr<const program::Program> program, Device device,
       std::unique_ptr<runtime::Executor> loaded);

  std::shared_ptr<const program::Program> program;
  Device device;
  std::unique_ptr<runtime::Executor> loaded;  // null where the device is not there
  CompileStats stats;
  FusionReport fusion;
  DispatchReport dispatch;
  std::vector<runtime::IoView> inputs, outputs;     // of the present run, in the program's order
  std::vector<compiled::StaticShape> input_shapes;  // as the model says them
  std::optional<std::vector<std::vector<int64_t>>> extents;  // of inputs, for run_slots
  compiled::OutputBlock block;
  std::atomic<bool> busy = false;

  runtime::Executor& executor();  // a User error where there is none
  // Inputs that fit: from here on the outputs of the last run are gone. Others are a User error
  // that changes nothing.
  runtime::Executor& bind(const NamedInputs& given);
  runtime::Executor& bind_shown();  // what `inputs` shows
  void run_into_block(runtime::Executor& bound, const RunOptions& options);
};

namespace compiled {

// Held while a call uses a graph: a concurrent one becomes an error instead of a race.
class Exclusive {
 public:
  explicit Exclusive(std::atomic<bool>& busy);
  ~Exclusive() { busy_.store(false, std::memory_order_release); }
  Exclusive(const Exclusive&) = delete;
  Exclusive& operator=(const Exclusive&) = delete;

 private:
  std::atomic<bool>& busy_;
};

}  // namespace compiled
}  // namespace tenon
