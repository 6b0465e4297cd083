// Ops that move by data: corners that the node cases of ONNX leave out. Expected values are worked
// out by hand.
#include <gtest/gtest.h>

#include <cmath>
#include <limits>

#include "tests/graph/tensors.h"

namespace tenon::graph {
namespace {

constexpr double kNan = std::numeric_limits<double>::quiet_NaN();

// One op on these tensors, with a fresh symbol for each extent that the op defines.
struct OneOp {
  Graph g;
  std::vector<Value> operands;
  std::map<std::string, Tensor> inputs;

  explicit OneOp(std::vector<Tensor> tensors) {
    for (Tensor& tensor : tensors) {
      const std::string name = "in" + std::to_string(inputs.size());
      std::vector<Dim> dims(tensor.shape.begin(), tensor.shape.end());
      operands.push_back(g.input(name, {Shape(dims), tensor.dtype}));
      inputs[name] = std::move(tensor);
    }
  }
  std::vector<Dim> fresh(int count) {
    std::vector<Dim> dims;
    for (int i = 0; i < count; ++i) dims.emplace_back(g.fresh_symbol("step", {0, kDimInf}));
    return dims;
  }
  std::vector<Tensor> run(Op op, Attributes attributes) {
    std::vector<Output> outputs;
    for (const Value& value : g.apply_all(op, operands, std::move(attributes))) {
      outputs.push_back({"y" + std::to_string(outputs.size()), value});
    }
    g.set_outputs(std::move(outputs));
    verify(g);
    return interpret(g, inputs);
  }
};

std::string text(const char* word) { return word; }

Tensor reshape(Tensor x, const std::vector<double>& target, const std::string& mode, int rank) {
  OneOp op({std::move(x), i64({static_cast<int64_t>(target.size())}, target)});
  return op.run(Op::ReshapeTo, {{"mode", mode}, {"shape", op.fresh(rank)}})[0];
}

TEST(ReshapeTo, KeepsExtentsAtZeroAndDerivesTheOneAtMinusOne) {
  const Tensor x = f32({2, 3, 2}, std::vector<double>(12, 1));
  EXPECT_EQ(reshape(x, {0, -1}, "shape", 2).shape, (std::vector<int64_t>{2, 6}));
  EXPECT_EQ(reshape(f32({0, 3}, {}), {3, 0}, "exact", 2).shape, (std::vector<int64_t>{3, 0}));
  EXPECT_EQ(reshape(x, {-1, 0}, "unsqueeze", 5).shape, (std::vector<int64_t>{1, 2, 3, 2, 1}));
}

TEST(ReshapeTo, RejectsTargetsThatDoNotFit) {
  const Tensor x = f32({2, 3}, std::vector<double>(6, 1));
  for (const std::vector<double>& target :
       std::vector<std::vector<double>>{{4, -1}, {-1, -1}, {-2, 3}, {2, 2}}) {
    EXPECT_NE(error_of([&] { reshape(x, target, "shape", 2); }).find("User [reshape_to] [2, 3]"),
              std::string::npos);
  }
  EXPECT_EQ(error_of([&] { reshape(x, {0}, "squeeze", 1); }),
            "User [reshape_to] axis 0 of [2, 3] has not the extent 1");
  EXPECT_EQ(error_of([&] { reshape(x, {1, 1}, "unsqueeze", 4); }),
            "User [reshape_to] axis 1 is named twice");
}

Tensor slice(Tensor x, double start, double end, double step) {
  OneOp op({std::move(x), i64({1}, {start}), i64({1}, {end}), i64({1}, {0}), i64({1}, {step})});
  return op.run(Op::SliceTo, {{"shape", op.fresh(1)}})[0];
}

TEST(SliceTo, ClampsToTheAxis) {
  const Tensor x = f32({4}, {0, 1, 2, 3});
  EXPECT_EQ(numbers(slice(x, -3, 1e15, 2)), (std::vector<double>{1, 3}));
  EXPECT_EQ(numbers(slice(x, 1e15, -1e18, -3)), (std::vector<double>{3, 0}));
  EXPECT_EQ(numbers(slice(x, 3, 1, 1)), (std::vector<double>{}));
  EXPECT_EQ(numbers(slice(x, -9, 9, 9e18)), (std::vector<double>{0}));
  EXPECT_EQ(numbers(slice(f32({0}, {}), -1, -9, -1)), (std::vector<double>{}));
  EXPECT_EQ(error_of([&] { slice(x, 0, 4, 0); }), "User [slice_to] a step is 0");
}

TEST(Split, ReadsItsPartsFromData) {
  const auto run = [](const std::vector<double>& parts) {
    OneOp op({f32({1, 3}, {1, 2, 3}), i64({2}, parts)});
    return op.run(Op::Split, {{"axis", int64_t{1}}, {"extents", op.fresh(2)}});
  };
  EXPECT_EQ(numbers(run({0, 3})[1]), (std::vector<double>{1, 2, 3}));
  EXPECT_EQ(numbers(run({2, 1})[0]), (std::vector<double>{1, 2}));
  EXPECT_EQ(error_of([&] { run({2, 2}); }), "User [split] the parts exceed axis 1 of [1, 3]");
  EXPECT_EQ(error_of([&] { run({1, 1}); }), "User [split] the parts are 2 of axis 1 of [1, 3]");
  EXPECT_EQ(error_of([&] { run({4, -1}); }), "User [split] the parts exceed axis 1 of [1, 3]");
}

Tensor pad(Tensor x, const std::vector<double>& pads, const char* mode) {
  OneOp op({std::move(x), i64({2}, pads), i64({1}, {-1})});
  const int rank = static_cast<int>(op.operands[0].shape().rank());
  return op.run(Op::Pad, {{"mode", text(mode)}, {"shape", op.fresh(rank)}})[0];
}

TEST(Pad, RepeatsAsOftenAsNeeded) {
  const Tensor x = f32({3}, {1, 2, 3});
  EXPECT_EQ(numbers(pad(x, {5, 0}, "reflect")), (std::vector<double>{2, 1, 2, 3, 2, 1, 2, 3}));
  EXPECT_EQ(numbers(pad(x, {4, 1}, "wrap")), (std::vector<double>{3, 1, 2, 3, 1, 2, 3, 1}));
  EXPECT_EQ(numbers(pad(f32({1}, {7}), {1, 2}, "reflect")), (std::vector<double>{7, 7, 7, 7}));
  EXPECT_EQ(numbers(pad(x, {-1, 2}, "constant")), (std::vector<double>{2, 3, 0, 0}));
  EXPECT_EQ(numbers(pad(f32({0}, {}), {1, 1}, "constant")), (std::vector<double>{0, 0}));
  EXPECT_EQ(error_of([&] { pad(f32({0}, {}), {1, 1}, "edge"); }),
            "User [pad] an empty axis has nothing to repeat");
}

TEST(Range, StopsBeforeTheLimit) {
  const auto run = [](DType dtype, double start, double limit, double delta) {
    OneOp op({tensor(dtype, {}, {start}), tensor(dtype, {}, {limit}), tensor(dtype, {}, {delta})});
    return numbers(op.run(Op::Range, {{"shape", op.fresh(1)}})[0]);
  };
  EXPECT_EQ(run(DType::I16, 5, -2, -3), (std::vector<double>{5, 2, -1}));
  EXPECT_EQ(run(DType::I64, 5, 5, 1), (std::vector<double>{}));
  EXPECT_EQ(run(DType::F64, 0, 1, 0.25), (std::vector<double>{0, 0.25, 0.5, 0.75}));
  EXPECT_EQ(run(DType::F32, 1, 0, 0.5), (std::vector<double>{}));
  EXPECT_EQ(error_of([&] { run(DType::I32, 0, 1, 0); }), "User [range] delta is 0");
}

TEST(Gather, ByPositionCountsFromTheEndAndStaysInside) {
  const auto run = [](const std::vector<double>& at) {
    OneOp op({f32({2, 3}, {0, 1, 2, 3, 4, 5}), i64({1, 2}, at)});
    return numbers(op.run(Op::GatherND, {{"batch_dims", int64_t{0}}})[0]);
  };
  EXPECT_EQ(run({-1, -3}), (std::vector<double>{3}));
  EXPECT_EQ(error_of([&] { run({0, 3}); }), "User [gather_nd] index 3 is outside axis 1 of [2, 3]");
}

TEST(Scatter, TakesTheLastUpdateOrReducesThem) {
  const auto run = [](DType dtype, const char* reduction, const std::vector<double>& data,
                      const std::vector<double>& updates) {
    OneOp op({tensor(dtype, {2}, data), i64({2}, {0, -2}), tensor(dtype, {2}, updates)});
    return numbers(
        op.run(Op::ScatterElements, {{"axis", int64_t{0}}, {"reduction", text(reduction)}})[0]);
  };
  EXPECT_EQ(run(DType::Bool, "none", {1, 1}, {1, 0}), (std::vector<double>{0, 1}));
  EXPECT_EQ(run(DType::I8, "add", {100, 1}, {20, 20}), (std::vector<double>{-116, 1}));
  EXPECT_EQ(run(DType::U64, "max", {1, 1}, {0x1p63, 2}), (std::vector<double>{0x1p63, 1}));
  EXPECT_EQ(run(DType::F16, "mul", {2, 1}, {3, 4}), (std::vector<double>{24, 1}));
  EXPECT_TRUE(std::isnan(run(DType::F32, "min", {1, 1}, {kNan, 0})[0]));
}

TEST(NonZero, FindsNanButNotMinusZero) {
  OneOp op({f32({2, 2}, {-0.0, kNan, 3, 0})});
  const Tensor found = op.run(Op::NonZero, {{"count", op.fresh(1)}})[0];
  EXPECT_EQ(found.shape, (std::vector<int64_t>{2, 2}));
  EXPECT_EQ(numbers(found), (std::vector<double>{0, 1, 1, 0}));
}

TEST(NonZero, DefinesASymbolForWhatOnlyNamesIt) {
  Graph g;
  const Value x = g.input("x", {{3}, DType::F32});
  const Dim count = g.fresh_symbol("count", {0, 3});
  const Value found = g.apply(Op::NonZero, {x}, {{"count", std::vector<Dim>{count}}});
  g.set_outputs(
      {{"shape", g.shape_of(found)}, {"zeros", g.expand(g.scalar(DType::F32, 0), {count * 2})}});
  const std::map<std::string, Tensor> inputs{{"x", f32({3}, {1, 0, 2})}};
  const auto check = [&](const Graph& graph) {
    const std::vector<Tensor> results = interpret(graph, inputs);
    EXPECT_EQ(numbers(results[0]), (std::vector<double>{1, 2}));
    EXPECT_EQ(results[1].shape, (std::vector<int64_t>{4}));
  };
  check(g);
  check(parse(print(g)));
  check(
      rebuild(g, [](Graph&, const Node&, std::span<const Value>) { return std::vector<Value>(); }));
}

TEST(TopK, PutsNanAboveEverythingAndTheLowerIndexFirst) {
  const auto run = [](double k, int64_t largest) {
    OneOp op({f32({1, 4}, {1, kNan, 3, 3}), i64({1}, {k})});
    const auto results =
        op.run(Op::TopK, {{"axis", int64_t{1}}, {"largest", largest}, {"count", op.fresh(1)}});
    return numbers(results[1]);
  };
  EXPECT_EQ(run(3, 1), (std::vector<double>{1, 2, 3}));
  EXPECT_EQ(run(4, 0), (std::vector<double>{0, 2, 3, 1}));
  EXPECT_EQ(run(0, 1), (std::vector<double>{}));
  EXPECT_EQ(error_of([&] { run(5, 1); }), "User [top_k] 5 of axis 1 of extent 4");
}

TEST(Unique, ComparesWholeSlicesAndCanKeepTheirOrder) {
  OneOp op({i64({2, 3}, {2, 1, 2, 0, 5, 0})});
  const auto results =
      op.run(Op::Unique, {{"axis", int64_t{1}}, {"sorted", int64_t{0}}, {"count", op.fresh(1)}});
  EXPECT_EQ(numbers(results[0]), (std::vector<double>{2, 1, 0, 5}));
  EXPECT_EQ(numbers(results[1]), (std::vector<double>{0, 1}));
  EXPECT_EQ(numbers(results[2]), (std::vector<double>{0, 1, 0}));
  EXPECT_EQ(numbers(results[3]), (std::vector<double>{2, 1}));
}

TEST(CountGrams, SkipsElementsInside) {
  OneOp op({i64({4}, {1, 2, 1, 3})});
  const Tensor counts = op.run(Op::CountGrams, {{"pool", std::vector<int64_t>{1, 1, 3}},
                                                {"lengths", std::vector<int64_t>{1, 2}},
                                                {"places", std::vector<int64_t>{2, 0}},
                                                {"skips", int64_t{2}},
                                                {"size", int64_t{3}}})[0];
  EXPECT_EQ(numbers(counts), (std::vector<double>{2, 0, 2}));  // (1, 3) at 2, 3 and at 0, 3
}

}  // namespace
}  // namespace tenon::graph
