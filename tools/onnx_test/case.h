// One case of an ONNX backend test suite: a folder with model.onnx and test_data_set_N, each with
// input_M.pb and output_M.pb; data.json, where there, has the tolerances.
#pragma once

#include <filesystem>
#include <string>

namespace tenon::onnx_test {

struct CaseResult {
  bool passed = false;
  std::string message;  // what went wrong
};

bool is_case(const std::filesystem::path& folder);
CaseResult run_case(const std::filesystem::path& folder);  // all its data sets

}  // namespace tenon::onnx_test
