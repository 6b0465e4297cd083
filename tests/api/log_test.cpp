// What the log says of compiles, loads and runs, as a sink of the host hears it.
#include "tenon/log.h"

#include <fmt/format.h>
#include <gtest/gtest.h>
#include <unistd.h>

#include <algorithm>
#include <filesystem>
#include <regex>

#include "base/cpu_info.h"
#include "tenon/tenon.h"

namespace tenon {
namespace {

// Hears everything from a level on; afterwards the log is as it was.
class Listener {
 public:
  explicit Listener(LogLevel level) : before_(log_level()) {
    set_log_level(level);
    set_log_sink([this](LogLevel at, std::string_view message) {
      heard_.push_back({at, std::string(message)});
    });
  }
  ~Listener() {
    set_log_sink({});
    set_log_level(before_);
  }
  Listener(const Listener&) = delete;
  Listener& operator=(const Listener&) = delete;

  std::vector<std::string> lines(LogLevel level) const {
    std::vector<std::string> found;
    for (const auto& [at, message] : heard_) {
      if (at == level) found.push_back(message);
    }
    return found;
  }
  // The one line of a level that begins so.
  std::string line(LogLevel level, std::string_view begin) const {
    std::vector<std::string> found = lines(level);
    std::erase_if(found, [&](const std::string& text) { return !text.starts_with(begin); });
    EXPECT_EQ(found.size(), 1u) << begin;
    return found.empty() ? "" : found.front();
  }

 private:
  LogLevel before_;
  std::vector<std::pair<LogLevel, std::string>> heard_;
};

// Four products in a row, each of what was scaled before: x scaled, and three products that are
// scaled in place, take turns in two slots.
GraphModule chain(double scale) {
  return GraphModule::define("chain", [&](Graph& g) {
    Value x = g.input("x", {{sym::batch(), 16}, DType::F32});
    const Value w = g.param("w", {{16, 16}, DType::F32});
    for (int i = 0; i < 4; ++i) x = g.matmul(g.mul(x, g.scalar(DType::F32, scale)), w);
    return x;
  });
}

TEST(Log, SaysALineForEachCompile) {
  const Listener log(LogLevel::Info);
  const CompiledGraph compiled = Session().compile(chain(1.25));
  const std::string line = log.line(LogLevel::Info, "compiled chain for cpu in ");
  EXPECT_EQ(log.lines(LogLevel::Debug).size(), 0u);
  const CompileStats& stats = compiled.stats();
  EXPECT_GT(stats.kernels, 0);
  EXPECT_EQ(stats.kernels_from_cache, 0);
  EXPECT_NE(line.find(fmt::format("{:.1f} ms: {} kernels ({} compiled, 0 from the kernel cache), "
                                  "{} steps; arena ",
                                  stats.milliseconds, stats.kernels, stats.kernels, stats.steps)),
            std::string::npos)
      << line;
  const BufferPlan plan = CompilePipeline().compile_module(chain(1.25)).lir.plan();
  // Four values of 64 * 16 floats in memory for two: 8192 bytes, and as many saved.
  EXPECT_EQ(plan.buffers_reused, 2);
  EXPECT_TRUE(line.ends_with(" steps; arena 8.2 KB at batch = 64, 8.2 KB saved, 2 buffers reused"))
      << line;
}

TEST(Log, TellsKernelsThatTheCacheHas) {
  Session().compile(chain(1.5));
  const Listener log(LogLevel::Info);
  const CompiledGraph again = Session().compile(chain(1.5), {.name = "again"});
  EXPECT_EQ(again.stats().kernels_from_cache, again.stats().kernels);
  const std::string line = log.line(LogLevel::Info, "compiled again for cpu");
  const std::string counts =
      fmt::format("(0 compiled, {} from the kernel cache)", again.stats().kernels);
  EXPECT_NE(line.find(counts), std::string::npos) << line;
}

TEST(Log, SaysALineForEachLoad) {
  const std::string path =
      std::filesystem::path(testing::TempDir()) / fmt::format("tenon_log_test_{}.tenon", getpid());
  Session().compile(chain(1)).save(path);
  const Listener log(LogLevel::Info);
  const CompiledGraph loaded = CompiledGraph::load(path);
  std::filesystem::remove(path);
  EXPECT_EQ(
      log.line(LogLevel::Info, "loaded "),
      fmt::format("loaded {} for cpu {} in {:.1f} ms: {} kernels, {} steps, 0.0 MB of weights",
                  path, to_string(cpu_info().isa), loaded.stats().milliseconds,
                  loaded.stats().kernels, loaded.stats().steps));
}

TEST(Log, SaysALineForEachRunInEveryWayOfRunning) {
  CompiledGraph compiled = Session().compile(chain(1.25));
  compiled.set_param("w", std::vector<float>(16 * 16, 0.5f));
  const std::vector<float> x(3 * 16, 1);
  std::vector<float> y(3 * 16);
  const NamedInputs inputs = {{"x", view(x, {3, 16})}};
  const auto bytes = std::as_bytes(std::span(x));
  compiled.set_extents({{"batch", 3}});
  const auto run_all = [&] {
    compiled.run(inputs);
    compiled.run_typed(inputs);
    compiled.run_raw(inputs);
    compiled.run_into(inputs, {{"output", {y.data(), DType::F32, {3, 16}}}});
    compiled.run_slots(std::vector<std::span<const std::byte>>{bytes});
    compiled.commit_no_wait(inputs);
    compiled.sync_pending();
  };
  const Listener log(LogLevel::Debug);
  run_all();
  const std::vector<std::string> lines = log.lines(LogLevel::Debug);
  EXPECT_EQ(lines.size(), 6u);
  const std::regex expected(R"(ran chain in \d+\.\d{3} ms at batch = 3)");
  for (const std::string& line : lines) EXPECT_TRUE(std::regex_match(line, expected)) << line;
  compiled.run_pipelined({inputs, inputs});
  EXPECT_TRUE(log.lines(LogLevel::Debug).back().ends_with(" ms for 2 sets of inputs"));
  const Listener quiet(LogLevel::Info);
  run_all();
  EXPECT_EQ(quiet.lines(LogLevel::Debug).size(), 0u);
}

TEST(Log, OfOnePassIsItsTimeAndReportsFollow) {
  const Listener log(LogLevel::Debug);
  Session().compile(chain(1));
  for (const char* pass : {"simplify", "dispatch", "partition", "lower", "plan", "codegen"}) {
    const std::string line = log.line(LogLevel::Debug, fmt::format("chain: {} took ", pass));
    EXPECT_TRUE(line.ends_with(" ms")) << line;
  }
  log.line(LogLevel::Debug, "chain: fusion_report\n");
  log.line(LogLevel::Debug, "chain: dispatch_report\n");
}

TEST(Log, VerbosityOfACompileIsOfThatCompileAlone) {
  const Listener log(LogLevel::Warning);
  CompiledGraph compiled = Session().compile(chain(1), {.verbosity = Verbosity::Info});
  compiled.set_param("w", std::vector<float>(16 * 16, 0.5f));
  Session().compile(chain(1));
  const std::vector<float> x(16, 1);
  compiled.run({{"x", view(x, {1, 16})}});
  EXPECT_EQ(log.lines(LogLevel::Info).size(), 1u);
  EXPECT_EQ(log.lines(LogLevel::Debug).size(), 0u);
}

TEST(Log, SaysNothingBelowItsLevel) {
  for (const LogLevel level : {LogLevel::Error, LogLevel::Off}) {
    const Listener log(level);
    EXPECT_EQ(log_level(), level);
    Session().compile(chain(to_string(level) == "off" ? 5 : 6));
    for (const LogLevel each : {LogLevel::Debug, LogLevel::Info, LogLevel::Warning})
      EXPECT_TRUE(log.lines(each).empty()) << to_string(each);
  }
}

}  // namespace
}  // namespace tenon
