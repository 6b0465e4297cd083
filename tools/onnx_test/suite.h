// Many cases: finds them under the folders given, runs them in the order of their names, prints a
// line per failure and the closing line `N passed, N failed, N skipped`.
#pragma once

#include <string>
#include <vector>

namespace tenon::onnx_test {

// Exit code: 0 where none failed.
int run_suite(const std::vector<std::string>& folders);

}  // namespace tenon::onnx_test
