// What a CompiledGraph holds; shared by the files of this folder.
#pragma once

#include <atomic>
#include <memory>
#include <vector>

#include "program/program.h"
#include "runtime/executor.h"
#include "tenon/compiled_graph.h"

namespace tenon {

struct CompiledGraph::Impl {
  std::shared_ptr<const program::Program> program;
  Device device;
  std::unique_ptr<runtime::Executor> loaded;  // null where the device is not there
  CompileStats stats;
  std::vector<runtime::IoView> inputs, outputs;  // of the present run, in the program's order
  std::atomic<bool> busy = false;

  runtime::Executor& executor();  // a User error where there is none
};

}  // namespace tenon
