// What every device refuses, with the names in the message, and runs on after.
#include <atomic>
#include <thread>

#include "tests/conformance/device/subject.h"

namespace tenon::device_test {
namespace {

class DeviceRefusals : public DeviceSuite {
 protected:
  // y = table[indices] * w
  static CompiledGraph compiled() {
    Graph g;
    const Value table = g.input("table", {{Symbol("rows", {1, 64}), 2}, DType::F32});
    const Value indices = g.input("indices", {{Symbol("n", {1, 64})}, DType::I64});
    const Value w = g.param("w", {{2}, DType::F32});
    g.set_outputs({{"y", g.mul(g.gather(table, indices, 0), w)}});
    return compile(g);
  }
  static CompiledGraph ready() {
    CompiledGraph graph = compiled();
    graph.set_param("w", std::vector<float>{1, 10});
    return graph;
  }
  NamedInputs inputs() const {
    return {{"table", view(table_, {3, 2})}, {"indices", view(indices_, {2})}};
  }
  void expect_works(CompiledGraph& graph) const { expect(graph.run(inputs())[0], {5, 60, 1, 20}); }

  std::vector<float> table_ = {1, 2, 3, 4, 5, 6};
  std::vector<int64_t> indices_ = {2, 0};
};

TEST_P(DeviceRefusals, OfParametersThatAreNotSet) {
  CompiledGraph graph = compiled();
  expect_refused([&] { graph.run(inputs()); }, "\"w\"");
  expect_refused([&] { graph.set_param("v", std::vector<float>{1}); }, "\"v\"");
  expect_refused([&] { graph.set_param("w", std::vector<float>{1}); }, "\"w\"");
  graph.set_param("w", std::vector<float>{1, 10});
  expect_works(graph);
}

TEST_P(DeviceRefusals, OfInputs) {
  CompiledGraph graph = ready();
  const std::vector<float> small(3, 0);
  const auto with = [&](const std::string& name, const TensorView& given) {
    NamedInputs named = inputs();
    named[name] = given;
    return named;
  };
  expect_refused([&] { graph.run(with("other", view(small, {3}))); }, "\"other\"");
  expect_refused([&] { graph.run({{"table", view(table_, {3, 2})}}); }, "\"indices\"");
  expect_refused([&] { graph.run(with("table", view(table_, {2, 3}))); }, "\"table\"");
  expect_refused([&] { graph.run(with("indices", view(small, {3}))); }, "\"indices\"");
  const std::vector<int64_t> many(65, 0);
  expect_refused([&] { graph.run(with("indices", view(many, {65}))); }, "65");
  expect_refused([&] { graph.run_read_outputs(inputs(), std::vector<int>{1}); }, "1");
  expect_works(graph);
}

TEST_P(DeviceRefusals, OfIndicesOutOfRangeComeFromTheRun) {
  CompiledGraph graph = ready();
  indices_ = {0, 3};
  if (lacks(Lacks::Numbers)) {
    graph.run(inputs());
    return;
  }
  expect_refused([&] { graph.run(inputs()); }, "3");
  expect_refused(
      [&] {
        graph.commit_no_wait(inputs());
        graph.sync_pending();
      },
      "3");
  indices_ = {2, 0};
  expect_works(graph);
}

TEST_P(DeviceRefusals, OfRunsThatWereToldToStop) {
  CompiledGraph graph = ready();
  std::stop_source stop;
  stop.request_stop();
  if (!lacks(Lacks::Numbers)) {
    EXPECT_THROW(graph.run(inputs(), {.stop = stop.get_token()}), Cancelled);
  }
  expect_works(graph);
}

TEST_P(DeviceRefusals, OfRunsAboveTheirMemory) {
  Graph g;
  const Value x = g.input("x", {{Symbol("n", {1, 4096}), 64}, DType::F32});
  const Value w = g.param("w", {{64, 64}, DType::F32});
  g.set_outputs({{"y", g.softmax(g.matmul(g.softmax(g.matmul(x, w)), w))}});
  CompiledGraph graph = compile(g);
  graph.set_param("w", std::vector<float>(64 * 64, 0));
  const std::vector<float> values(1024 * 64, 1);
  const NamedInputs inputs = {{"x", view(values, {1024, 64})}};
  expect_refused([&] { graph.run(inputs, {.memory_limit = 1000}); }, "the limit is 1000");
  expect(graph.run(inputs)[0], std::vector<float>(1024 * 64, 1.F / 64));
}

TEST_P(DeviceRefusals, OfSeveralThreadsAtOnce) {
  CompiledGraph graph = ready();
  const std::string in_use = "in use by another thread";
  const auto run_until_refused = [&](const std::stop_token& stop) {
    while (!stop.stop_requested()) {
      if (error_of([&] { graph.run(inputs()); }).find(in_use) != std::string::npos) return true;
    }
    return false;
  };
  // One of the two meets the other, in a moment; each goes on until one was refused.
  std::stop_source enough;
  std::atomic<int> refused = 0;
  {
    std::vector<std::jthread> threads;
    for (int i = 0; i < 2; ++i) {
      threads.emplace_back([&] {
        refused += run_until_refused(enough.get_token()) ? 1 : 0;
        enough.request_stop();
      });
    }
  }
  EXPECT_GE(refused, 1);
  expect_works(graph);
}

TEST_P(DeviceRefusals, OfMovedOnesAndOfNoThreads) {
  CompiledGraph graph = ready();
  CompiledGraph moved = std::move(graph);
  // NOLINTNEXTLINE(bugprone-use-after-move): that is what is tested
  expect_refused([&] { graph.run(inputs()); }, "moved from");
  expect_works(moved);
  expect_refused([&] { moved.set_threads(0); }, "threads");
}

TENON_ON_EVERY_DEVICE(DeviceRefusals);

}  // namespace
}  // namespace tenon::device_test
