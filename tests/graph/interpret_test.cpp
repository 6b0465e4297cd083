// The interpreter against values worked out by hand or by a few lines of Python.
#include <gtest/gtest.h>

#include <cmath>
#include <limits>

#include "tests/graph/tensors.h"

namespace tenon::graph {
namespace {

constexpr double kInf = std::numeric_limits<double>::infinity();
constexpr double kNaN = std::numeric_limits<double>::quiet_NaN();

// Builds a graph whose inputs have the tensors' types, runs it and gives its first output.
Tensor run(const std::vector<Tensor>& tensors,
           const std::function<Value(Graph&, const std::vector<Value>&)>& build) {
  Graph g;
  std::vector<Value> inputs;
  std::map<std::string, Tensor> given;
  for (const Tensor& t : tensors) {
    const std::string name = fmt::format("x{}", inputs.size());
    inputs.push_back(
        g.input(name, {Shape(std::vector<Dim>(t.shape.begin(), t.shape.end())), t.dtype}));
    given[name] = t;
  }
  g.set_outputs({{"y", build(g, inputs)}});
  verify(g);
  return interpret(g, given)[0];
}

Tensor run_unary(Op op, const Tensor& x) {
  return run({x}, [&](Graph& g, const std::vector<Value>& in) { return g.unary(op, in[0]); });
}

Tensor run_binary(Op op, const Tensor& a, const Tensor& b) {
  return run({a, b},
             [&](Graph& g, const std::vector<Value>& in) { return g.binary(op, in[0], in[1]); });
}

TEST(Interpret, ComputesTheUnaryFunctions) {
  const Tensor x = f32({5}, {-2, -0.5, 0, 1, 3});
  expect_near(run_unary(Op::Neg, x), {2, 0.5, 0, -1, -3});
  expect_near(run_unary(Op::Abs, x), {2, 0.5, 0, 1, 3});
  expect_near(run_unary(Op::Relu, x), {0, 0, 0, 1, 3});
  expect_near(run_unary(Op::Exp, x), {0.135335283, 0.60653066, 1, 2.71828183, 20.0855369}, 2e-6);
  expect_near(run_unary(Op::Erf, x), {-0.995322265, -0.520499878, 0, 0.842700793, 0.99997791});
  expect_near(run_unary(Op::Tanh, x), {-0.96402758, -0.462117157, 0, 0.761594156, 0.995054754});
  expect_near(run_unary(Op::Sigmoid, x), {0.119202922, 0.377540669, 0.5, 0.731058579, 0.952574127});
  expect_near(run_unary(Op::Gelu, x), {-0.0455002639, -0.154268769, 0, 0.841344746, 2.99595031});
  expect_near(run_unary(Op::GeluTanh, x), {-0.0454023059, -0.15428599, 0, 0.841191991, 2.99636261});
  expect_near(run_unary(Op::Silu, x), {-0.238405844, -0.188770334, 0, 0.731058579, 2.85772238});
  expect_near(run_unary(Op::Sqrt, f32({2}, {4, 2})), {2, 1.41421356});
  expect_near(run_unary(Op::Log, f32({2}, {1, 10})), {0, 2.30258509});
  expect_near(run_unary(Op::Reciprocal, f32({2}, {4, -0.5})), {0.25, -2});
  EXPECT_EQ(numbers(run_unary(Op::Not, tensor(DType::Bool, {2}, {1, 0}))),
            (std::vector<double>{0, 1}));
}

TEST(Interpret, BroadcastsBinaryOperands) {
  const Tensor a = f32({2, 1}, {1, 10}), b = f32({3}, {1, 2, 3});
  EXPECT_EQ(numbers(run_binary(Op::Add, a, b)), (std::vector<double>{2, 3, 4, 11, 12, 13}));
  EXPECT_EQ(numbers(run_binary(Op::Sub, a, b)), (std::vector<double>{0, -1, -2, 9, 8, 7}));
  EXPECT_EQ(numbers(run_binary(Op::Mul, a, b)), (std::vector<double>{1, 2, 3, 10, 20, 30}));
  EXPECT_EQ(numbers(run_binary(Op::Less, a, b)), (std::vector<double>{0, 1, 1, 0, 0, 0}));
  EXPECT_EQ(numbers(run_binary(Op::LessEqual, a, b)), (std::vector<double>{1, 1, 1, 0, 0, 0}));
  EXPECT_EQ(numbers(run_binary(Op::Equal, a, b)), (std::vector<double>{1, 0, 0, 0, 0, 0}));
  EXPECT_EQ(numbers(run_binary(Op::Pow, b, f32({}, {2}))), (std::vector<double>{1, 4, 9}));
  EXPECT_EQ(numbers(run_binary(Op::Max, a, b)), (std::vector<double>{1, 2, 3, 10, 10, 10}));
}

TEST(Interpret, KeepsNaNInMinMaxReluAndComparesItUnequal) {
  const Tensor x = f32({3}, {kNaN, 1, kNaN}), y = f32({3}, {1, kNaN, kNaN});
  for (const Op op : {Op::Min, Op::Max}) {
    for (const double v : numbers(run_binary(op, x, y))) EXPECT_TRUE(std::isnan(v));
  }
  EXPECT_EQ(numbers(run_binary(Op::Equal, x, x)), (std::vector<double>{0, 1, 0}));
  EXPECT_TRUE(std::isnan(numbers(run_unary(Op::Relu, x))[0]));
}

TEST(Interpret, IntegersTruncateAndWrap) {
  const Tensor a = tensor(DType::I8, {5}, {7, -7, 100, -128, 5}),
               b = tensor(DType::I8, {5}, {2, 2, 100, -1, 0});
  EXPECT_EQ(numbers(run_binary(Op::Div, a, b)), (std::vector<double>{3, -3, 1, -128, 0}));
  EXPECT_EQ(numbers(run_binary(Op::Add, a, b)), (std::vector<double>{9, -5, -56, 127, 5}));
  EXPECT_EQ(numbers(run_unary(Op::Neg, a)), (std::vector<double>{-7, 7, -100, -128, -5}));
  const Tensor u = tensor(DType::U8, {2}, {200, 3}), v = tensor(DType::U8, {2}, {100, 5});
  EXPECT_EQ(numbers(run_binary(Op::Add, u, v)), (std::vector<double>{44, 8}));
  EXPECT_EQ(numbers(run_binary(Op::Sub, v, u)), (std::vector<double>{156, 2}));
  EXPECT_EQ(numbers(run_binary(Op::Pow, i64({3}, {2, -3, 5}), i64({3}, {10, 3, -1}))),
            (std::vector<double>{1024, -27, 0}));
}

TEST(Interpret, RoundsOnceToTheResultsDtype) {
  // 1 + 2^-11 lies halfway between two halves: ties go to even.
  const Tensor a = tensor(DType::F16, {2}, {1, 2048}), b = tensor(DType::F16, {2}, {0x1p-11, 1});
  EXPECT_EQ(numbers(run_binary(Op::Add, a, b)), (std::vector<double>{1, 2048}));
  const Tensor big = tensor(DType::F16, {1}, {65504});
  EXPECT_EQ(numbers(run_binary(Op::Add, big, big)), std::vector<double>{kInf});
}

TEST(Interpret, CastsSaturateTruncateAndKeepTruth) {
  const auto cast = [](const Tensor& x, DType to) {
    return numbers(
        run({x}, [&](Graph& g, const std::vector<Value>& in) { return g.cast(in[0], to); }));
  };
  EXPECT_EQ(cast(f32({4}, {-1.9, 300, kNaN, 2.5}), DType::U8), (std::vector<double>{0, 255, 0, 2}));
  EXPECT_EQ(cast(f32({3}, {0, -0.0, 0.1}), DType::Bool), (std::vector<double>{0, 0, 1}));
  EXPECT_EQ(cast(i64({2}, {256 + 7, -1}), DType::U8), (std::vector<double>{7, 255}));
  EXPECT_EQ(cast(i64({2}, {256, 0}), DType::Bool), (std::vector<double>{1, 0}));
}

TEST(Interpret, WhereChoosesByElement) {
  const Tensor condition = tensor(DType::Bool, {2, 1}, {1, 0});
  const Tensor result =
      run({condition, f32({2}, {1, 2}), f32({}, {9})},
          [](Graph& g, const std::vector<Value>& in) { return g.apply(Op::Where, in); });
  EXPECT_EQ(numbers(result), (std::vector<double>{1, 2, 9, 9}));
}

TEST(Interpret, MovesElements) {
  const Tensor x = f32({2, 3}, {0, 1, 2, 3, 4, 5});
  const auto moved = [&](const std::function<Value(Graph&, Value)>& build) {
    return numbers(
        run({x}, [&](Graph& g, const std::vector<Value>& in) { return build(g, in[0]); }));
  };
  using List = std::vector<double>;
  EXPECT_EQ(moved([](Graph& g, Value v) { return g.transpose(v, {1, 0}); }),
            (List{0, 3, 1, 4, 2, 5}));
  EXPECT_EQ(moved([](Graph& g, Value v) { return g.reshape(v, {3, 2}); }),
            (List{0, 1, 2, 3, 4, 5}));
  EXPECT_EQ(moved([](Graph& g, Value v) { return g.slice(v, {1, 2}, {2, 2}, {-1, -2}); }),
            (List{5, 3, 2, 0}));
  EXPECT_EQ(moved([](Graph& g, Value v) { return g.concat({v, v}, 1); }),
            (List{0, 1, 2, 0, 1, 2, 3, 4, 5, 3, 4, 5}));
  EXPECT_EQ(moved([](Graph& g, Value v) { return g.split(v, 1, {1, 2})[1]; }), (List{1, 2, 4, 5}));
  EXPECT_EQ(moved([](Graph& g, Value v) { return g.gather(v, g.integers({-1, 0}), 1); }),
            (List{2, 0, 5, 3}));
  EXPECT_EQ(moved([](Graph& g, Value v) {
              return g.expand(g.slice(v, {0, 0}, {2, 1}, {1, 1}), {2, 2, 2});
            }),
            (List{0, 0, 3, 3, 0, 0, 3, 3}));
}

TEST(Interpret, ReducesAndKeepsTheAxes) {
  const Tensor x = f32({2, 3}, {0, 1, 2, 3, 4, 8});
  const auto reduced = [&](Op op, std::vector<int64_t> axes) {
    return run({x},
               [&](Graph& g, const std::vector<Value>& in) { return g.reduce(op, in[0], axes); });
  };
  EXPECT_EQ(numbers(reduced(Op::ReduceSum, {1})), (std::vector<double>{3, 15}));
  EXPECT_EQ(numbers(reduced(Op::ReduceMean, {1})), (std::vector<double>{1, 5}));
  EXPECT_EQ(numbers(reduced(Op::ReduceMax, {0})), (std::vector<double>{3, 4, 8}));
  EXPECT_EQ(numbers(reduced(Op::ReduceMin, {0, 1})), std::vector<double>{0});
  EXPECT_EQ(reduced(Op::ReduceSum, {0, 1}).shape, (std::vector<int64_t>{1, 1}));
}

TEST(Interpret, ReductionsOfNothingGiveTheIdentity) {
  const auto reduced = [&](Op op, const Tensor& x) {
    return numbers(run(
        {x}, [&](Graph& g, const std::vector<Value>& in) { return g.reduce(op, in[0], {0}); }))[0];
  };
  EXPECT_EQ(reduced(Op::ReduceSum, f32({0}, {})), 0);
  EXPECT_EQ(reduced(Op::ReduceMax, f32({0}, {})), -kInf);
  EXPECT_EQ(reduced(Op::ReduceMin, tensor(DType::I8, {0}, {})), 127);
  EXPECT_EQ(reduced(Op::ReduceMax, tensor(DType::I8, {0}, {})), -128);
  EXPECT_EQ(reduced(Op::ReduceMin, tensor(DType::U16, {0}, {})), 65535);
}

TEST(Interpret, MultipliesMatricesWithBroadcastBatches) {
  const Tensor a = f32({2, 2, 3}, {-5, -4, -3, -2, -1, 0, 1, 2, 3, 4, 5, 6}),
               b = f32({3, 2}, {0, 1, 2, 3, 4, 5});
  const auto multiply = [](Graph& g, const std::vector<Value>& in) {
    return g.matmul(in[0], in[1]);
  };
  EXPECT_EQ(numbers(run({a, b}, multiply)),
            (std::vector<double>{-20, -32, -2, -5, 16, 22, 34, 49}));
  const Tensor p = tensor(DType::I8, {1, 2}, {100, 2}), q = tensor(DType::I8, {2, 1}, {2, 3});
  EXPECT_EQ(numbers(run({p, q}, multiply)), std::vector<double>{206 - 256});
}

TEST(Interpret, ComputesSoftmaxAlongAnyAxis) {
  const Tensor x = f32({2, 3}, {1, 2, 4, 0, -1, 5});
  const auto along = [&](int64_t axis) {
    return run({x}, [&](Graph& g, const std::vector<Value>& in) { return g.softmax(in[0], axis); });
  };
  expect_near(along(1),
              {0.0420100661, 0.114195199, 0.843794734, 0.00667641251, 0.0024561149, 0.990867473});
  expect_near(along(0),
              {0.731058579, 0.952574127, 0.268941421, 0.268941421, 0.0474258732, 0.731058579});
}

TEST(Interpret, NormalizesTheLastAxis) {
  const Tensor result =
      run({f32({2, 3}, {1, 2, 4, 0, -1, 5}), f32({3}, {1, 2, 0.5}), f32({3}, {0, 1, -1})},
          [](Graph& g, const std::vector<Value>& in) {
            return g.layer_norm(in[0], in[1], in[2], 1e-2);
          });
  expect_near(result,
              {-1.06562523, 0.467187385, -0.333984231, -0.507632199, -0.776712696, -0.302005727});
}

TEST(Interpret, LinearAddsTheBiasActivatesThenAddsTheResidual) {
  const std::vector<Tensor> in{f32({2, 3}, {1, 2, 4, 0, -1, 5}), f32({3, 2}, {1, -1, 2, 0, 0, 3}),
                               f32({2}, {0.5, -20}), f32({2, 2}, {1, 2, 3, 4})};
  const Tensor result = run(in, [](Graph& g, const std::vector<Value>& v) {
    return g.linear(v[0], v[1], v[2], v[3], Activation::Relu);
  });
  EXPECT_EQ(numbers(result), (std::vector<double>{6.5, 2, 3, 4}));  // x w = 5 11 -2 15
}

TEST(Interpret, AttentionSharesKeyHeadsAndAddsTheMask) {
  std::vector<double> q, k, v;
  for (int i = 0; i < 16; ++i) q.push_back(i % 5 / 2.0 - 1);
  for (int i = 0; i < 12; ++i) k.push_back(i % 7 / 2.0 - 1.5);
  for (int i = 0; i < 12; ++i) v.push_back(i % 3 - 1);
  const Tensor mask = f32({2, 3}, {0, -kInf, 1, 0, 0.5, 0});
  const Tensor result =
      run({f32({1, 2, 8}, q), f32({1, 3, 4}, k), f32({1, 3, 4}, v), mask},
          [](Graph& g, const std::vector<Value>& in) {
            return g.attention(in[0], in[1], in[2],
                               {.heads = 4, .head_dim = 2, .kv_heads = 2, .mask = in[3]});
          });
  expect_near(result, {0.230611253, -0.615305627, 0.5287355, -0.76436775, 0.268941421, 0.462117157,
                       0.30507987, 0.389840259, 0.042513687, 0.732639099, -0.230446898,
                       -0.218792032, 0.00944360359, 0.0611238188, -0.861028435, 0});
}

TEST(Interpret, ARowWithAllKeysMaskedGivesZero) {
  const Tensor ones = f32({1, 2, 2}, {1, 1, 1, 1}), mask = f32({2, 2}, {-kInf, -kInf, 0, 0});
  const Tensor result = run({ones, mask}, [](Graph& g, const std::vector<Value>& in) {
    return g.attention(in[0], in[0], in[0], {.heads = 1, .head_dim = 2, .mask = in[1]});
  });
  EXPECT_EQ(numbers(result), (std::vector<double>{0, 0, 1, 1}));
}

struct Binding : testing::Test {
  Graph g;
  Symbol seq{"seq", {1, 512}};
  Value x = g.input("x", {{sym::batch(), seq}, DType::F32});
  Value y = g.input("y", {{Dim(seq) + 2}, DType::F32});
  Binding() { g.set_outputs({{"z", g.shape_of(g.concat({x, x}, 1))}}); }
  std::string error(std::vector<int64_t> shape_x, std::vector<int64_t> shape_y) {
    return error_of([&] {
      const auto zeros = [](const std::vector<int64_t>& shape) {
        size_t count = 1;
        for (const int64_t extent : shape) count *= static_cast<size_t>(extent);
        return f32(shape, std::vector<double>(count));
      };
      interpret(g, {{"x", zeros(shape_x)}, {"y", zeros(shape_y)}});
    });
  }
};

TEST_F(Binding, FindsSymbolsFromTheShapesOfInputs) {
  const Tensor z = interpret(
      g, {{"x", f32({2, 3}, std::vector<double>(6))}, {"y", f32({5}, std::vector<double>(5))}})[0];
  EXPECT_EQ(numbers(z), (std::vector<double>{2, 6}));
}

TEST_F(Binding, ReportsExtentsThatDoNotFit) {
  EXPECT_EQ(error({2, 600}, {602}),
            "User extent seq = 600 of input \"x\" is outside its bounds 1..512");
  EXPECT_EQ(error({2, 3}, {6}), "User input \"y\" has extent 6 on axis 0, where seq + 2 is 5");
  EXPECT_EQ(error({2}, {6}), "User input \"x\" has the shape [2], but is f32[batch, seq]");
  EXPECT_EQ(error_of([&] { interpret(g, {}); }), "User input \"x\" is missing: f32[batch, seq]");
  EXPECT_EQ(error_of([&] { interpret(g, {{"x", i64({1, 1}, {0})}, {"y", f32({3}, {0, 0, 0})}}); }),
            "User [input] \"x\" is f32[batch, seq], but i64 was given");
}

TEST(Interpret, ChecksConstraintsBeforeItRuns) {
  Graph g;
  const Value x = g.input("x", {{2, sym::seq()}, DType::F32});
  g.set_outputs({{"y", g.matmul(x, g.constant({{1, 1}, DType::F32},
                                              {std::as_bytes(std::span("\0\0\0", 4)), nullptr}))}});
  EXPECT_EQ(
      error_of([&] { interpret(g, {{"x", f32({2, 2}, {0, 0, 0, 0})}}); }),
      "User [matmul] inner extents: f32[2, seq] x f32[1, 1]: needs seq == 1, but has 2 and 1");
}

TEST(Interpret, SolvesAnExpressionForItsLastUnknownSymbol) {
  Graph g;
  const Value x = g.input("x", {{Dim(sym::past()) * 2 + 1}, DType::F32});
  g.set_outputs({{"n", g.dims({sym::past()})}, {"x", x}});
  EXPECT_EQ(numbers(interpret(g, {{"x", f32({7}, std::vector<double>(7))}})[0]),
            std::vector<double>{3});
  EXPECT_EQ(error_of([&] { interpret(g, {{"x", f32({6}, std::vector<double>(6))}}); }),
            "User extent past*2 + 1 of input \"x\" does not determine its symbols");
}

TEST(Interpret, ReportsAnIndexOutOfRange) {
  EXPECT_EQ(error_of([] {
              run({f32({2, 3}, {0, 1, 2, 3, 4, 5}), i64({1}, {3})},
                  [](Graph& g, const std::vector<Value>& in) { return g.gather(in[0], in[1], 1); });
            }),
            "User [gather] index 3 is outside axis 1 of [2, 3]");
}

TEST(Interpret, ReadsParametersFromTheirInitialDataOrFromTheInputs) {
  Graph g;
  const std::vector<float> data{1, 2};
  const Value a = g.param("a", {{2}, DType::F32}, {std::as_bytes(std::span(data)), nullptr});
  const Value b = g.param("b", {{2}, DType::F32});
  g.set_outputs({{"y", g.add(a, b)}});
  EXPECT_EQ(numbers(interpret(g, {{"b", f32({2}, {10, 20})}})[0]), (std::vector<double>{11, 22}));
  EXPECT_EQ(error_of([&] { interpret(g, {}); }), "User parameter \"b\" is missing: f32[2]");
}

}  // namespace
}  // namespace tenon::graph
