// The whole compiler and the runtime against the interpreter: one compile, several extents, both
// instruction sets.
#include "driver/pipeline.h"

#include <gtest/gtest.h>

#include <cstring>

#include "tests/driver/encoder_graph.h"
#include "tests/driver/run_graph.h"
#include "tests/graph/tensors.h"
#include "tests/lower/graph_cases.h"
#include "tests/lower/index_cases.h"
#include "tests/lower/odd_graphs.h"

namespace tenon::graph_test {
namespace {

class PipelineTest : public ::testing::TestWithParam<GraphCase> {};

TEST_P(PipelineTest, GivesTheNumbersOfTheInterpreterAtEveryExtent) {
  const Graph g = GetParam().graph();
  for (const CpuIsa isa : isas_here()) {
    RunGraph compiled(g, isa);
    for (const Extents& extents : some_extents()) {
      const Tensors inputs = random_tensors(g, extents);
      const auto expected = graph::interpret(g, inputs);
      for (const int64_t spare : {0, 3}) {
        const auto actual = compiled.run(inputs, spare);
        for (size_t i = 0; i < expected.size(); ++i) {
          expect_close(actual[i], expected[i], 1e-5,
                       fmt::format("{} at {}spare {} on {}", g.outputs()[i].name, text_of(extents),
                                   spare, to_string(isa)));
        }
      }
    }
  }
}

INSTANTIATE_TEST_SUITE_P(Lookups, PipelineTest, ::testing::ValuesIn(lookup_cases()),
                         [](const auto& info) { return info.param.name; });
INSTANTIATE_TEST_SUITE_P(Lines, PipelineTest, ::testing::ValuesIn(line_cases()),
                         [](const auto& info) { return info.param.name; });
INSTANTIATE_TEST_SUITE_P(OddGraphs, PipelineTest, ::testing::ValuesIn(odd_cases()),
                         [](const auto& info) { return info.param.name; });
INSTANTIATE_TEST_SUITE_P(Graphs, PipelineTest, ::testing::ValuesIn(all_graphs()),
                         [](const auto& info) { return info.param.name; });

TEST(Pipeline, TellsWhatItFusedAndHowLongItTook) {
  const driver::Compiled compiled = driver::compile(encoder(2), {.cpu = cpu_info()});
  EXPECT_EQ(compiled.fusion.found("fused_attention"), 2);
  EXPECT_EQ(compiled.fusion.found("fused_layer_norm"), 5);
  EXPECT_EQ(compiled.times.front().pass, "active_extent");
  EXPECT_EQ(compiled.times.back().pass, "codegen");
}

// A guard of speed without a clock: loads at an index that is not plain are made lane by lane.
TEST(Pipeline, AttentionReadsItsMaskInVectors) {
  Graph g;
  const Value x = in(g, "x", {kB, kS, 32}), mask = in(g, "mask", {kB, 1, 1, kS});
  g.set_outputs({{"y", g.attention(x, x, x, {.heads = 2, .head_dim = 16, .mask = mask})}});
  std::string source;
  driver::Options options{.cpu = cpu_info()};
  options.dump = [&](std::string_view pass, const std::string& text) {
    if (pass == "source:attention") source = text;
  };
  driver::compile(g, options);
  ASSERT_NE(source.find("masked.load.v16f32"), std::string::npos);
  EXPECT_EQ(source.find("masked.load.v1f32"), std::string::npos);
}

TEST(Pipeline, EncoderGivesTheNumbersOfTheInterpreter) {
  const Graph g = encoder(2);
  for (const CpuIsa isa : isas_here()) {
    RunGraph compiled(g, isa);
    for (const auto& [batch, seq] : {std::pair{1, 1}, {2, 9}, {1, 66}}) {
      const Tensors inputs = encoder_inputs(g, batch, seq);
      expect_close(compiled.run(inputs)[0], graph::interpret(g, inputs)[0], 1e-5,
                   fmt::format("{}x{}", batch, seq));
    }
  }
}

TEST(Pipeline, PlansOfMemoryDifferInBytesOnly) {
  const Graph g = encoder(2);
  const Tensors inputs = encoder_inputs(g, 2, 19);
  const auto expected = graph::interpret(g, inputs);
  std::vector<int64_t> bytes;
  for (const plan::Mode mode : {plan::Mode::Arena, plan::Mode::Remap, plan::Mode::Disabled}) {
    RunGraph compiled(g, {.cpu = cpu_info(), .plan = plan::Options{mode, 256}});
    expect_close(compiled.run(inputs)[0], expected[0], 1e-5, "planned");
    EXPECT_EQ(compiled.program().plan.alignment, 256);
    bytes.push_back(evaluate(compiled.program().plan.bytes, {{"batch", 2}, {"seq", 19}}));
  }
  EXPECT_LE(bytes[0], bytes[1]);
  EXPECT_LT(bytes[1], bytes[2]);
}

TEST(Pipeline, EqualLayersAreCompiledOnce) {
  const RunGraph two(encoder(2)), six(encoder(6));
  EXPECT_EQ(two.kernels(), six.kernels());
  EXPECT_LT(two.kernels(), 20);
  const auto per_layer = (six.program().steps.size() - two.program().steps.size()) / 4;
  EXPECT_EQ(six.program().steps.size() - two.program().steps.size(), per_layer * 4);
  // q k v; keys and values packed, attention; projection, norm; two of the ffn, norm
  EXPECT_LE(per_layer, 9u);
}

TEST(Pipeline, NothingOfTheEncoderNeedsScoresInMemory) {
  const RunGraph run(encoder(2));
  for (const program::ArenaBuffer& buffer : run.program().arena) {
    const auto squared = [&](const Dim& d) {
      return evaluate(d, {{"batch", 1}, {"seq", 128}}) >
             4 * evaluate(d, {{"batch", 1}, {"seq", 64}});
    };
    EXPECT_FALSE(squared(buffer.bytes)) << buffer.bytes.to_string();
    EXPECT_LE(evaluate(buffer.bytes, {{"batch", 1}, {"seq", 128}}), 3 * 128 * 128 * 4);
  }
}

const std::vector<std::string>& pass_names() {
  static const std::vector<std::string> kNames = {
#define PASS(stage, name, function) #name,
#include "driver/passes.def"
#undef PASS
  };
  return kNames;
}

class SkipTest : public ::testing::TestWithParam<std::string> {};

TEST_P(SkipTest, ThePassCanBeSkippedWithTheSameNumbers) {
  const Graph g = encoder(2);
  RunGraph compiled(g, isas_here().back(), {GetParam()});
  const Tensors inputs = encoder_inputs(g, 2, 19);
  expect_close(compiled.run(inputs)[0], graph::interpret(g, inputs)[0], 1e-5, "skipped");
}

INSTANTIATE_TEST_SUITE_P(Passes, SkipTest, ::testing::ValuesIn(pass_names()),
                         [](const auto& info) { return info.param; });

TEST(Pipeline, FusionCanBeSkippedAltogether) {
  const Graph g = encoder(1);
  std::vector<std::string> skip;
  for (const std::string& name : pass_names()) {
    if (name.starts_with("fuse_")) skip.push_back(name);
  }
  RunGraph compiled(g, isas_here().back(), skip);
  const Tensors inputs = encoder_inputs(g, 2, 19);
  expect_close(compiled.run(inputs)[0], graph::interpret(g, inputs)[0], 1e-5, "skipped");
}

TEST(Pipeline, DumpsEachPassByName) {
  std::map<std::string, std::string> seen;
  driver::Options options;
  options.cpu = detect_cpu(CpuIsa::Avx2);
  options.dump = [&](std::string_view pass, const std::string& text) {
    seen[std::string(pass)] = text;
  };
  const driver::Compiled compiled = driver::compile(encoder(1), options);
  for (const std::string& name : pass_names()) EXPECT_FALSE(seen[name].empty()) << name;
  EXPECT_GE(compiled.times.size(), pass_names().size());
}

TEST(Pipeline, IndicesOutsideAreErrorsOfTheRun) {
  Graph g;
  const Value x = in(g, "x", {kB, 9}), ids = in(g, "ids", {kB, 2}, DType::I64);
  const auto along = [&](graph::Attributes a) { return a.set("axis", int64_t{1}), a; };
  g.set_outputs({{"elements", g.relu(g.apply(Op::GatherElements, {x, ids}, along({})))},
                 {"scatter", g.apply(Op::ScatterElements, {x, ids, in(g, "by", {kB, 2})},
                                     along({{"reduction", std::string("add")}}))}});
  RunGraph compiled(g, isas_here().back());
  Tensors inputs = random_tensors(g, {{"b", 20}});
  EXPECT_NO_THROW(compiled.run(inputs));
  for (const int64_t bad : {int64_t{9}, int64_t{-10}, INT64_MAX, INT64_MIN}) {
    std::memcpy(inputs.at("ids").bytes.data() + 8 * 35, &bad, sizeof bad);
    const std::string error = graph::error_of([&] { compiled.run(inputs); });
    EXPECT_TRUE(error.starts_with("User ")) << error;
  }
}

// Whether an axis is broadcast is known only when the extents are.
TEST(Pipeline, AnAxisMayTurnOutToBeBroadcast) {
  Graph g;
  const Value x = in(g, "x", {kB, kS}), z = in(g, "z", {kB, kT});
  g.set_outputs({{"y", g.add(x, z)}});
  RunGraph compiled(g, isas_here().back());
  for (const auto& [left, right] : {std::pair{5, 5}, {1, 17}, {17, 1}, {1, 1}}) {
    const Tensors inputs = random_tensors(g, {{"b", 3}, {"s", left}, {"t", right}});
    expect_close(compiled.run(inputs)[0], graph::interpret(g, inputs)[0], 1e-6,
                 fmt::format("{} and {}", left, right));
  }
  const Tensors inputs = random_tensors(g, {{"b", 3}, {"s", 5}, {"t", 3}});
  const std::string error = graph::error_of([&] { compiled.run(inputs); });
  EXPECT_TRUE(error.starts_with("User ")) << error;
  EXPECT_NE(error.find("add"), std::string::npos) << error;
}

TEST(Pipeline, ParametersMayChangeBetweenRuns) {
  Graph g;
  const Value x = in(g, "x", {kB, 4}), w = par(g, "w", {4, 4});
  g.set_outputs({{"y", g.matmul(x, w)}});
  RunGraph compiled(g);
  Tensors inputs = random_tensors(g, {{"b", 3}});
  for (unsigned seed = 0; seed < 3; ++seed) {
    inputs["w"] = random_tensor(w, {}, seed);
    expect_close(compiled.run(inputs)[0], graph::interpret(g, inputs)[0], 1e-6, "");
  }
}

}  // namespace
}  // namespace tenon::graph_test
