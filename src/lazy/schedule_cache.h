// What is compiled for tensors, kept by the structure of what they compute: the same expression on
// other data, or with other values of its variables, compiles nothing. Bounded, single-flight; off
// where the configuration says so.
#pragma once

#include <memory>
#include <mutex>
#include <vector>

#include "lazy/segment.h"
#include "program/program.h"
#include "runtime/executor.h"
#include "tenon/execution_plan.h"

namespace tenon::lazy {

class CompiledSegment {
 public:
  CompiledSegment(std::shared_ptr<const program::Program> program, const Device& device,
                  std::vector<Ref<graph::Node>> rules)
      : program_(std::move(program)), device_(device), rules_(std::move(rules)) {}

  const program::Program& program() const { return *program_; }

  // An executor that nobody else uses, kept for the next when it is given back.
  std::unique_ptr<runtime::Executor> take_executor();
  void give_back(std::unique_ptr<runtime::Executor> executor);

 private:
  static constexpr size_t kMostIdle = 4;
  static constexpr int64_t kMostIdleBytes = 1 << 20;  // more is given back to the system

  const std::shared_ptr<const program::Program> program_;
  const Device device_;
  const std::vector<Ref<graph::Node>> rules_;  // that the key names by address
  std::mutex mutex_;
  std::unique_ptr<runtime::Executor> first_;  // never lent: others are clones of it
  std::vector<std::unique_ptr<runtime::Executor>> idle_;
};

struct CachedSegment {
  std::shared_ptr<CompiledSegment> segment;
  bool was_there = false;
};

CachedSegment compiled(const Trace& trace, const Segment& segment, const PrepareConfig& config);

// Of this process, so far.
struct ScheduleCacheStats {
  int64_t compiled = 0;
  size_t entries = 0;
};
ScheduleCacheStats schedule_cache_stats();
void clear_schedule_cache();

}  // namespace tenon::lazy
