// Many cases: finds them under the folders given, runs them in the order of their names, prints a
// line per failure and the closing line `N passed, N failed, N skipped`. Skipped cases run too: one
// that passes is named, so that the list can shrink.
#pragma once

#include <string>
#include <utility>
#include <vector>

#include "tools/onnx_test/device.h"
#include "tools/onnx_test/skip_list.h"

namespace tenon::onnx_test {

struct SuiteOptions {
  std::vector<std::string> folders;
  SkipList skip;
  std::pair<int, int> sample = {1, 1};  // part N of M of the cases, by a hash of their names
  double least_symbolic = 0;            // percent of the cases that must be fully symbolic
  bool verbose = false;  // a line for every case: its result, and whether it was compiled
};

// Exit code: 0 where none failed.
int run_suite(const SuiteOptions& options, const Device& device);

// The same cases with every extent of their inputs free (symbolic.h), those of the skip list left
// out. A line per failure and per case that keeps numbers, with the reasons; at the end counts of
// cases that are fully symbolic, that keep numbers, and that failed. Exit code: 0 where none failed
// and enough are fully symbolic.
int run_suite_symbolic(const SuiteOptions& options, const Device& device);

}  // namespace tenon::onnx_test
