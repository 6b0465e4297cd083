// Folders are cases, or hold cases.
#include "tools/onnx_test/suite.h"

#include <fmt/format.h>

#include <algorithm>

#include "base/error.h"
#include "tools/onnx_test/case.h"

namespace tenon::onnx_test {
namespace {

namespace fs = std::filesystem;

void find_cases(const fs::path& folder, std::vector<fs::path>& cases) {
  if (!fs::is_directory(folder)) throw user_error("{} is not a folder", folder.string());
  if (is_case(folder)) {
    cases.push_back(folder);
    return;
  }
  std::vector<fs::path> inside;
  for (const auto& entry : fs::directory_iterator(folder)) {
    if (entry.is_directory()) inside.push_back(entry.path());
  }
  std::sort(inside.begin(), inside.end());
  for (const fs::path& path : inside) find_cases(path, cases);
}

}  // namespace

int run_suite(const std::vector<std::string>& folders) {
  std::vector<fs::path> cases;
  for (const std::string& folder : folders) find_cases(folder, cases);
  int passed = 0, failed = 0;
  for (const fs::path& folder : cases) {
    const CaseResult result = run_case(folder);
    ++(result.passed ? passed : failed);
    if (!result.passed) {
      fmt::print("FAILED {}: {}\n", folder.filename().string(), result.message);
    }
  }
  fmt::print("{} passed, {} failed, 0 skipped\n", passed, failed);
  return failed == 0 ? 0 : 1;
}

}  // namespace tenon::onnx_test
