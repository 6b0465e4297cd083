// Products of bytes: by fours where the CPU has them, with the same bits everywhere; what is around
// them is done in the kernels that read and write them.
#include <gtest/gtest.h>

#include "schedule/dots.h"
#include "tests/driver/run_graph.h"
#include "tests/lower/graph_cases.h"

namespace tenon::graph_test {
namespace {

driver::Options int8_options(const CpuInfo& cpu) {
  driver::Options options{.cpu = cpu};
  options.precision_policy.policy = PrecisionPolicy::DynamicInt8;
  return options;
}

// Kernels that a run has, by name; those by fours.
struct Kernels {
  std::vector<std::string> names;
  int by_fours = 0;
  bool needs_vnni = false;
};
Kernels kernels_of(const Graph& g, driver::Options options) {
  Kernels result;
  options.see_kernel = [&](const kernel::Kernel& kernel) {
    result.by_fours += schedule::has_dot4(kernel) ? 1 : 0;
  };
  const program::Program program = driver::compile(g, options).program;
  for (const program::Step& step : program.steps) result.names.push_back(step.kind);
  result.needs_vnni = program.cpu.vnni;
  return result;
}

// gelu(x @ w + bias) @ v + x
Graph mlp(int64_t width, int64_t inner) {
  Graph g;
  const Value x = in(g, "x", {kB, kS, width});
  const Value h =
      g.linear(x, par(g, "w", {width, inner}), par(g, "bias", {inner}), {}, Activation::Gelu);
  g.set_outputs({{"y", g.linear(h, par(g, "v", {inner, width}), {}, x, Activation::None)}});
  return g;
}

TEST(IntegerProduct, GoesByFoursWhereTheCpuHasThem) {
  CpuInfo cpu = detect_cpu(std::nullopt);
  if (cpu.isa != CpuIsa::Avx512) GTEST_SKIP() << "no AVX-512 here";
  cpu.vnni = true;
  const Kernels with = kernels_of(mlp(64, 128), int8_options(cpu));
  EXPECT_EQ(with.by_fours, 2);
  EXPECT_TRUE(with.needs_vnni);  // so that no other CPU runs it
  cpu.vnni = false;
  const Kernels without = kernels_of(mlp(64, 128), int8_options(cpu));
  EXPECT_EQ(without.by_fours, 0);
  EXPECT_FALSE(without.needs_vnni);
}

// One kernel for the bytes of a row and its scale; bias, activation, residual and scales with the
// product: no sums in memory.
TEST(IntegerProduct, ARunHasTwoKernelsForEachLinear) {
  const std::vector<std::string> expected = {"quantize_rows", "product_gelu", "quantize_rows",
                                             "product_add"};
  EXPECT_EQ(kernels_of(mlp(64, 128), int8_options(cpu_info())).names, expected);
}

TEST(IntegerProduct, LinearsOfOneInputShareItsBytes) {
  Graph g;
  const Value x = in(g, "x", {kB, kS, 64});
  const Value gate =
      g.gated_linear(x, par(g, "gate", {64, 96}), par(g, "up", {64, 96}), Activation::Silu);
  const Value other = g.linear(x, par(g, "w", {64, 32}), {}, {}, Activation::Relu);
  g.set_outputs({{"gate", gate}, {"other", other}});
  const Kernels kernels = kernels_of(g, int8_options(cpu_info()));
  const std::vector<std::string> expected = {"quantize_rows", "product_mul", "product_mul",
                                             "product_relu"};
  EXPECT_EQ(kernels.names, expected);
}

// Whatever instructions multiply, and in however many rows.
TEST(IntegerProduct, HasTheSameBitsOnEveryCpu) {
  for (const auto& [width, inner] : {std::pair{64, 128}, {33, 70}}) {
    const Graph g = mlp(width, inner);
    std::vector<CpuInfo> cpus;
    for (const CpuIsa isa : isas_here()) cpus.push_back(detect_cpu(isa));
    cpus.push_back(cpus.back());
    cpus.back().vnni = false;
    for (const Extents& extents : {Extents{{"b", 1}, {"s", 1}}, Extents{{"b", 3}, {"s", 11}}}) {
      const Tensors inputs = random_tensors(g, extents);
      const auto expected = RunGraph(g, int8_options(cpus[0])).run(inputs);
      for (const CpuInfo& cpu : cpus) {
        const auto actual = RunGraph(g, int8_options(cpu)).run(inputs);
        EXPECT_TRUE(actual[0].bytes == expected[0].bytes) << width << " " << text_of(extents);
      }
    }
  }
}

// Of two bytes of any sign, less zero points: exactly what the interpreter gives.
TEST(IntegerProduct, OfStoredBytesIsExact) {
  for (const DType rows : {DType::U8, DType::I8}) {
    for (const DType columns : {DType::U8, DType::I8}) {
      Graph g;
      const auto less_zero = [&](Value x, const char* zero) {
        return g.sub(g.cast(x, DType::I32), g.cast(par(g, zero, {}, x.dtype()), DType::I32));
      };
      const Value a = less_zero(in(g, "a", {kB, kS, 50}, rows), "za");
      const Value b = less_zero(par(g, "w", {50, 40}, columns), "zb");
      const Value product = g.matmul(a, b);
      const Value real = g.mul(g.cast(product, DType::F32), g.scalar(DType::F32, 0.125));
      g.set_outputs({{"y", real}});
      for (const CpuIsa isa : isas_here()) {
        RunGraph compiled(g, isa);
        for (const Extents& extents : {Extents{{"b", 1}, {"s", 1}}, Extents{{"b", 2}, {"s", 9}}}) {
          const Tensors inputs = random_tensors(g, extents);
          expect_close(compiled.run(inputs)[0], graph::interpret(g, inputs)[0], 0,
                       text_of(extents));
        }
      }
    }
  }
}

// Dequantized rows by dequantized columns, biased and quantized again, as QDQ models have it. All
// scales are powers of 2, so nothing but the last step rounds.
TEST(IntegerProduct, FromBytesToBytesIsOneKernel) {
  Graph g;
  const auto number = [&](double x) { return g.scalar(DType::F32, x); };
  const auto real = [&](Value stored, double zero, double scale) {
    const Value steps = g.sub(g.cast(stored, DType::I32), g.scalar(DType::I32, zero));
    return g.mul(g.cast(steps, DType::F32), number(scale));
  };
  const Value x = real(in(g, "x", {kB, kS, 48}, DType::U8), 7, 1. / 16);
  const Value w = real(par(g, "w", {24, 48}, DType::I8), 0, 1. / 4);
  const Value sum = g.add(g.matmul(x, g.transpose(w, {1, 0})), par(g, "bias", {24}));
  const Value steps = g.add(g.unary(Op::Round, g.div(sum, number(8))), number(100));
  const Value low = g.binary(Op::Max, steps, number(0));
  g.set_outputs({{"y", g.cast(g.binary(Op::Min, low, number(255)), DType::U8)}});
  const Kernels kernels = kernels_of(g, {.cpu = cpu_info()});
  EXPECT_EQ(kernels.names, std::vector<std::string>{"product_cast"});
  for (const CpuIsa isa : isas_here()) {
    RunGraph compiled(g, isa);
    for (const Extents& extents : {Extents{{"b", 1}, {"s", 1}}, Extents{{"b", 2}, {"s", 9}}}) {
      const Tensors inputs = random_tensors(g, extents);
      expect_close(compiled.run(inputs)[0], graph::interpret(g, inputs)[0], 0, text_of(extents));
    }
  }
}

// NaN in a row is NaN in all of its results, and in no other row.
TEST(IntegerProduct, NaNStaysInItsRow) {
  Graph g;
  const Value x = g.input("x", {{2, 32}, DType::F32});
  g.set_outputs({{"y", g.matmul(x, par(g, "w", {32, 16}))}});
  Tensors inputs = random_tensors(g, {});
  store_from_f64(DType::F32, &inputs["x"].bytes[5 * 4], std::nan(""));
  for (const CpuIsa isa : isas_here()) {
    const auto y = RunGraph(g, int8_options(detect_cpu(isa))).run(inputs)[0];
    for (size_t i = 0; i < 32; ++i)
      EXPECT_EQ(std::isnan(load_as_f64(DType::F32, &y.bytes[i * 4])), i < 16) << i;
  }
}

}  // namespace
}  // namespace tenon::graph_test
