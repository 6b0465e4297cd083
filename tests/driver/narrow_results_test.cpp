// Results that are only read as floats of 16 bits are stored so by the kernel that computes them:
// no second pass over memory, and the bits of a cast of what it computes in f32.
#include <gtest/gtest.h>

#include <array>
#include <string>
#include <vector>

#include "tests/driver/run_graph.h"

namespace tenon::graph_test {
namespace {

using graph::Graph;
using graph::Value;

struct NarrowCase {
  const char* name;
  Value (*make)(Graph& g, Value x);
};

Value weight(Graph& g, const char* name, int64_t columns = 48) {
  return g.param(name, {{48, columns}, DType::F32});
}
Value row(Graph& g, const char* name) { return g.param(name, {{48}, DType::F32}); }

constexpr NarrowCase kCases[] = {
    {"matmul", [](Graph& g, Value x) { return g.matmul(x, weight(g, "w")); }},
    {"linear",
     [](Graph& g, Value x) {
       return g.linear(x, weight(g, "w"), row(g, "bias"), x, graph::Activation::Gelu);
     }},
    {"gated_linear",
     [](Graph& g, Value x) {
       return g.gated_linear(x, weight(g, "w"), weight(g, "up"), graph::Activation::Silu);
     }},
    {"attention",
     [](Graph& g, Value x) { return g.attention(x, x, x, {.heads = 3, .head_dim = 16}); }},
    {"softmax", [](Graph& g, Value x) { return g.softmax(x, 2); }},
    {"layer_norm",
     [](Graph& g, Value x) { return g.layer_norm(x, row(g, "scale"), row(g, "shift"), 1e-5); }},
    {"rms_norm", [](Graph& g, Value x) { return g.rms_norm(x, row(g, "scale"), 1e-5); }},
};

class NarrowResults : public ::testing::TestWithParam<NarrowCase> {
 protected:
  // y = what the case makes of x, cast to the dtypes in turn.
  Graph graph(const std::vector<DType>& casts, bool read_twice = false) const {
    Graph g;
    const Value x = g.input("x", {{Symbol("b", {1, 64}), 7, 48}, DType::F32});
    const Value made = GetParam().make(g, x);
    Value y = made;
    for (const DType dtype : casts) y = g.cast(y, dtype);
    g.set_outputs({{"y", y}});
    if (read_twice) g.set_outputs({{"y", y}, {"made", made}});
    return g;
  }
};

TEST_P(NarrowResults, AreStoredByTheKernelThatComputesThem) {
  const int wide = RunGraph(graph({})).kernels();
  EXPECT_EQ(RunGraph(graph({DType::BF16})).kernels(), wide);
  EXPECT_EQ(RunGraph(graph({DType::F16})).kernels(), wide);
}

TEST_P(NarrowResults, AreAKernelOfTheirOwnWhereTheWideOnesAreReadToo) {
  EXPECT_EQ(RunGraph(graph({DType::BF16}, true)).kernels(), RunGraph(graph({})).kernels() + 1);
}

TEST_P(NarrowResults, AreWhatIsComputedRoundedOnce) {
  for (const DType dtype : {DType::BF16, DType::F16}) {
    const Tensors inputs = random_tensors(graph({}), {{"b", 5}});
    for (const CpuIsa isa : isas_here()) {
      const graph::Tensor wide = RunGraph(graph({}), isa).run(inputs)[0];
      const graph::Tensor narrow = RunGraph(graph({dtype}), isa).run(inputs)[0];
      ASSERT_EQ(narrow.elements(), wide.elements());
      for (int64_t i = 0; i < wide.elements(); ++i) {
        std::array<std::byte, 2> rounded{};
        store_from_f64(dtype, rounded.data(), load_as_f64(DType::F32, &wide.bytes[4 * i]));
        ASSERT_TRUE(std::equal(rounded.begin(), rounded.end(), &narrow.bytes[2 * i])) << i;
      }
    }
  }
}

INSTANTIATE_TEST_SUITE_P(Each, NarrowResults, ::testing::ValuesIn(kCases),
                         [](const auto& info) { return std::string(info.param.name); });

}  // namespace
}  // namespace tenon::graph_test
