// See suite.h.
#include "tools/onnx_test/suite.h"

#include <fmt/ranges.h>

#include <algorithm>
#include <cstdint>
#include <cstdio>
#include <iterator>

#include "base/error.h"
#include "tools/onnx_test/case.h"
#include "tools/onnx_test/symbolic.h"

namespace tenon::onnx_test {
namespace {

struct Counts {
  int passed = 0, failed = 0, skipped = 0, compiled = 0;
};

// A message of several lines, as one.
std::string one_line(std::string text) {
  std::ranges::replace(text, '\n', ' ');
  return text;
}

std::string how(const CaseResult& result) {
  if (result.compiled) return "compiled";
  if (result.why_interpreted.empty()) return "interpreted";
  return one_line(fmt::format("interpreted: {}", result.why_interpreted));
}

void report(const Case& the_case, const CaseResult& result, const std::string* skip, bool verbose,
            Counts& counts) {
  if (skip && !result.passed) {
    ++counts.skipped;
    if (verbose) fmt::print("skipped {}: {}: {}\n", the_case.name, *skip, one_line(result.message));
    return;
  }
  if (skip) fmt::print("PASSES {}, though it is to be skipped: {}\n", the_case.name, *skip);
  ++(result.passed ? counts.passed : counts.failed);
  counts.compiled += result.passed && result.compiled ? 1 : 0;
  if (!result.passed) fmt::print("FAILED {}: {}\n", the_case.name, one_line(result.message));
  if (result.passed && verbose) fmt::print("passed {} ({})\n", the_case.name, how(result));
}

// FNV-1a: the same part of the same names on every machine.
bool is_in_sample(const std::string& name, const std::pair<int, int>& sample) {
  uint64_t hash = 14695981039346656037u;
  for (const char c : name) hash = (hash ^ static_cast<unsigned char>(c)) * 1099511628211u;
  return hash % static_cast<uint64_t>(sample.second) == static_cast<uint64_t>(sample.first - 1);
}

std::vector<Case> cases_of(const SuiteOptions& options) {
  std::vector<Case> cases;
  for (const std::string& folder : options.folders) {
    std::ranges::move(find_cases(folder), std::back_inserter(cases));
  }
  std::erase_if(cases, [&](const Case& one) { return !is_in_sample(one.name, options.sample); });
  if (cases.empty()) throw user_error("no case is in the folders given");
  return cases;
}

}  // namespace

int run_suite(const SuiteOptions& options, const Device& device) {
  Counts counts;
  for (const Case& one : cases_of(options)) {
    report(one, run_case(one, device), options.skip.reason(one.name), options.verbose, counts);
    std::fflush(stdout);
  }
  if (options.verbose) {
    fmt::print("{} compiled, {} interpreted\n", counts.compiled, counts.passed - counts.compiled);
  }
  fmt::print("{} passed, {} failed, {} skipped\n", counts.passed, counts.failed, counts.skipped);
  return counts.failed == 0 ? 0 : 1;
}

int run_suite_symbolic(const SuiteOptions& options, const Device& device) {
  int full = 0, partly = 0, failed = 0, second = 0;
  for (const Case& one : cases_of(options)) {
    if (options.skip.reason(one.name)) continue;
    const SymbolicResult result = run_symbolic(one, device);
    second += result.passed && result.second ? 1 : 0;
    if (!result.passed) {
      ++failed;
      fmt::print("FAILED {}: {}\n", one.name, one_line(result.message));
    } else if (!result.fixed.empty()) {
      ++partly;
      fmt::print("fixed {}: {}\n", one.name, fmt::join(result.fixed, "; "));
    } else {
      ++full;
      if (options.verbose) fmt::print("symbolic {}{}\n", one.name, result.second ? "" : " (once)");
    }
    std::fflush(stdout);
  }
  fmt::print("{} fully symbolic, {} with numbers, {} failed; {} ran at a second set of extents\n",
             full, partly, failed, second);
  const double share = 100.0 * full / std::max(full + partly + failed, 1);
  if (share >= options.least_symbolic) return failed == 0 ? 0 : 1;
  fmt::print("FAILED: {:.1f} % are fully symbolic, {} are asked for\n", share,
             options.least_symbolic);
  return 1;
}

}  // namespace tenon::onnx_test
