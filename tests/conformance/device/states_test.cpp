// What every device keeps between runs: states, handles, outputs that feed inputs, and the rows of
// a bucket past the active ones. Computed by hand.
#include "tests/conformance/device/subject.h"

namespace tenon::device_test {
namespace {

using Floats = std::vector<float>;

class DeviceStates : public DeviceSuite {
 protected:
  // log f32[2, past] grows by x; y is the sum of its rows.
  static CompiledGraph begun() {
    Graph g;
    const Value log =
        g.state("log", {{2, sym::past()}, DType::F32}, {.axis = 1, .capacity = kCapacity});
    const Value x = g.input("x", {{2, sym::seq()}, DType::F32});
    g.set_outputs({{"y", g.reduce_sum(g.update(log, x, sym::past()), {1})}});
    CompiledGraph graph = compile(g);
    graph.bind_handle("log", TensorView(nullptr, DType::F32, {2, 0}));
    return graph;
  }
  static NamedInputs rows(const Floats& x) {
    return {{"x", view(x, {2, static_cast<int64_t>(x.size()) / 2})}};
  }
  static void expect_log(CompiledGraph& graph, const Floats& expected) {
    const OwnedTensor log = graph.read_handle("log").value();
    EXPECT_EQ(log.shape, (std::vector<int64_t>{2, static_cast<int64_t>(expected.size()) / 2}));
    expect(floats(log), expected);
  }
  // y = x + x + d
  static CompiledGraph doubling() {
    Graph g;
    const Value x = g.input("x", {{Symbol("n", {1, 8})}, DType::F32});
    g.set_outputs({{"y", g.add(g.add(x, x), g.input("d", {{1}, DType::F32}))}});
    return compile(g);
  }
  static constexpr int64_t kCapacity = 4;
};

TEST_P(DeviceStates, GrowFromRunToRun) {
  CompiledGraph graph = begun();
  expect(graph.run(rows({1, 2}))[0], {1, 2});
  expect(graph.run(rows({3, 4, 5, 6}))[0], {8, 13});
  expect_log(graph, {1, 3, 4, 2, 5, 6});
  expect_refused([&] { graph.run(rows({1, 1, 1, 1})); }, "\"log\"");  // more than there is room for
  expect_log(graph, {1, 3, 4, 2, 5, 6});
  graph.commit_no_wait(rows({1, 1}));
  expect_log(graph, {1, 3, 4, 1, 2, 5, 6, 1});
  expect(floats(graph.sync_pending()[0]), {9, 14});
}

TEST_P(DeviceStates, AreTrimmedForkedAndCloned) {
  CompiledGraph graph = begun();
  graph.run(rows({1, 2, 3, 4}));
  const Handle fork = graph.fork_handle("log");
  CompiledGraph clone = graph.clone();
  graph.trim_handle("log", 1);
  expect(graph.run(rows({10, 20}))[0], {11, 23});
  expect(clone.run(rows({1, 1}))[0], {4, 8});
  expect_log(graph, {1, 10, 3, 20});
  graph.bind_handle("log", fork);
  clone.bind_handle("log", fork);
  expect(graph.run(rows({5, 6}))[0], {8, 13});
  expect_log(clone, {1, 2, 3, 4});
  graph.unbind_handle("log");
  EXPECT_FALSE(graph.has_handle("log"));
  expect_refused([&] { graph.run(rows({1, 1})); }, "\"log\"");
}

TEST_P(DeviceStates, AreRefusedWhereTheyDoNotFit) {
  CompiledGraph graph = begun();
  const Floats five(10, 1);
  expect_refused([&] { graph.bind_handle("log", view(five, {2, 5})); }, "capacity 4");
  expect_refused([&] { graph.bind_handle("log", view(five, {10})); }, "f32[10]");
  expect_refused([&] { graph.bind_handle("none", view(five, {10})); }, "\"none\"");
  expect_refused([&] { graph.run({{"x", view(five, {2, 5})}, {"log", view(five, {2, 5})}}); },
                 "\"log\"");
  expect(graph.run(rows({1, 2}))[0], {1, 2});
}

TEST_P(DeviceStates, HandlesFeedEveryRunThatIsPipelined) {
  CompiledGraph graph = doubling();
  const Floats x = {1, 2, 3}, d = {1}, other = {0};
  graph.bind_handle("x", view(x, {3}));
  const auto results = graph.run_pipelined({{{"d", d}}, {{"d", other}}, {{"d", d}}});
  ASSERT_EQ(results.size(), 3u);
  expect(floats(results[0][0]), {3, 5, 7});
  expect(floats(results[1][0]), {2, 4, 6});
  expect(floats(results[2][0]), {3, 5, 7});
}

TEST_P(DeviceStates, OutputsFeedTheNextRun) {
  CompiledGraph graph = doubling();
  graph.bind_handle("x", view(Floats{1, 2}, {2}));
  graph.set_handle_feed("x", "y");
  const Floats d = {1};
  expect(graph.run({{"d", d}})[0], {3, 5});
  expect(graph.run_feed_handle({{"d", d}}), {7, 11});
  graph.run_into({{"d", d}}, {});
  expect(floats(*graph.read_handle("x")), {15, 23});
}

TEST_P(DeviceStates, OfABucketKeepTheRowsPastTheActiveOnes) {
  Graph g;
  const Value x = g.input("x", {{8, 2}, DType::F32});
  g.set_outputs({{"y", g.add(x, x)}, {"turned", g.neg(g.transpose(x, {1, 0}))}});
  CompiledGraph graph = compile(g);
  const Floats all(16, 1), two = {5, 6, 7, 8};
  graph.set_active_extent(8, 8);
  graph.run({{"x", view(all, {8, 2})}});
  graph.set_active_extent(2, 8);
  const auto outputs = graph.run({{"x", view(two, {2, 2})}});
  Floats y(16, 2), turned(16, -1);
  for (const size_t i : {0, 1, 2, 3}) y[i] = 2 * two[i];
  for (const size_t i : {0, 1, 8, 9}) turned[i] = -two[i % 8 * 2 + i / 8];
  expect(outputs[0], y);
  expect(outputs[1], turned);
  graph.clear_active_extent();
  expect(graph.run({{"x", view(all, {8, 2})}})[0], Floats(16, 2));
}

TENON_ON_EVERY_DEVICE(DeviceStates);

}  // namespace
}  // namespace tenon::device_test
