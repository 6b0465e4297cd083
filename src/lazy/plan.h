// Plan: a trace compiled, with the executors that run its segments, the copies between devices, and
// memory for what it computes. Not for several threads at once.
#pragma once

#include <map>
#include <memory>
#include <vector>

#include "base/flat_map.h"
#include "lazy/schedule_cache.h"
#include "lazy/trace.h"
#include "tenon/execution_plan.h"

namespace tenon::lazy {

class Plan {
 public:
  // `like`: a plan of the same trace, whose code it takes.
  Plan(Trace trace, const PrepareConfig& config, const Plan* like = nullptr);
  ~Plan();
  Plan(const Plan&) = delete;
  Plan& operator=(const Plan&) = delete;

  void execute(VariableValues values);  // of all variables
  // Of each target, after execute. Its memory stays the same from execution to execution while
  // extents do.
  const std::shared_ptr<const Elements>& output(int target) const;

  const Trace& trace() const { return trace_; }
  const PrepareConfig& config() const { return config_; }
  const Device& device(int target) const;
  std::vector<PlanStep> steps() const;
  PlanStats stats() const;

  // Values with `given` in place of those bound: a User error where one is not known, outside of
  // its bounds, or fixed by an input.
  VariableValues with(const VariableValues& given) const;

 private:
  // A segment, or a copy of a value to another device. Values are numbered by first use.
  struct Part {
    int segment = -1;
    int from = -1, to = -1;
    Device device = Device::Cpu();
    int level = 0;
  };
  struct Running {
    std::shared_ptr<CompiledSegment> compiled;
    std::unique_ptr<runtime::Executor> executor;
    std::vector<int> inputs, outputs;
    std::vector<runtime::IoView> input_views, output_views;
  };
  struct Value {
    TensorType type;
    std::shared_ptr<const Elements> elements;
    std::shared_ptr<Buffer> own;  // what the plan writes; null: a leaf
    Device device = Device::Cpu();
  };

  int number(const TraceValue& value);
  int number_on(const Device& device, const TraceValue& value, int level);
  void add_segment(const Segment& segment, std::shared_ptr<CompiledSegment> compiled);
  void take_outputs_of_plans(VariableValues& values);
  void add_asked_copies();
  void give_values(Running& running, const VariableValues& values);
  void run(Running& running, const VariableValues& values);
  void copy(const Part& part);
  // The value is written anew, with these extents.
  Buffer& make_room(int value, std::span<const int64_t> extents, const VariableValues& values);

  Trace trace_;
  PrepareConfig config_;
  std::vector<Running> running_;
  std::vector<Part> parts_;  // in order
  std::vector<Value> values_;
  FlatMap<TraceValue, int> numbers_;
  std::map<std::pair<int, std::string>, int> copies_;  // of a value, on a device
  std::vector<int> targets_;
  std::map<std::string, Symbol> symbols_;
  std::vector<const Operation*> extremes_;  // that may have no element at other values
  bool from_cache_ = true;
};

}  // namespace tenon::lazy
