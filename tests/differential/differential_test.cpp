// Random graphs, compiled, against the interpreter. A graph that fails is made small and saved;
// `tenon replay FILE` runs it again. TENON_FUZZ_SEED starts elsewhere, TENON_FUZZ_COUNT sets how
// many; with TENON_FUZZ_ISOLATED=1 a crash is found, made small and saved too.
// TENON_FUZZ_FAILURES ends it after so many, TENON_FUZZ_SHRINK=0 leaves them as they are.
#include <gtest/gtest.h>

#include <cstdlib>
#include <filesystem>
#include <fstream>

#include "base/error.h"
#include "tests/differential/coverage.h"
#include "tests/differential/isolated.h"
#include "tests/differential/random_graph.h"
#include "tests/differential/shrink.h"
#include "tests/full.h"
#include "tests/sanitizers.h"
#include "tools/replay/compare.h"

namespace tenon::differential {
namespace {

using replay::Case;
using replay::Outcome;
using replay::Verdict;

int64_t setting(const char* name, int64_t otherwise) {
  const char* text = std::getenv(name);
  return text && *text ? std::atoll(text) : otherwise;
}

std::filesystem::path folder() {
  const std::filesystem::path path = std::filesystem::path(TENON_BINARY_DIR) / "differential";
  std::filesystem::create_directories(path);
  return path;
}

std::string save(const Case& given, const std::string& name) {
  const std::filesystem::path path = folder() / name;
  std::ofstream(path, std::ios::binary) << to_text(given);
  return path.string();
}

// Whether it fails in this way; a crash is a difference.
bool fails(const Case& given, Verdict how) {
  const auto ask = [&] {
    try {
      return compare(given, replay::cpu()).verdict == how;
    } catch (const Error&) {  // it is no case
      return false;
    }
  };
  return how == Verdict::Differs ? true_or_dead(ask) : ask();
}

void report(const std::vector<Case>& cases, const Outcome& outcome, uint64_t seed) {
  const auto fails_so = [&](const Case& given) { return fails(given, outcome.verdict); };
  const std::string name = fmt::format("failed.{}.txt", seed);
  for (const Case& given : cases) {
    if (!fails_so(given)) continue;
    const Case small = setting("TENON_FUZZ_SHRINK", 1) != 0 ? shrink(given, fails_so) : given;
    ADD_FAILURE() << "seed " << seed << ": " << outcome.message << "\n"
                  << to_text(small) << "tenon replay " << save(small, name);
    return;
  }
  ADD_FAILURE() << "seed " << seed << ", only after another run: " << outcome.message << "\n"
                << to_text(cases[0]) << "tenon replay " << save(cases[0], name);
}

// An error before the graph runs at all is a failure, too, and the next graph is to be had.
Outcome compare_or_error(const graph::Graph& graph, const std::vector<Case>& cases,
                         const replay::Device& device) {
  try {
    return compare(graph, cases, device);
  } catch (const std::exception& error) {
    return {Verdict::Differs, error.what()};
  }
}

// Each op, dtype and part of a schedule must occur so often in so many graphs.
constexpr int64_t kLeastOften = 50, kOfGraphs = 20000;

TEST(RandomGraphs, ComputeWhatTheInterpreterDoes) {
  const int64_t first = setting("TENON_FUZZ_SEED", 1);
  const int64_t few = TENON_ADDRESS_SANITIZER ? 12 : 200;
  const int64_t count = setting("TENON_FUZZ_COUNT", full_tests() ? kOfGraphs : few);
  const bool isolated = setting("TENON_FUZZ_ISOLATED", 0) != 0;
  const int64_t most_failures = setting("TENON_FUZZ_FAILURES", 5);
  Coverage coverage;
  const replay::Device device =
      replay::cpu([&](const kernel::Kernel& kernel) { coverage.count(kernel); });
  int failures = 0;
  for (int64_t seed = first; seed < first + count && failures < most_failures; ++seed) {
    GraphWriter writer(static_cast<uint64_t>(seed));
    const Case one = writer.write(static_cast<int>(writer.number(2, 40)));
    const std::vector<Case> cases{one, writer.again(one)};
    save(one, "current.txt");  // for a crash
    if (isolated && true_or_dead([&] { return compare(one.graph, cases, device), false; })) {
      report(cases, {Verdict::Differs, "it crashes"}, static_cast<uint64_t>(seed));
      ++failures;
      continue;
    }
    const Outcome outcome = compare_or_error(one.graph, cases, device);
    if (outcome.verdict == Verdict::Same) coverage.count(one.graph);
    if (outcome.verdict != Verdict::Same) {
      report(cases, outcome, static_cast<uint64_t>(seed));
      ++failures;
    }
  }
  std::filesystem::remove(folder() / "current.txt");
  fmt::print("[ COVERAGE ] {} graphs: {}\n", count, coverage.to_string());
  const std::vector<std::string> rare = coverage.below(kLeastOften * count / kOfGraphs);
  EXPECT_TRUE(rare.empty()) << fmt::format("too rare: {}", fmt::join(rare, ", "));
}

}  // namespace
}  // namespace tenon::differential
