// One case of an ONNX backend test suite. In a folder: model.onnx and test_data_set_N, each with
// input_M.pb and output_M.pb; data.json, where there, has the tolerances. Flat, as the light models
// are: NAME.onnx beside NAME_output_M.pb, and the inputs are ramps from 0 towards 1.
#pragma once

#include <filesystem>
#include <string>
#include <vector>

#include "tools/onnx_test/device.h"

namespace tenon::onnx_test {

struct Case {
  std::string name;
  std::filesystem::path model;
};

struct CaseResult {
  bool passed = false;
  std::string message;  // what went wrong
  bool compiled = false;
  std::string why_interpreted;
};

// Those in `folder` and below it, in the order of their names. No folder is a User error.
std::vector<Case> find_cases(const std::filesystem::path& folder);
CaseResult run_case(const Case& the_case, const Device& device);  // all its data sets

// Parts of run_case: runs what is ready on every data set, and says what went wrong (empty:
// nothing).
std::string run_data_sets(const Case& the_case, const graph::Graph& g, const Prepared& prepared);
Inputs first_inputs(const Case& the_case, const graph::Graph& g);  // of the first data set

}  // namespace tenon::onnx_test
