// Every elementwise op in every dtype that it has, reductions, contractions and attention in the
// floats and integers, against the interpreter: on both instruction sets, at several extents.
#include <gtest/gtest.h>

#include "tests/driver/run_graph.h"
#include "tests/graph/tensors.h"
#include "tests/lower/graph_cases.h"

namespace tenon::graph_test {
namespace {

// A few units in the last place: results inside of a kernel are not rounded to their dtype.
double tolerance(DType dtype) {
  if (dtype == DType::F64) return 1e-13;
  if (dtype == DType::F16) return 4e-3;
  return dtype == DType::BF16 ? 3e-2 : 1e-5;
}

void expect_compiled(const Graph& g, double limit) {
  for (const CpuIsa isa : isas_here()) {
    RunGraph compiled(g, isa);
    for (const Extents& extents :
         {Extents{{"b", 1}, {"s", 1}, {"t", 1}}, {{"b", 3}, {"s", 17}, {"t", 7}}}) {
      const Tensors inputs = random_tensors(g, extents);
      const auto expected = graph::interpret(g, inputs);
      const auto actual = compiled.run(inputs);
      for (size_t i = 0; i < expected.size(); ++i) {
        expect_close(
            actual[i], expected[i], limit,
            fmt::format("{} at {}on {}", g.outputs()[i].name, text_of(extents), to_string(isa)));
      }
    }
  }
}

const DType kFloats[] = {DType::F16, DType::BF16, DType::F32, DType::F64};
const DType kIntegers[] = {DType::U8, DType::U16, DType::U32, DType::U64,
                           DType::I8, DType::I16, DType::I32, DType::I64};

class FloatTest : public ::testing::TestWithParam<DType> {};
class IntegerTest : public ::testing::TestWithParam<DType> {};
const auto kByName = [](const auto& info) { return std::string(to_string(info.param)); };
INSTANTIATE_TEST_SUITE_P(DTypes, FloatTest, ::testing::ValuesIn(kFloats), kByName);
INSTANTIATE_TEST_SUITE_P(DTypes, IntegerTest, ::testing::ValuesIn(kIntegers), kByName);

// Inputs are in [-1, 1): what asin and atanh take; acosh sees numbers from 1 on.
TEST_P(FloatTest, FunctionsOfOneNumber) {
  const DType dtype = GetParam();
  Graph g;
  const Value x = in(g, "x", {kB, kS, 5}, dtype);
  const Value large = g.mul(x, g.scalar(dtype, 8)),
              positive = g.add(g.mul(x, x), g.scalar(dtype, 1));
  std::vector<graph::Output> outputs;
  const auto add = [&](Op op, Value of) {
    outputs.push_back({std::string(graph::info(op).text), g.unary(op, of)});
  };
  for (const Op op : {Op::Asin, Op::Acos, Op::Atanh, Op::Expm1}) add(op, x);
  for (const Op op : {Op::Neg, Op::Abs, Op::Exp, Op::Erf, Op::Tanh, Op::Sigmoid, Op::Relu, Op::Gelu,
                      Op::GeluTanh, Op::Silu, Op::Sin, Op::Cos, Op::Atan, Op::Asinh, Op::Softplus,
                      Op::Ceil, Op::Floor, Op::Round, Op::Sign}) {
    add(op, large);
  }
  for (const Op op : {Op::Sqrt, Op::Reciprocal, Op::Log, Op::Acosh, Op::Sinh, Op::Cosh, Op::Tan}) {
    add(op, op == Op::Tan ? x : positive);
  }
  g.set_outputs(outputs);
  expect_compiled(g, tolerance(dtype));
}

TEST_P(FloatTest, FunctionsOfTwoNumbers) {
  const DType dtype = GetParam();
  Graph g;
  const Value x = in(g, "x", {kB, 1, 5}, dtype), z = in(g, "z", {kS, 1}, dtype);
  const Value base = g.add(g.mul(x, x), g.scalar(dtype, 0.5));
  std::vector<graph::Output> outputs = {{"pow", g.binary(Op::Pow, base, z)}};
  for (const Op op : {Op::Add, Op::Sub, Op::Mul, Op::Div, Op::Min, Op::Max, Op::Mod, Op::Remainder,
                      Op::Equal, Op::Less, Op::LessEqual}) {
    // 4x is exact in every dtype, so that remainders are of the same numbers.
    outputs.push_back(
        {std::string(graph::info(op).text), g.binary(op, g.mul(x, g.scalar(dtype, 4)), z)});
  }
  g.set_outputs(outputs);
  expect_compiled(g, tolerance(dtype));
}

TEST_P(FloatTest, RowsAndContractions) {
  const DType dtype = GetParam();
  Graph g;
  const Value x = in(g, "x", {kB, kS, 16}, dtype), w = par(g, "w", {16, 24}, dtype);
  const Value mean = g.apply(Op::ReduceMean, {x}, {{"axes", std::vector<int64_t>{1}}});
  g.set_outputs(
      {{"softmax", g.softmax(x, 2)},
       {"mean", mean},
       {"norm", g.layer_norm(x, par(g, "scale", {16}, dtype), par(g, "bias", {16}, dtype), 1e-5)},
       {"product", g.matmul(x, w)},
       {"linear", g.unary(Op::Gelu, g.add(g.matmul(x, w), par(g, "b", {24}, dtype)))},
       {"scores", g.matmul(x, g.transpose(x, {0, 2, 1}))}});
  expect_compiled(g, 4 * tolerance(dtype));
}

TEST_P(FloatTest, Attention) {
  const DType dtype = GetParam();
  Graph g;
  const Value q = in(g, "q", {kB, kS, 16}, dtype), k = in(g, "k", {kB, kT, 16}, dtype);
  const Value v = in(g, "v", {kB, kT, 16}, dtype), mask = in(g, "mask", {kB, 1, 1, kT}, dtype);
  g.set_outputs({{"y", g.apply(Op::Attention, {q, k, v, mask},
                               {{"heads", int64_t{2}},
                                {"head_dim", int64_t{8}},
                                {"kv_heads", int64_t{2}},
                                {"scale", 0.35}})}});
  expect_compiled(g, 4 * tolerance(dtype));
}

// The same positions give the same numbers: of uniform ones the bits.
TEST_P(FloatTest, RandomNumbers) {
  const DType dtype = GetParam();
  Graph g;
  const Value u = g.apply(Op::RandomUniform, {},
                          {{"shape", std::vector<Dim>{3, 70}},
                           {"dtype", dtype},
                           {"low", -2.0},
                           {"high", 5.0},
                           {"seed", int64_t{-77}},
                           {"token", std::string("u")}});
  const Value n = g.apply(Op::RandomNormal, {},
                          {{"shape", std::vector<Dim>{3, 70}},
                           {"dtype", dtype},
                           {"mean", 1.0},
                           {"scale", 3.0},
                           {"seed", int64_t{77}},
                           {"token", std::string("n")}});
  const Value x = in(g, "x", {70, 3}, dtype);
  g.set_outputs({{"u", u}, {"turned", g.add(g.transpose(u, {1, 0}), x)}});
  expect_compiled(g, dtype == DType::F64 || dtype == DType::F32 ? 1e-7 : tolerance(dtype));
  g.set_outputs({{"u", u}});
  expect_compiled(g, 0);
  g.set_outputs({{"n", n}});
  expect_compiled(g, tolerance(dtype));
}

TEST_P(IntegerTest, FunctionsWrapAndDivideAsTheInterpreterDoes) {
  const DType dtype = GetParam();
  Graph g;
  const Value x = in(g, "x", {kB, 1, 5}, dtype), z = in(g, "z", {kS, 1}, dtype);
  const Value large = g.mul(x, g.scalar(dtype, 29));  // wraps in 8 bits
  std::vector<graph::Output> outputs;
  for (const Op op : {Op::Neg, Op::Abs, Op::Relu, Op::Sign}) {
    outputs.push_back({std::string(graph::info(op).text), g.unary(op, large)});
  }
  for (const Op op : {Op::Add, Op::Sub, Op::Mul, Op::Div, Op::Mod, Op::Remainder, Op::Pow, Op::Min,
                      Op::Max, Op::Equal, Op::Less, Op::LessEqual, Op::BitAnd, Op::BitOr,
                      Op::BitXor, Op::ShiftLeft, Op::ShiftRight}) {
    outputs.push_back({std::string(graph::info(op).text), g.binary(op, large, z)});
  }
  g.set_outputs(outputs);
  expect_compiled(g, 0);
}

TEST_P(IntegerTest, ProductsOfMatricesWrap) {
  const DType dtype = GetParam();
  Graph g;
  const Value x = in(g, "x", {kB, kS, 37}, dtype), w = par(g, "w", {37, 20}, dtype);
  g.set_outputs({{"product", g.matmul(x, w)}, {"gram", g.matmul(x, g.transpose(x, {0, 2, 1}))}});
  expect_compiled(g, 0);
}

TEST(DTypes, BitsOfANumber) {
  Graph g;
  const Value h = in(g, "h", {kB, kS}, DType::F16), x = in(g, "x", {kB, kS});
  const auto bits = [&](Value of, DType dtype) {
    return g.apply(Op::BitCast, {of}, {{"dtype", dtype}});
  };
  g.set_outputs({{"h", bits(h, DType::U16)},
                 {"x", bits(x, DType::I32)},
                 {"back", bits(bits(h, DType::BF16), DType::F16)},
                 {"bool", bits(bits(in(g, "b", {kB}, DType::Bool), DType::U8), DType::Bool)}});
  expect_compiled(g, 0);
}

// A constant that an f64 does not hold keeps its bits.
TEST(DTypes, LargeIntegersAreExact) {
  Graph g;
  const Value x = in(g, "x", {kB, kS}, DType::I64);
  const Value odd = g.integers({(int64_t{1} << 60) + 1});
  g.set_outputs({{"y", g.binary(Op::BitXor, x, odd)}});
  expect_compiled(g, 0);
}

}  // namespace
}  // namespace tenon::graph_test
