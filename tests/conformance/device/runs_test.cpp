// Every way of running gives the same numbers, at any shape. The graph: y = relu(x @ w + b), and
// the sums of y's rows; computed by hand here.
#include <algorithm>

#include "tests/conformance/device/subject.h"
#include "tests/temp_file.h"

namespace tenon::device_test {
namespace {

constexpr int64_t kIn = 3, kOut = 2;
const std::vector<float> kWeights = {1, -1, 2, 0.5F, -3, 1};
const std::vector<float> kBias = {0.25F, -0.5F};

class DeviceRuns : public DeviceSuite {
 protected:
  static CompiledGraph compiled() {
    Graph g;
    const Value x = g.input("x", {{Symbol("rows", {0, 4096}), kIn}, DType::F32});
    const Value y = g.relu(g.add(g.matmul(x, g.param("w", {{kIn, kOut}, DType::F32})),
                                 g.param("b", {{kOut}, DType::F32})));
    g.set_outputs({{"y", y}, {"sum", g.reduce_sum(y, {1})}});
    CompiledGraph graph = compile(g);
    graph.set_param("w", kWeights);
    graph.set_param("b", kBias);
    return graph;
  }
};

struct Case {
  explicit Case(int64_t rows, float bias_scale = 1) : shape{rows, kIn} {
    for (int64_t i = 0; i < rows * kIn; ++i) x.push_back(static_cast<float>(i * 5 % 11) / 4 - 1);
    for (size_t row = 0; row < static_cast<size_t>(rows); ++row) {
      sum.push_back(0);
      for (size_t column = 0; column < kOut; ++column) {
        float value = kBias[column] * bias_scale;
        for (size_t k = 0; k < kIn; ++k) value += x[row * kIn + k] * kWeights[k * kOut + column];
        y.push_back(std::max(value, 0.F));
        sum.back() += y.back();
      }
    }
  }
  NamedInputs inputs() const { return {{"x", view(x, shape)}}; }

  std::vector<int64_t> shape;
  std::vector<float> x, y, sum;
};

TEST_P(DeviceRuns, TakeAnyShape) {
  CompiledGraph graph = compiled();
  for (const int64_t rows : {1, 7, 64, 3, 0, 1000, 7}) {
    const Case c(rows);
    const auto outputs = graph.run(c.inputs());
    ASSERT_EQ(outputs.size(), 2u);
    expect(outputs[0], c.y);
    expect(outputs[1], c.sum);
  }
}

TEST_P(DeviceRuns, GiveTypedOutputsAndThoseAskedFor) {
  CompiledGraph graph = compiled();
  const Case c(5);
  const auto typed = graph.run_typed(c.inputs());
  EXPECT_EQ(typed[1].name, "sum");
  EXPECT_EQ(typed[1].shape, (std::vector<int64_t>{5, 1}));
  expect(floats(typed[0]), c.y);
  const auto some = graph.run_read_outputs(c.inputs(), std::vector<int>{1, 0, 1});
  ASSERT_EQ(some.size(), 3u);
  expect(some[0], c.sum);
  expect(some[1], c.y);
  expect(some[2], c.sum);
  expect(graph.read_output_row(0, 3, kOut).value(), {c.y[6], c.y[7]});
  EXPECT_EQ(graph.read_output_row(0, 5, kOut), std::nullopt);
  EXPECT_EQ(graph.read_output_row(2, 0, 1), std::nullopt);
}

TEST_P(DeviceRuns, WriteWhereTheyAreTold) {
  CompiledGraph graph = compiled();
  const Case c(6);
  std::vector<float> y(12, -7), sum(6, -7);
  graph.run_into(c.inputs(), {{"y", {y.data(), DType::F32, {6, kOut}}},
                              {"sum", {sum.data(), DType::F32, {6, 1}}}});
  expect(y, c.y);
  expect(sum, c.sum);
}

TEST_P(DeviceRuns, ShowTheirOwnMemory) {
  CompiledGraph graph = compiled();
  for (const int64_t rows : {4, 9}) {
    const Case c(rows);
    expect(floats(graph.run_raw(c.inputs())[0]), c.y);
    graph.set_extents({{"rows", rows}});
    const auto bytes = std::as_bytes(std::span(c.x));
    const auto slots = graph.run_slots(std::vector{bytes});
    const auto* sum = reinterpret_cast<const float*>(graph.arena_ptr() + slots[1].offset);
    expect({sum, sum + slots[1].length / 4}, c.sum);
  }
}

TEST_P(DeviceRuns, TakeNewParameters) {
  CompiledGraph graph = compiled();
  expect(graph.run(Case(3).inputs())[0], Case(3).y);
  graph.set_param("b", std::vector<float>{2 * kBias[0], 2 * kBias[1]});
  expect(graph.run(Case(3).inputs())[0], Case(3, 2).y);
}

TEST_P(DeviceRuns, OfClonesAreTheirOwn) {
  CompiledGraph graph = compiled();
  const Case c(8);
  graph.run(c.inputs());
  CompiledGraph clone = graph.clone();
  clone.set_param("b", std::vector<float>{2 * kBias[0], 2 * kBias[1]});
  const auto& kept = graph.run_raw(c.inputs());
  expect(clone.run(c.inputs())[0], Case(8, 2).y);
  expect(floats(kept[0]), c.y);
  expect(graph.run(c.inputs())[0], c.y);
}

TEST_P(DeviceRuns, AreWaitedForLater) {
  CompiledGraph graph = compiled();
  for (const int64_t rows : {2, 900, 5}) {
    Case c(rows);
    graph.commit_no_wait(c.inputs());
    c.x.assign(c.x.size(), 100);  // read already
  }
  expect(floats(graph.sync_pending()[0]), Case(5).y);
  std::vector<Case> cases;
  std::vector<NamedInputs> sets;
  for (int64_t rows = 1; rows < 40; rows += 3) cases.emplace_back(rows);
  for (const Case& c : cases) sets.push_back(c.inputs());
  const auto results = graph.run_pipelined(sets);
  ASSERT_EQ(results.size(), cases.size());
  for (size_t i = 0; i < cases.size(); ++i) {
    expect(floats(results[i][0]), cases[i].y);
    expect(floats(results[i][1]), cases[i].sum);
  }
  std::vector<std::vector<float>> own;
  std::vector<NamedOutputs> outputs;
  for (const auto& set : results) {
    outputs.emplace_back();
    for (const OwnedTensor& tensor : set) {
      own.emplace_back(tensor.as<float>().size());
      outputs.back()[tensor.name] = {own.back().data(), DType::F32, tensor.shape};
    }
  }
  graph.run_pipelined_into(sets, outputs);
  for (size_t i = 0; i < cases.size(); ++i) {
    expect(own[2 * i], cases[i].y);
    expect(own[2 * i + 1], cases[i].sum);
  }
}

TEST_P(DeviceRuns, AreTheSameFromAFile) {
  const TempFile file(".tenon");
  compiled().save(file.path());
  CompiledGraph loaded = CompiledGraph::load(file.path());
  EXPECT_EQ(loaded.device(), *GetParam().options.device);
  expect(loaded.run(Case(11).inputs())[0], Case(11).y);
}

TENON_ON_EVERY_DEVICE(DeviceRuns);

}  // namespace
}  // namespace tenon::device_test
