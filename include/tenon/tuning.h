// Tuning: a search for schedules that are faster on this machine than those of the model.
//
//   tenon::Session session({.optimizer = tenon::OptStrategy::Beam{4}});
//   tenon::TuningReport report = session.tune_onnx("encoder.onnx",
//       {.beam = tenon::BeamConfig{.typical = {{"batch", 8}, {"seq", 128}}}});
//   report.save("encoder.tuned");
//   ... session.compile_onnx("encoder.onnx", {.tuned = "encoder.tuned"});   // here or elsewhere
//
// Candidates run on memory of their own, never on a user's. One that gives other bits than the
// model's schedule is dropped. docs/tuning.md.
#pragma once

#include <cstdint>
#include <functional>
#include <string>
#include <vector>

#include "tenon/dim_binding.h"

namespace tenon {

// Where a search stands.
struct TuningProgress {
  int kernel = 0;  // the one being tuned, from 1 to `kernels`
  int kernels = 0;
  std::string name;
  int tried = 0;  // candidates of this kernel so far
  double default_ms = 0, best_ms = 0;
};

// False: stop.
using TuningCallback = std::function<bool(const TuningProgress&)>;

struct BeamConfig {
  double timeout = 60;          // seconds for the search of one kernel: the best so far is taken
  double compile_timeout = 10;  // seconds to compile one candidate, which is dropped beyond that
  int64_t max_ops = 100'000;    // a candidate whose unrolled code has more is dropped
  double margin = 0.02;  // by which a winner must beat the default when both are measured again
  // Extents to time at. A symbol that is not here: the middle of its bounds, halved until no tensor
  // of symbolic size that a kernel touches takes more than 16 MB.
  DimBinding typical = {};
  // A program that compiles candidates, so that one which takes the compiler down takes nothing
  // else with it, and one that takes too long is ended: the path of the `tenon` tool. Empty:
  // candidates are compiled in this process, and the time they take is looked at afterwards.
  std::string helper = {};
  // Called before each kernel and after each of its candidates, by the thread that tunes. Where it
  // stops the search, kernels that were tuned stay tuned.
  TuningCallback progress = {};
};

struct TunedKernel {
  std::string name;
  std::string choice;  // "row_block=96 column_groups=4"; empty: the default is kept
  double default_ms = 0;
  double tuned_ms = 0;  // from the second measurement; default_ms where the default is kept
  int candidates = 0;   // compiled and timed
  int dropped = 0;      // before that
  int rounds = 0;       // of the search
  double seconds = 0;
  bool found = false;  // by an earlier search: nothing was searched
};

struct TuningReport {
  std::vector<TunedKernel> kernels;
  DimBinding extents;  // that kernels were timed at
  double seconds = 0;
  bool stopped = false;   // by `progress`, before all kernels were tuned
  std::string schedules;  // what was found, as a file that CompileOptions::tuned reads

  std::string to_string() const;             // a table
  void save(const std::string& path) const;  // `schedules`
};

}  // namespace tenon
