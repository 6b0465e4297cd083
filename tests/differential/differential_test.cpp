// Random graphs, compiled, against the interpreter. A graph that fails is made small and saved;
// `tenon replay FILE` runs it again. TENON_FUZZ_SEED starts elsewhere, TENON_FUZZ_COUNT sets how
// many.
#include <gtest/gtest.h>

#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <map>

#include "base/error.h"
#include "legalize/decompose.h"
#include "legalize/legalize.h"
#include "tests/differential/random_graph.h"
#include "tests/differential/shrink.h"
#include "tests/full.h"
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

bool is_supported(const graph::Graph& graph) {
  try {
    legalize::check_supported(legalize::decompose(graph));
    return true;
  } catch (const Error& error) {
    if (error.kind() == ErrorKind::Internal) throw;
    return false;
  }
}

// How often each op and dtype was compiled and compared.
struct Coverage {
  std::map<std::string, int> ops, dtypes;

  void count(const graph::Graph& graph) {
    for (const graph::Node* node : graph.topological()) {
      ++ops[std::string(graph::info(node->op()).text)];
      ++dtypes[std::string(to_string(node->types()[0].dtype))];
    }
  }
  void print() const {
    for (const auto* counts : {&ops, &dtypes}) {
      std::string line;
      for (const auto& [name, count] : *counts) line += fmt::format(" {}:{}", name, count);
      fmt::print("[ COVERAGE ]{}\n", line);
    }
  }
};

void report(const std::vector<Case>& cases, const Outcome& outcome, uint64_t seed) {
  const auto fails = [](const Case& given) {
    return compare(given, replay::cpu()).verdict == Verdict::Differs;
  };
  for (const Case& given : cases) {
    if (!fails(given)) continue;
    const Case small = shrink(given, fails);
    const std::string path = save(small, fmt::format("failed.{}.txt", seed));
    ADD_FAILURE() << "seed " << seed << ": " << compare(small, replay::cpu()).message << "\n"
                  << to_text(small) << "tenon replay " << path;
    return;
  }
  const std::string path = save(cases[0], fmt::format("failed.{}.txt", seed));
  ADD_FAILURE() << "seed " << seed << ", only after another run: " << outcome.message << "\n"
                << to_text(cases[0]) << "tenon replay " << path;
}

TEST(RandomGraphs, ComputeWhatTheInterpreterDoes) {
  const int64_t first = setting("TENON_FUZZ_SEED", 1);
  const int64_t count = setting("TENON_FUZZ_COUNT", full_tests() ? 20000 : 200);
  Coverage coverage;
  int refused = 0, failures = 0;
  for (int64_t seed = first; seed < first + count && failures < 5; ++seed) {
    GraphWriter writer(static_cast<uint64_t>(seed), is_supported);
    const Case one = writer.write(static_cast<int>(writer.number(2, 40)));
    const std::vector<Case> cases{one, writer.again(one)};
    save(one, "current.txt");  // for a crash
    const Outcome outcome = compare(one.graph, cases, replay::cpu());
    refused += outcome.verdict == Verdict::Refused ? 1 : 0;
    if (outcome.verdict == Verdict::Same) coverage.count(one.graph);
    if (outcome.verdict == Verdict::Differs) {
      report(cases, outcome, static_cast<uint64_t>(seed));
      ++failures;
    }
  }
  std::filesystem::remove(folder() / "current.txt");
  coverage.print();
  fmt::print("[ COVERAGE ] {} graphs, {} refused\n", count, refused);
  EXPECT_EQ(refused, 0) << "legalize took what a later stage refused";
}

}  // namespace
}  // namespace tenon::differential
