// ProgramBuilder: from regions to a Program without code. Each region is lowered and scheduled;
// kernels that are equal but for names are one; weights are packed by prologue steps, each weight
// once.
#pragma once

#include <functional>
#include <map>
#include <memory>
#include <set>
#include <string>
#include <unordered_map>
#include <unordered_set>
#include <vector>

#include "driver/generate.h"
#include "fuse/fuse.h"
#include "graph/graph.h"
#include "kernel/kernel.h"
#include "program/program.h"
#include "schedule/schedule.h"

namespace tenon::driver {

// Compiles the body of an If or a Loop, where the symbols `around` it have values.
using CompileBody = std::function<std::shared_ptr<const program::Program>(
    const graph::Graph& body, const std::set<std::string>& around)>;

// Runs a scheduled kernel; what it is for, and on which buffers, is still to be said.
program::Step step_of(const kernel::Kernel& kernel);

// Schedules a lowered kernel, one that every run needs or one of the prologue.
using ScheduleKernel =
    std::function<schedule::Scheduled(const kernel::Kernel& lowered, bool in_prologue)>;

class ProgramBuilder {
 public:
  // `outer`: symbols that have values around the graph, where it is a body.
  ProgramBuilder(const graph::Graph& graph, const fuse::Regions& regions,
                 ScheduleKernel schedule_kernel, std::set<std::string> outer,
                 CompileBody compile_body);

  void lower();
  program::Program take_program() { return std::move(program_); }
  std::vector<UniqueKernel> take_kernels() { return std::move(kernels_); }

 private:
  void declare_leaves();
  std::vector<Symbol> symbols_of_inputs() const;
  void declare_updates();
  void declare_outputs();
  void declare_length(const graph::Output& state);
  bool is_late(const graph::Output& output) const;
  void lower_root(graph::Value root);
  void assemble(graph::Value root, const std::vector<fuse::Part>& parts);
  void lower_into(graph::Value value, program::BufferRef destination, const std::string& origin);
  void host_step(const graph::Node& node);
  void note_given();
  program::BufferRef buffer_of(graph::Value value);
  program::BufferRef view_of(program::BufferRef whole, const Dim& first, const TensorType& type);
  program::BufferRef pack(const kernel::Kernel& pack, const std::vector<graph::Value>& arguments,
                          const std::string& origin);
  program::Step make_step(const kernel::Kernel& kernel, std::vector<program::BufferRef> buffers,
                          const std::string& origin);
  const schedule::Scheduled& scheduled_kernel(const kernel::Kernel& lowered, bool in_prologue);
  int kernel_index(const kernel::Kernel& kernel);  // of schedules_
  std::vector<Dim> strides_of(graph::Value value) const;

  const graph::Graph& graph_;
  const fuse::Regions& regions_;
  graph::Graph copies_;  // of stored parts, to be put into place
  ScheduleKernel schedule_kernel_;
  std::set<std::string> outer_;
  CompileBody compile_body_;
  program::Program program_;
  std::set<std::string> symbol_names_;  // of the model
  std::set<std::string> known_;         // have values by now: of inputs, of host steps, from around
  std::set<std::string> capacities_;
  std::unordered_set<graph::Value> host_values_;  // operands and results of host steps
  std::unordered_set<const graph::Node*> host_done_;
  std::unordered_map<graph::Value, program::BufferRef> buffers_;
  std::unordered_map<graph::Value, std::vector<Dim>> strides_;      // of inputs and outputs
  std::unordered_map<std::string, schedule::Scheduled> schedules_;  // by the lowered kernel's text
  std::unordered_map<const kernel::Kernel*, int> numbered_;         // of schedules_
  std::unordered_map<std::string, int> kernel_numbers_;             // by canonical text
  std::vector<UniqueKernel> kernels_;
  std::map<std::pair<int, std::vector<std::pair<int, int>>>, program::BufferRef>
      packed_;  // kernel and its arguments
};

}  // namespace tenon::driver
