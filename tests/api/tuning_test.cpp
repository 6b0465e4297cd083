// Tuning through the public API: a report, a file of schedules that later compiles take, the same
// bits, and options that make no sense as errors.
#include <gtest/gtest.h>

#include <cmath>
#include <fstream>
#include <sstream>

#include "tenon/tenon.h"
#include "tests/error_of.h"
#include "tests/temp_file.h"

namespace tenon {
namespace {

bool contains(const std::string& text, const std::string& part) {
  return text.find(part) != std::string::npos;
}

std::vector<float> numbers(int64_t count) {
  std::vector<float> values(static_cast<size_t>(count));
  for (size_t i = 0; i < values.size(); ++i) values[i] = std::sin(static_cast<float>(i * i % 997));
  return values;
}

Graph model() {
  Graph g;
  const Value x = g.input("x", {{sym::batch(), 48}, DType::F32});
  const auto values = numbers(48 * 80);
  const Value w = g.param("w", {{48, 80}, DType::F32}, std::as_bytes(std::span(values)));
  g.set_outputs({{"y", g.gelu(g.matmul(x, w))}});
  return g;
}

std::vector<float> run(CompiledGraph graph) {
  const auto x = numbers(30 * 48);
  return graph.run({{"x", view(x, {30, 48})}})[0];
}

// What is found here stays here.
CompileOptions searching() {
  return {.optimizer = OptStrategy::Beam{2},
          .beam = BeamConfig{.timeout = 2, .typical = {{"batch", 16}}},
          .disk_cache = false};
}

std::string contents(const std::string& path) {
  std::ostringstream text;
  text << std::ifstream(path).rdbuf();
  return text.str();
}

TEST(Tuning, ReportsEachKernel) {
  int calls = 0;
  CompileOptions options = searching();
  options.beam->progress = [&](const TuningProgress& now) {
    ++calls;
    EXPECT_EQ(now.kernel, 1);
    EXPECT_EQ(now.kernels, 1);
    EXPECT_FALSE(now.name.empty());
    EXPECT_GE(now.tried, 0);
    EXPECT_LE(now.best_ms, now.default_ms);
    return true;
  };
  const TuningReport report = Session().tune(model(), options);
  ASSERT_EQ(report.kernels.size(), 1U);
  const TunedKernel& kernel = report.kernels[0];
  EXPECT_EQ(calls > 1, kernel.candidates > 0);
  EXPECT_FALSE(kernel.found);
  EXPECT_GT(kernel.rounds, 0);
  EXPECT_EQ(kernel.dropped, 0);
  EXPECT_GT(kernel.seconds, 0);
  EXPECT_LE(kernel.seconds, report.seconds);
  EXPECT_EQ(kernel.choice.empty(), kernel.default_ms == kernel.tuned_ms);
  EXPECT_EQ(report.extents, (DimBinding{{"batch", 16}}));
  EXPECT_FALSE(report.stopped);
  EXPECT_TRUE(contains(report.to_string(), kernel.name));
}

TEST(Tuning, IsAFileThatLaterCompilesTake) {
  const TempFile file(".tuned");
  const TuningReport report = Session().tune(model(), searching());
  report.save(file.path());
  EXPECT_EQ(contents(file.path()), report.schedules);
  const std::vector<float> expected = run(Session().compile(model()));
  EXPECT_EQ(run(Session().compile(model(), {.tuned = file.path()})), expected);
  // A search finds nothing left to do.
  CompileOptions options = searching();
  options.tuned = file.path();
  const TuningReport again = Session().tune(model(), options);
  EXPECT_TRUE(again.kernels[0].found);
  EXPECT_EQ(again.schedules, report.schedules);
}

TEST(Tuning, OfACompileGivesTheSameBits) {
  EXPECT_EQ(run(Session().compile(model(), searching())), run(Session().compile(model())));
}

TEST(Tuning, OfAModuleIsThatOfItsGraph) {
  HirModule m;
  const HirValue x = m.input("x", {{sym::batch(), 16}, DType::F32});
  m.set_outputs({{"y", m.op1("softmax", {x}, {{"axis", int64_t{-1}}})}});
  EXPECT_EQ(Session().tune(m, searching()).kernels.size(), 1U);
}

TEST(Tuning, ThatIsStoppedReportsWhatWasTuned) {
  CompileOptions options = searching();
  options.beam->progress = [](const TuningProgress&) { return false; };
  const TuningReport report = Session().tune(model(), options);
  EXPECT_TRUE(report.stopped);
  EXPECT_TRUE(report.kernels.empty());
  EXPECT_TRUE(contains(error_of([&] { Session().compile(model(), options); }), "[tune] stopped"));
}

TEST(Tuning, RefusesWhatMakesNoSense) {
  const auto text = [](const CompileOptions& options) {
    return error_of([&] { Session().compile(model(), options); });
  };
  CompileOptions options = searching();
  options.optimizer = OptStrategy::Analytic{};
  EXPECT_TRUE(contains(text(options), "the optimizer is not OptStrategy::Beam"));
  options = searching();
  options.beam->typical = {{"seq", 3}};
  EXPECT_TRUE(contains(text(options), "there is no dim \"seq\"; there are: batch"));
  options.beam = BeamConfig{.timeout = 0};
  EXPECT_TRUE(contains(text(options), "must be above 0"));
  options.beam = BeamConfig{.compile_timeout = 0, .max_ops = 0, .margin = -1};
  EXPECT_TRUE(contains(text(options), "must be above 0"));
  options.beam = BeamConfig{.helper = "/nowhere/tenon"};
  EXPECT_TRUE(contains(text(options), "/nowhere/tenon cannot be run"));
  EXPECT_TRUE(contains(text({.tuned = "/nowhere/file"}), "/nowhere/file cannot be read"));
  EXPECT_TRUE(contains(text({.optimizer = OptStrategy::Plain{}, .tuned = "x"}), "contradict"));
  EXPECT_TRUE(
      contains(text({.device = Device::Cuda(), .cuda_arch = 90, .tuned = "x"}), "for CPUs"));
  EXPECT_TRUE(contains(error_of([] { Session(Device::Null()).tune(model()); }), "for CPUs"));
  EXPECT_TRUE(
      contains(error_of([] { Session().tune_onnx("/nowhere/x.onnx"); }), "/nowhere/x.onnx"));
}

TEST(Tuning, IsAStrategyWithAWidth) {
  EXPECT_EQ(to_string(OptStrategy::parse("beam:8")), "beam:8");
  EXPECT_EQ(OptStrategy::parse("beam"), OptStrategy(OptStrategy::Beam{}));
  EXPECT_EQ(OptStrategy(OptStrategy::Beam{.width = 3}).beam_width(), 3);
  EXPECT_EQ(OptStrategy().beam_width(), 0);
  for (const char* name : {"beam:", "beam:0", "beam:65", "beam:4x", "beams"})
    EXPECT_THROW(OptStrategy::parse(name), Error) << name;
}

}  // namespace
}  // namespace tenon
