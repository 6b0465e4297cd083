// Convolutions of quantized images: one kernel from bytes to bytes, by fours where the CPU has
// them, and exactly the sums that the interpreter gives.
#include <gtest/gtest.h>

#include <cmath>

#include "schedule/dots.h"
#include "tests/driver/run_graph.h"
#include "tests/lower/graph_cases.h"

namespace tenon::graph_test {
namespace {

struct Windows {
  int64_t kernel = 3, stride = 1, begin = 1, dilation = 1;
};

Value number(Graph& g, double x) { return g.scalar(DType::F32, x); }

Value conv(Graph& g, Value x, Value w, Value bias, const Windows& windows, int64_t groups = 1) {
  const auto each = [](int64_t of) { return std::vector<int64_t>{of, of}; };
  std::vector<Dim> extents;
  for (const int axis : {2, 3}) {
    const Dim covered =
        x.shape()[axis] + 2 * windows.begin - windows.dilation * (windows.kernel - 1);
    extents.push_back(floordiv(covered - 1, windows.stride) + 1);
  }
  std::vector<Value> operands = {x, w};
  if (bias) operands.push_back(bias);
  return g.apply(Op::Conv, operands,
                 {{"extents", extents},
                  {"begins", std::vector<Dim>(2, windows.begin)},
                  {"strides", each(windows.stride)},
                  {"dilations", each(windows.dilation)},
                  {"groups", groups}});
}

// cast(f32, stored - zero) * scale, the scale a power of 2.
Value real(Graph& g, Value stored, double zero, double scale) {
  const Value steps = g.sub(g.cast(stored, DType::I32), g.scalar(DType::I32, zero));
  return g.mul(g.cast(steps, DType::F32), number(g, scale));
}

// To u8 again.
Value quantized(Graph& g, Value x, double scale, double zero) {
  const Value steps = g.add(g.unary(Op::Round, g.div(x, number(g, scale))), number(g, zero));
  const Value low = g.binary(Op::Max, steps, number(g, 0));
  return g.cast(g.binary(Op::Min, low, number(g, 255)), DType::U8);
}

// Quantized, convolved and quantized two times: what lies between two convolutions is bytes.
Graph network(double zero, const Windows& windows) {
  Graph g;
  Value x = quantized(g, in(g, "x", {kB, 16, 9, 7}), 1. / 16, zero);
  for (const char* layer : {"1", "2"}) {
    const std::string name = layer;
    const int64_t k = windows.kernel;
    const Value w = real(g, par(g, "w" + name, {32, x.shape()[1], k, k}, DType::I8), 0, 1. / 64);
    const Value y = conv(g, real(g, x, zero, 1. / 16), w, par(g, "bias" + name, {32}), windows);
    x = quantized(g, g.unary(Op::Relu, y), 1, zero);
  }
  g.set_outputs({{"y", real(g, x, zero, 1)}});
  return g;
}

struct Kernels {
  std::vector<std::string> names;
  int by_fours = 0;
};
Kernels kernels_of(const Graph& g, const CpuInfo& cpu) {
  Kernels result;
  driver::Options options{.cpu = cpu};
  options.see_kernel = [&](const kernel::Kernel& kernel) {
    result.by_fours += schedule::has_dot4(kernel) ? 1 : 0;
  };
  const program::Program program = driver::compile(g, options).program;
  for (const program::Step& step : program.steps) result.names.push_back(step.kind);
  return result;
}

TEST(IntegerConvolution, GoesByFoursWhereTheCpuHasThem) {
  CpuInfo cpu = detect_cpu(std::nullopt);
  if (cpu.isa != CpuIsa::Avx512) GTEST_SKIP() << "no AVX-512 here";
  cpu.vnni = true;
  EXPECT_EQ(kernels_of(network(0, {}), cpu).by_fours, 2);
  EXPECT_EQ(kernels_of(network(3, {}), cpu).by_fours, 2);
  cpu.vnni = false;
  EXPECT_EQ(kernels_of(network(0, {}), cpu).by_fours, 0);
}

// Zero points, scales, bias, activation and the next one's bytes with the product.
TEST(IntegerConvolution, FromBytesToBytesIsOneKernel) {
  const Kernels kernels = kernels_of(network(0, {}), cpu_info());
  const std::vector<std::string> expected = {"cast", "conv_cast", "conv_cast"};
  EXPECT_EQ(kernels.names, expected);
}

TEST(IntegerConvolution, GivesWhatTheInterpreterGives) {
  for (const Windows& windows : {Windows{},
                                 {.kernel = 1, .begin = 0},
                                 {.stride = 2},
                                 {.begin = 2, .dilation = 2},
                                 {.kernel = 1, .stride = 2, .begin = 0},
                                 {.kernel = 2, .begin = 0}}) {
    for (const double zero : {0., 3.}) {
      const Graph g = network(zero, windows);
      for (const CpuIsa isa : isas_here()) {
        RunGraph compiled(g, isa);
        for (const int64_t batch : {1, 3}) {
          const Tensors inputs = random_tensors(g, {{"b", batch}});
          expect_close(compiled.run(inputs)[0], graph::interpret(g, inputs)[0], 0,
                       fmt::format("kernel {} stride {} begin {} zero {} batch {}", windows.kernel,
                                   windows.stride, windows.begin, zero, batch));
        }
      }
    }
  }
}

// i32 sums, as ConvInteger has them: of all signs and zero points, of many channels, of few, and of
// one to each group.
TEST(IntegerConvolution, OfStoredBytesIsExact) {
  for (const DType image : {DType::U8, DType::I8}) {
    for (const DType weights : {DType::U8, DType::I8}) {
      for (const auto& [channels, groups] : {std::pair{32, 1}, {20, 1}, {3, 1}, {16, 16}}) {
        Graph g;
        const auto less_zero = [&](Value x, const char* zero) {
          return g.sub(g.cast(x, DType::I32), g.cast(par(g, zero, {}, x.dtype()), DType::I32));
        };
        const Value x = less_zero(in(g, "x", {kB, channels, 6, 5}, image), "zx");
        const Value w = less_zero(par(g, "w", {16, channels / groups, 3, 3}, weights), "zw");
        g.set_outputs({{"y", conv(g, x, w, {}, {.stride = 2}, groups)}});
        for (const CpuIsa isa : isas_here()) {
          const Tensors inputs = random_tensors(g, {{"b", 2}});
          expect_close(RunGraph(g, isa).run(inputs)[0], graph::interpret(g, inputs)[0], 0,
                       fmt::format("{} channels {} groups", channels, groups));
        }
      }
    }
  }
}

}  // namespace
}  // namespace tenon::graph_test
