// Linears whose weights are bytes with scales: the numbers of the interpreter, and panels that are
// bytes, too.
#include <gtest/gtest.h>

#include "tests/driver/run_graph.h"
#include "tests/lower/graph_cases.h"

namespace tenon::graph_test {
namespace {

constexpr int64_t kDepth = 200;  // more than a chunk of a contraction

struct Quantized {
  DType dtype = DType::I8;
  int64_t columns = 64, block = kDepth;
  bool zeros = false;
};

// (values - zeros) * scales, blocks of rows with scales of their own.
Value weight(Graph& g, const std::string& name, const Quantized& q) {
  const int64_t blocks = kDepth / q.block;
  const auto by_block = [&](Value of_blocks) {
    return g.reshape(of_blocks, {blocks, 1, q.columns});
  };
  const Value values = par(g, name, {kDepth, q.columns}, q.dtype);
  Value real = g.reshape(g.cast(values, DType::F32), {blocks, q.block, q.columns});
  if (q.zeros) {
    const Value zeros = par(g, name + ".zeros", {blocks, q.columns}, q.dtype);
    real = g.sub(real, by_block(g.cast(zeros, DType::F32)));
  }
  const Value scaled = g.mul(real, by_block(par(g, name + ".scales", {blocks, q.columns})));
  return g.reshape(scaled, {kDepth, q.columns});
}

Value rows(Graph& g) { return in(g, "x", {kB, kS, kDepth}); }

// Panels of so many columns in all, each weight a byte.
void expect_bytes(const Graph& g, int64_t columns) {
  for (const CpuIsa isa : isas_here()) {
    RunGraph compiled(g, isa);
    int64_t bytes = 0;
    for (const program::PackedSlot& slot : compiled.program().packed) bytes += slot.bytes;
    EXPECT_GE(bytes, kDepth * columns);
    EXPECT_LE(bytes, kDepth * (columns + 32));
    for (const Extents& extents : {Extents{{"b", 1}, {"s", 1}}, Extents{{"b", 2}, {"s", 9}}}) {
      const Tensors inputs = random_tensors(g, extents);
      const auto expected = graph::interpret(g, inputs), actual = compiled.run(inputs);
      for (size_t i = 0; i < expected.size(); ++i)
        expect_close(actual[i], expected[i], 1e-3, text_of(extents));
    }
  }
}

TEST(DequantizingLinear, KeepsItsWeightsAsBytes) {
  for (const Quantized& q :
       {Quantized{}, Quantized{.dtype = DType::U8, .zeros = true}, Quantized{.columns = 70},
        Quantized{.columns = 70, .block = 8, .zeros = true}, Quantized{.dtype = DType::I4},
        Quantized{.dtype = DType::U4, .columns = 40, .block = 8, .zeros = true}}) {
    SCOPED_TRACE(
        fmt::format("{} of {} columns in blocks of {}", to_string(q.dtype), q.columns, q.block));
    Graph g;
    g.set_outputs({{"y", g.matmul(rows(g), weight(g, "w", q))}});
    expect_bytes(g, q.columns);
  }
}

TEST(DequantizingLinear, OfOneInputKeepTheirWeightsAsBytes) {
  Graph g;
  const Value x = rows(g);
  const auto linear = [&](const char* name, int64_t columns) {
    return g.matmul(x, weight(g, name, {.columns = columns, .block = 8, .zeros = true}));
  };
  g.set_outputs({{"q", linear("q", 32)}, {"k", linear("k", 16)}, {"v", linear("v", 32)}});
  EXPECT_EQ(driver::compile(g, {.cpu = cpu_info()}).fusion.found("fused_dequantize_matmul"), 3);
  expect_bytes(g, 80);
}

TEST(DequantizingLinear, OfAGateKeepTheirWeightsAsBytes) {
  Graph g;
  const Value x = g.rms_norm(rows(g), par(g, "norm", {kDepth}), 1e-5);
  const Value gate = g.matmul(x, weight(g, "gate", {}));
  g.set_outputs({{"y", g.mul(g.unary(Op::Silu, gate), g.matmul(x, weight(g, "up", {})))}});
  EXPECT_EQ(driver::compile(g, {.cpu = cpu_info()}).fusion.found("fused_dequantize_matmul"), 1);
  expect_bytes(g, 128);
}

// As DequantizeLinear of a whole tensor makes them, the weights transposed.
TEST(DequantizingLinear, OfOneScaleKeepTheirWeightsAsBytes) {
  Graph g;
  const Value x = rows(g);
  const auto linear = [&](const std::string& name) {
    const Value values = g.cast(par(g, name, {32, kDepth}, DType::U8), DType::I32);
    const Value zero = g.cast(par(g, name + ".zero", {}, DType::U8), DType::I32);
    const Value real = g.cast(g.sub(values, zero), DType::F32);
    return g.matmul(x, g.transpose(g.mul(real, par(g, name + ".scale", {})), {1, 0}));
  };
  g.set_outputs({{"y", linear("w")}});
  expect_bytes(g, 32);
}

}  // namespace
}  // namespace tenon::graph_test
