// ProgramBuilder: from regions to a Program. Each region is lowered and scheduled; kernels that are
// equal but for names are compiled once; weights are packed by prologue steps, each weight once.
#pragma once

#include <map>
#include <memory>
#include <set>
#include <string>
#include <unordered_map>
#include <vector>

#include "base/cpu_info.h"
#include "fuse/fuse.h"
#include "graph/graph.h"
#include "kernel/kernel.h"
#include "program/program.h"
#include "schedule/schedule.h"

namespace tenon::driver {

class ProgramBuilder {
 public:
  ProgramBuilder(const graph::Graph& graph, const fuse::Regions& regions, const CpuInfo& cpu);

  int lower();     // the number of steps
  int generate();  // the number of kernels compiled
  int kernel_count() const { return static_cast<int>(kernels_.size()); }
  void for_each_kernel(const std::function<void(const kernel::Kernel&)>& visit) const;
  std::string source(const kernel::Kernel& kernel) const;
  program::Program take() { return std::move(program_); }

 private:
  void declare_leaves();
  void declare_outputs();
  void lower_root(graph::Value root);
  program::BufferRef buffer_of(graph::Value value);
  program::BufferRef pack(const kernel::Kernel& pack, const std::vector<graph::Value>& arguments,
                          const std::string& origin);
  program::Step make_step(const kernel::Kernel& kernel, std::vector<program::BufferRef> buffers,
                          const std::string& origin);
  int kernel_index(const kernel::Kernel& kernel);
  std::vector<Dim> strides_of(graph::Value value) const;

  const graph::Graph& graph_;
  const fuse::Regions& regions_;
  CpuInfo cpu_;
  schedule::Target target_;
  program::Program program_;
  std::set<std::string> symbol_names_;  // of the model
  std::unordered_map<graph::Value, program::BufferRef> buffers_;
  std::unordered_map<graph::Value, std::vector<Dim>> strides_;  // of inputs and outputs
  std::unordered_map<std::string, int> kernel_numbers_;         // by canonical text
  std::vector<kernel::Kernel> kernels_;
  std::map<std::pair<int, std::vector<std::pair<int, int>>>, program::BufferRef>
      packed_;  // kernel and its arguments
};

}  // namespace tenon::driver
