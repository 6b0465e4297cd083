// Runs that are begun and waited for later, and several in one call. The graph: y = x * w, and n =
// the places of x that are not zero, whose count only the run knows. Computed by hand here.
#include <gtest/gtest.h>

#include "tenon/tenon.h"
#include "tests/error_of.h"

namespace tenon {
namespace {

CompiledGraph compile_model() {
  Graph g;
  const Value x = g.input("x", {{Symbol("rows", {1, 64})}, DType::F32});
  const Value w = g.param("w", {{1}, DType::F32});
  g.set_outputs(
      {{"y", g.mul(x, w)},
       {"n", g.op1("non_zero", {x}, {{"count", std::vector<Dim>{Symbol("found", {0, 64})}}})}});
  CompiledGraph graph = Session().compile(g);
  graph.set_param("w", std::vector<float>{3});
  return graph;
}

NamedInputs inputs(const std::vector<float>& x) {
  return {{"x", view(x, {static_cast<int64_t>(x.size())})}};
}

std::vector<float> floats(const TensorView& view) {
  const auto* data = static_cast<const float*>(view.data);
  return {data, data + view.shape[0]};
}
std::vector<float> floats(const OwnedTensor& tensor) {
  const auto* data = reinterpret_cast<const float*>(tensor.bytes.data());
  return {data, data + tensor.shape[0]};
}

TEST(AsynchronousRuns, TheLastOfSeveralIsThereAfterSync) {
  CompiledGraph graph = compile_model();
  EXPECT_TRUE(graph.sync_pending().empty());
  std::vector<float> x = {1, 0, 2};
  graph.commit_no_wait(inputs(x));
  x = {4, 5};  // read already
  graph.commit_no_wait(inputs(x));
  x.clear();
  const auto& outputs = graph.sync_pending();
  ASSERT_EQ(outputs.size(), 2u);
  EXPECT_EQ(floats(outputs[0]), (std::vector<float>{12, 15}));
  EXPECT_EQ(outputs[1].shape, (std::vector<int64_t>{1, 2}));
  EXPECT_EQ(graph.read_output_row(0, 1, 1), std::vector<float>{15});
  EXPECT_EQ(&graph.sync_pending(), &outputs);  // again: they stay
}

TEST(AsynchronousRuns, OtherCallsComeAfterWhatIsPending) {
  CompiledGraph graph = compile_model();
  const std::vector<float> x = {1, 0, 2};
  graph.commit_no_wait(inputs(x));
  graph.set_param("w", std::vector<float>{5});
  EXPECT_EQ(floats(graph.sync_pending()[0]), (std::vector<float>{3, 0, 6}));
  graph.commit_no_wait(inputs(x));
  CompiledGraph other = graph.clone();
  EXPECT_EQ(other.run(inputs(x))[0], (std::vector<float>{5, 0, 10}));
  EXPECT_TRUE(compile_model().sync_pending().empty());
  graph.run_typed(inputs(x));  // whose outputs are the caller's
  EXPECT_TRUE(graph.sync_pending().empty());
}

TEST(AsynchronousRuns, WhatIsRefusedLeavesTheRunBefore) {
  CompiledGraph graph = compile_model();
  const std::vector<float> x = {1, 2};
  graph.commit_no_wait(inputs(x));
  EXPECT_NE(error_of([&] { graph.commit_no_wait({}); }).find("\"x\""), std::string::npos);
  EXPECT_NE(error_of([&] {
              graph.commit_no_wait(inputs(x), {.memory_limit = -1});
            }).find("-1 bytes makes no sense"),
            std::string::npos);
  EXPECT_EQ(floats(graph.sync_pending()[0]), (std::vector<float>{3, 6}));
  std::stop_source stop;
  stop.request_stop();
  EXPECT_THROW(graph.commit_no_wait(inputs(x), {.stop = stop.get_token()}), Cancelled);
  EXPECT_TRUE(graph.sync_pending().empty());
  EXPECT_EQ(graph.run(inputs(x))[0], (std::vector<float>{3, 6}));
}

TEST(AsynchronousRuns, OnACpuFindTheirFaultsWhenTheyAreBegun) {
  Graph g;
  const Value table = g.input("table", {{3}, DType::F32}), at = g.input("at", {{1}, DType::I64});
  g.set_outputs({{"y", g.gather(table, at, 0)}});
  CompiledGraph graph = Session(Device::Cpu()).compile(g);
  const std::vector<float> rows = {1, 2, 3};
  const std::vector<int64_t> there = {2}, nowhere = {7};
  graph.commit_no_wait({{"table", rows}, {"at", there}});
  const auto fails = [&] { graph.commit_no_wait({{"table", rows}, {"at", nowhere}}); };
  EXPECT_NE(user_error_of(fails).find("index 7"), std::string::npos) << user_error_of(fails);
  EXPECT_TRUE(graph.sync_pending().empty());  // and nothing is left to say
  graph.commit_no_wait({{"table", rows}, {"at", there}});
  EXPECT_EQ(floats(graph.sync_pending()[0]), std::vector<float>{3});
}

TEST(AsynchronousRuns, PipelinedSetsEachHaveTheirOutputs) {
  CompiledGraph graph = compile_model();
  std::vector<std::vector<float>> sets;
  for (int i = 1; i <= 9; ++i) sets.emplace_back(static_cast<size_t>(i * 7 % 10 + 1), i % 3);
  std::vector<NamedInputs> named;
  for (const auto& x : sets) named.push_back(inputs(x));
  const auto results = graph.run_pipelined(named);
  ASSERT_EQ(results.size(), sets.size());
  for (size_t i = 0; i < sets.size(); ++i) {
    std::vector<float> expected = sets[i];
    for (float& value : expected) value *= 3;
    EXPECT_EQ(results[i][0].name, "y");
    EXPECT_EQ(floats(results[i][0]), expected);
    const int64_t found = sets[i][0] == 0 ? 0 : static_cast<int64_t>(sets[i].size());
    EXPECT_EQ(results[i][1].shape, (std::vector<int64_t>{1, found}));
  }
  EXPECT_TRUE(graph.run_pipelined({}).empty());
}

TEST(AsynchronousRuns, PipelinedSetsAreWrittenWhereTheCallerSays) {
  CompiledGraph graph = compile_model();
  const std::vector<std::vector<float>> sets = {{1, 0, 2}, {7}, {4, 5}};
  std::vector<std::vector<float>> y = {{-1, -1, -1, -1}, {-1, -1}, {-1, -1, -1}};
  std::vector<std::vector<int64_t>> n = {{-1, -1}, {-1}, {-1, -1}};
  std::vector<NamedInputs> named;
  std::vector<NamedOutputs> outputs;
  for (size_t i = 0; i < sets.size(); ++i) {
    const auto rows = static_cast<int64_t>(sets[i].size()),
               found = static_cast<int64_t>(n[i].size());
    named.push_back(inputs(sets[i]));
    outputs.push_back(
        {{"y", {y[i].data(), DType::F32, {rows}}}, {"n", {n[i].data(), DType::I64, {1, found}}}});
  }
  graph.run_pipelined_into(named, outputs);
  EXPECT_EQ(y, (std::vector<std::vector<float>>{{3, 0, 6, -1}, {21, -1}, {12, 15, -1}}));
  EXPECT_EQ(n, (std::vector<std::vector<int64_t>>{{0, 2}, {0}, {0, 1}}));
  graph.run_pipelined_into({}, {});
  // What is refused, is before anything runs or says with which set.
  y[0].assign(4, -1);
  EXPECT_EQ(error_of([&] { graph.run_pipelined_into(named, {outputs[0]}); }),
            "[run_pipelined_into] 3 sets of inputs, but 1 of outputs");
  outputs[2].erase("y");
  EXPECT_TRUE(error_of([&] {
                graph.run_pipelined_into(named, outputs);
              }).starts_with("set 2 of 3: missing output \"y\""));
  EXPECT_EQ(y[0][0], -1);
  outputs[2] = outputs[0];
  EXPECT_TRUE(
      error_of([&] { graph.run_pipelined_into(named, outputs); }).starts_with("set 2 of 3: "));
}

TEST(AsynchronousRuns, AnErrorOfAPipelineSaysInWhichSet) {
  CompiledGraph graph = compile_model();
  const std::vector<float> x = {1, 2};
  EXPECT_NE(error_of([&] { graph.run_pipelined({inputs(x), {}, inputs(x)}); }).find("set 1 of 3: "),
            std::string::npos);
  std::stop_source stop;
  stop.request_stop();
  EXPECT_THROW(graph.run_pipelined({inputs(x)}, {.stop = stop.get_token()}), Cancelled);
  EXPECT_EQ(graph.run_pipelined({inputs(x)}).size(), 1u);
}

}  // namespace
}  // namespace tenon
