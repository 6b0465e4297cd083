// The whole compiler as one readable function, and its stages, each callable alone.
#pragma once

#include <functional>
#include <memory>
#include <optional>
#include <set>
#include <string>
#include <string_view>
#include <unordered_map>
#include <vector>

#include "base/cpu_info.h"
#include "driver/body_reports.h"
#include "driver/generate.h"
#include "driver/options.h"
#include "fuse/fuse.h"
#include "graph/graph.h"
#include "program/program.h"
#include "schedule/choice.h"
#include "tenon/active_extent.h"

namespace tenon::driver {

struct PassTime {
  std::string pass;
  double milliseconds;
};

// What the backend takes, and what was done to get there.
struct Optimized {
  graph::Graph graph;
  FusionReport fusion;
  DispatchReport dispatch;
};

// The legalized graph and its plan: a program without code, and the kernels to make code of.
struct Lir {
  graph::Graph graph;
  program::Program program;
  std::vector<UniqueKernel> kernels;
  int body_kernels = 0;  // of branches and loops, which have their code already
  Digest digest;         // of the graph, and of what its bodies became
  BodyReports bodies;
};

struct Compiled {
  program::Program program;
  std::vector<PassTime> times;
  int kernels = 0;             // structurally equal ones count once
  int kernels_from_cache = 0;  // of these: compiled before, in this process
  bool restored = false;       // it was compiled before, maybe in another one
  Digest digest;               // as in Lir
  FusionReport fusion;
  DispatchReport dispatch;
  ActiveExtentReport active;
  std::vector<UniqueKernel> scheduled;  // that the code was made of, where they were to be kept
};

std::vector<std::string_view> pass_names();  // in order

// With what the environment says for memory, dispatch and optimizer, where they are absent.
Options with_environment(Options options);

// One compile. Every stage adds to the times.
class Pipeline {
 public:
  explicit Pipeline(Options options);

  graph::Graph preprocess(
      const graph::Graph& source);  // constants folded, ops without kernels gone
  Optimized optimize(const graph::Graph& preprocessed);
  // A User error where the graph is none that `optimize` gives, so that it has no plan.
  void check_optimized(const graph::Graph& graph) const;
  Lir plan(const graph::Graph& optimized);
  program::Program generate(Lir lir);
  void dump_plan(const Lir& lir) const;  // where the options say so; plan has done it

  const Options& options() const { return options_; }  // with what the environment says
  const std::vector<PassTime>& times() const { return times_; }
  const ActiveExtentReport& active() const { return active_; }  // of preprocess
  int kernels_compiled() const { return compiled_; }  // so far: all that the cache did not have

 private:
  // By the canonical text of the lowered kernel.
  using Choices = std::unordered_map<std::string, schedule::Choice>;
  Choices choose_schedules(const graph::Graph& optimized, const fuse::Regions& regions) const;

  Options options_;
  std::unique_ptr<Backend> backend_;
  std::vector<PassTime> times_;
  DispatchReport rewritten_;  // by preprocess
  ActiveExtentReport active_;
  int compiled_ = 0;
};

Compiled compile(const graph::Graph& source, const Options& options);

}  // namespace tenon::driver
