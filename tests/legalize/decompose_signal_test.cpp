// Losses, Fourier transforms, frames, windows and mel filters against the ops themselves.
#include "tests/legalize/same_results.h"
#include "tests/legalize/some_tensors.h"

namespace tenon::legalize {
namespace {

using namespace graph;
using List = std::vector<int64_t>;

Graph loss_graph(std::optional<int64_t> ignore) {
  Graph g;
  const Dim n = Symbol("n", {0, 100});
  const Value x = g.input("x", {{n, 3, 2}, DType::F32});
  const Value target = g.input("target", {{n, 2}, DType::I64});
  const Value weight = g.input("weight", {{3}, DType::F32});
  Attributes attributes;
  if (ignore) attributes.set("ignore", *ignore);
  const std::vector<Value> parts = g.apply_all(Op::NllLoss, {x, target, weight}, attributes);
  g.set_outputs({{"loss", parts[0]}, {"weights", parts[1]}});
  EXPECT_FALSE(contains(decompose(g), Op::NllLoss));
  return g;
}

graph_test::Tensors targets(const List& classes) {
  const auto n = static_cast<int64_t>(classes.size() / 2);
  return {{"x", floats({n, 3, 2})},
          {"target", tensor(DType::I64, {n, 2}, classes)},
          {"weight", floats({3})}};
}

TEST(NllLoss, GathersItsTargets) {
  const Graph plain = loss_graph({}), ignoring = loss_graph(-100), first = loss_graph(0);
  for (const Graph* g : {&plain, &ignoring, &first}) {
    expect_same_results(*g, targets({0, 2, 1, 1, 2, 0}));
    expect_same_results(*g, targets({}));
    expect_same_error(*g, targets({3, 0}));
    expect_same_error(*g, targets({-1, 0}));
  }
  expect_same_results(ignoring, targets({-100, 2, 1, -100}));
}

struct Signal {
  int64_t parts;
  bool inverse, onesided;
};

// Length and axis are data, or constants where given.
Graph dft_graph(const Signal& s, std::optional<int64_t> length, std::optional<int64_t> axis) {
  Graph g;
  const Dim n = Symbol("n", {0, 100});
  const Value x = g.input("x", {{2, n, 3, s.parts}, DType::F32});
  const auto scalar = [&](const char* name, std::optional<int64_t> known) {
    return known ? g.dims({*known}, true) : g.input(name, {{}, DType::I64});
  };
  std::vector<Dim> shape = fresh(g, 3);
  shape.emplace_back(s.inverse && s.onesided ? 1 : 2);
  const Value y = g.apply(
      Op::Dft, {x, scalar("length", length), scalar("axis", axis)},
      {{"shape", shape}, {"inverse", int64_t{s.inverse}}, {"onesided", int64_t{s.onesided}}});
  g.set_outputs({{"y", y}});
  EXPECT_FALSE(contains(decompose(g), Op::Dft));
  return g;
}

constexpr Signal kSignals[] = {{1, false, false}, {2, false, false}, {1, false, true},
                               {2, true, false},  {1, true, false},  {2, true, true},
                               {2, false, true}};

TEST(Dft, AnyAxisAndLength) {
  for (const Signal& s : kSignals) {
    const Graph g = dft_graph(s, {}, {});
    const Tensor x = floats({2, 5, 3, s.parts});
    for (const int64_t length : {0, 1, 4, 5, 8}) {
      for (const int64_t axis : {0, 1, 2, -2, -4}) {
        SCOPED_TRACE(testing::Message() << length << " along " << axis);
        expect_same_results(g, {{"x", x}, {"length", integer(length)}, {"axis", integer(axis)}},
                            1e-4);
      }
    }
    for (const int64_t axis : {3, -1, -5}) {
      expect_same_error(g, {{"x", x}, {"length", integer(0)}, {"axis", integer(axis)}});
    }
    expect_same_error(g, {{"x", x}, {"length", integer(-1)}, {"axis", integer(1)}});
    const Tensor empty = floats({2, 0, 3, s.parts});
    expect_same_error(g, {{"x", empty}, {"length", integer(0)}, {"axis", integer(1)}});
  }
}

TEST(Dft, KnownAxisAndLength) {
  for (const Signal& s : kSignals) {
    const Tensor x = floats({2, 5, 3, s.parts});
    expect_same_results(dft_graph(s, 0, 1), {{"x", x}}, 1e-4);
    expect_same_results(dft_graph(s, 0, -2), {{"x", x}}, 1e-4);
    expect_same_results(dft_graph(s, 7, 1), {{"x", x}}, 1e-4);
    expect_same_results(dft_graph(s, {}, 1), {{"x", x}, {"length", integer(3)}}, 1e-4);
  }
}

TEST(Frames, StepsAndLengthsThatAreData) {
  Graph g;
  const Value x = g.input("x", {{2, Symbol("n", {0, 100}), 1}, DType::F32});
  const Value step = g.input("step", {{}, DType::I64}),
              length = g.input("length", {{}, DType::I64});
  const std::vector<Dim> own = fresh(g, 2);
  g.set_outputs({{"y", g.apply(Op::Frames, {x, step, length},
                               {{"shape", std::vector<Dim>{2, own[0], own[1], 1}}})}});
  const auto run = [&](int64_t by, int64_t of) {
    return graph_test::Tensors{
        {"x", floats({2, 9, 1})}, {"step", integer(by)}, {"length", integer(of)}};
  };
  for (const auto& [by, of] : {std::pair(1, 9), {2, 4}, {20, 3}, {3, 0}}) {
    expect_same_results(g, run(by, of));
  }
  for (const auto& [by, of] : {std::pair(0, 3), {1, 10}, {1, -1}})
    expect_same_error(g, run(by, of));
}

TEST(CosineWindow, OfAnySize) {
  for (const bool periodic : {false, true}) {
    Graph g;
    const Value size = g.input("size", {{}, DType::I32});
    g.set_outputs({{"y", g.apply(Op::CosineWindow, {size},
                                 {{"shape", fresh(g, 1)},
                                  {"dtype", DType::F32},
                                  {"coefficients", std::vector<double>{0.42, 0.5, 0.08}},
                                  {"periodic", int64_t{periodic}}})}});
    for (const int32_t n : {0, 1, 2, 10, 64}) {
      expect_same_results(g, {{"size", tensor(DType::I32, {}, std::vector<int32_t>{n})}});
    }
    expect_same_error(g, {{"size", tensor(DType::I32, {}, std::vector<int32_t>{-1})}});
  }
}

TEST(MelWeights, TrianglesOfTheSpectrum) {
  Graph g;
  const auto count = [&](const char* name) { return g.input(name, {{}, DType::I64}); };
  const auto hertz = [&](const char* name) { return g.input(name, {{}, DType::F32}); };
  const std::vector<Value> operands{count("bins"), count("length"), count("rate"), hertz("low"),
                                    hertz("high")};
  g.set_outputs(
      {{"y", g.apply(Op::MelWeights, operands, {{"shape", fresh(g, 2)}, {"dtype", DType::F32}})}});
  const auto run = [&](int64_t bins, int64_t length, int64_t rate, float low, float high) {
    return graph_test::Tensors{{"bins", integer(bins)},
                               {"length", integer(length)},
                               {"rate", integer(rate)},
                               {"low", tensor(DType::F32, {}, std::vector<float>{low})},
                               {"high", tensor(DType::F32, {}, std::vector<float>{high})}};
  };
  expect_same_results(g, run(8, 16, 8192, 0, 8192.0F / 2));
  expect_same_results(g, run(3, 64, 16000, 125, 7600));
  expect_same_results(g, run(20, 16, 8192, 0, 8192.0F / 2));  // edges that meet
  expect_same_error(g, run(8, 16, 8192, 0, 80000));
  expect_same_error(g, run(-1, 16, 8192, 0, 4096));
  expect_same_error(g, run(8, 16, 0, 0, 4096));
}

}  // namespace
}  // namespace tenon::legalize
