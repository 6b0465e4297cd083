// Branches and loops on every device: one branch runs, a loop as often as data says, with what each
// of its rounds gives in a row; and a loop without an end is stopped from outside. By hand.
#include <chrono>
#include <thread>

#include "tests/conformance/device/subject.h"

namespace tenon::device_test {
namespace {

using DeviceControl = DeviceSuite;
using Floats = std::vector<float>;

std::shared_ptr<const Graph> body(BinaryKind kind, double by) {
  auto inner = std::make_shared<Graph>();
  const Value in = inner->input("in0", {{3}, DType::F32});
  inner->set_outputs({{"out0", inner->binary(kind, in, inner->scalar(DType::F32, by))}});
  return inner;
}

TEST_P(DeviceControl, TakesTheBranchThatDataSays) {
  Graph g;
  const Value flag = g.input("flag", {{}, DType::Bool});
  const Value x = g.input("x", {{3}, DType::F32});
  g.set_outputs({{"y", g.op1("if", {flag, x, x},
                             {{"then", body(BinaryKind::Mul, 2)},
                              {"else", body(BinaryKind::Sub, 1)},
                              {"extents", std::vector<Dim>{3}}})}});
  unless_lacking(Lacks::ControlFlow, [&] {
    CompiledGraph graph = compile(g);
    const std::vector<float> values = {1, 2, 3};
    for (const bool taken : {true, false}) {
      const TensorView flag_view(&taken, DType::Bool, {});
      const auto y = graph.run({{"flag", flag_view}, {"x", view(values, {3})}})[0];
      expect(y, taken ? std::vector<float>{2, 4, 6} : std::vector<float>{0, 1, 2});
    }
  });
}

// x, doubled so often.
Graph doubling() {
  Graph g;
  const Value trips = g.input("trips", {{}, DType::I64});
  const Value x = g.input("x", {{3}, DType::F32});
  auto inner = std::make_shared<Graph>();
  inner->input("in0", {{}, DType::I64});
  const Value go = inner->input("in1", {{}, DType::Bool});
  const Value carried = inner->input("in2", {{3}, DType::F32});
  inner->set_outputs({{"out0", go}, {"out1", inner->add(carried, carried)}});
  g.set_outputs({{"y", g.op1("loop", {trips, g.scalar(DType::Bool, 1), x},
                             {{"body", std::shared_ptr<const Graph>(inner)},
                              {"carried", int64_t{1}},
                              {"extents", std::vector<Dim>{3}}})}});
  return g;
}

TEST_P(DeviceControl, RunsALoopAsOftenAsDataSays) {
  unless_lacking(Lacks::ControlFlow, [&] {
    CompiledGraph graph = compile(doubling());
    const std::vector<float> values = {1, 2, 3};
    for (const int64_t count : {0, 1, 10}) {
      const TensorView count_view(&count, DType::I64, {});
      const auto factor = static_cast<float>(int64_t{1} << count);
      expect(graph.run({{"trips", count_view}, {"x", view(values, {3})}})[0],
             {factor, 2 * factor, 3 * factor});
    }
  });
}

// The rows `at` of a table: a fault where they are not there.
std::shared_ptr<const Graph> looked_up() {
  auto inner = std::make_shared<Graph>();
  const Value table = inner->input("in0", {{3}, DType::F32});
  inner->set_outputs({{"out0", inner->gather(table, inner->input("in1", {{3}, DType::I64}), 0)}});
  return inner;
}

TEST_P(DeviceControl, RunsNoBranchThatIsNotTaken) {
  Graph g;
  const Value flag = g.input("flag", {{}, DType::Bool});
  const Value x = g.input("x", {{3}, DType::F32}), at = g.input("at", {{3}, DType::I64});
  g.set_outputs({{"y", g.op1("if", {flag, x, at, x},
                             {{"then", looked_up()},
                              {"else", body(BinaryKind::Mul, 2)},
                              {"extents", std::vector<Dim>{3}}})}});
  unless_lacking(Lacks::ControlFlow, [&] {
    CompiledGraph graph = compile(g);
    const Floats values = {1, 2, 3};
    std::vector<int64_t> places = {2, 0, 7};
    const auto run = [&](bool taken) {
      return graph.run({{"flag", TensorView(&taken, DType::Bool, {})},
                        {"x", view(values, {3})},
                        {"at", view(places, {3})}})[0];
    };
    expect(run(false), {2, 4, 6});
    expect_refused([&] { run(true); }, "7");
    places[2] = 1;
    expect(run(true), {3, 1, 2});
  });
}

// Each round doubles what is carried, and gives it as it was before, plus the number of the round.
Graph stacking() {
  Graph g;
  const Value trips = g.input("trips", {{}, DType::I64});
  const Value x = g.input("x", {{2}, DType::F32});
  auto inner = std::make_shared<Graph>();
  const Value round = inner->cast(inner->input("in0", {{}, DType::I64}), DType::F32);
  const Value go = inner->input("in1", {{}, DType::Bool});
  const Value carried = inner->input("in2", {{2}, DType::F32});
  inner->set_outputs(
      {{"out0", go}, {"out1", inner->add(carried, carried)}, {"out2", inner->add(carried, round)}});
  const Dim rounds = Symbol("rounds", {0, 64});
  const auto results = g.op("loop", {trips, g.scalar(DType::Bool, 1), x},
                            {{"body", std::shared_ptr<const Graph>(inner)},
                             {"carried", int64_t{1}},
                             {"extents", std::vector<Dim>{2, rounds, 2}}});
  g.set_outputs({{"last", results[0]}, {"stacked", results[1]}});
  return g;
}

TEST_P(DeviceControl, StacksWhatEachRoundOfALoopGives) {
  unless_lacking(Lacks::ControlFlow, [&] {
    CompiledGraph graph = compile(stacking());
    const Floats x = {1, 3};
    for (const int64_t trips : {3, 0, 1, 5}) {
      Floats last = x, stacked;
      for (int64_t round = 0; round < trips; ++round) {
        for (float& value : last) {
          stacked.push_back(value + static_cast<float>(round));
          value *= 2;
        }
      }
      const auto outputs =
          graph.run_typed({{"trips", TensorView(&trips, DType::I64, {})}, {"x", view(x, {2})}});
      expect(floats(outputs[0]), last);
      EXPECT_EQ(outputs[1].shape, (std::vector<int64_t>{trips, 2}));
      expect(floats(outputs[1]), stacked);
    }
  });
}

TEST_P(DeviceControl, StopsOnTheWayWhenItIsToldTo) {
  unless_lacking(Lacks::ControlFlow, [&] {
    CompiledGraph graph = compile(doubling());
    const Floats x = {0, 0, 0};
    const auto run = [&](int64_t trips, const RunOptions& options) {
      return graph.run({{"trips", TensorView(&trips, DType::I64, {})}, {"x", view(x, {3})}},
                       options)[0];
    };
    expect(run(2, {}), x);
    std::stop_source stop;
    const std::jthread other([&] {
      std::this_thread::sleep_for(std::chrono::milliseconds(20));
      stop.request_stop();
    });
    constexpr int64_t kDays = int64_t{1} << 40;
    EXPECT_THROW(run(kDays, {.stop = stop.get_token()}), Cancelled);
    expect(run(3, {}), x);
    EXPECT_THROW(run(3, {.stop = stop.get_token()}), Cancelled);
    expect(run(3, {}), x);
  });
}

TENON_ON_EVERY_DEVICE(DeviceControl);

}  // namespace
}  // namespace tenon::device_test
