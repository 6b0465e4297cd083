// Simplification: what each pass makes of small graphs, as text in, text out, checked by hand; and
// that a whole graph computes the same numbers before and after.
#include "simplify/simplify.h"

#include <gtest/gtest.h>

#include "tests/graph/every_op.h"
#include "tests/graph/tensors.h"

namespace tenon::simplify {
namespace {

using namespace graph;

struct Case {
  const char* what;
  const char* before;
  const char* after;
};

constexpr Case kCases[] = {
    {"a split becomes slices, of which only the used ones stay",
     R"(graph
input %x : f32[4, 6]
%0, %1 = split(%x) {axis = 1, extents = [2, 4]} : f32[4, 2], f32[4, 4]
output "y" = %1
)",
     R"(graph
input %x : f32[4, 6]
%0 = slice(%x) {extents = [4, 4], starts = [0, 2], steps = [1, 1]} : f32[4, 4]
output "y" = %0
)"},
    {"shape arithmetic becomes one leaf",
     R"(graph
symbol n 1..8
input %x : f32[n, 3]
%0 = dims() {scalar = 0, values = [n, 3]} : i64[2]
%1 = constant(0) : i64[]
%2 = gather(%0, %1) {axis = 0} : i64[]
%3 = mul(%2, %2) : i64[]
output "y" = %3
)",
     R"(graph
symbol n 1..8
input %x : f32[n, 3]
%0 = dims() {scalar = 1, values = [n*n]} : i64[]
output "y" = %0
)"},
    {"ops on constants become constants",
     R"(graph
%0 = constant(2, 3) : f32[2]
%1 = exp(%0) : f32[2]
%2 = sub(%1, %1) : f32[2]
output "y" = %2
)",
     R"(graph
%0 = constant(0, 0) : f32[2]
output "y" = %0
)"},
    {"a float sum with zero stays, for -0",
     R"(graph
input %x : f32[2]
%0 = constant(0) : f32[]
%1 = add(%x, %0) : f32[2]
output "y" = %1
)",
     R"(graph
input %x : f32[2]
%0 = constant(0) : f32[]
%1 = add(%x, %0) : f32[2]
output "y" = %1
)"},
    {"what is left of a multiplication by ones of a larger shape is the spreading",
     R"(graph
input %x : f32[2]
%0 = constant(1, 1, 1, 1) : f32[2, 2]
%1 = mul(%0, %x) : f32[2, 2]
output "y" = %1
)",
     R"(graph
input %x : f32[2]
%0 = expand(%x) {shape = [2, 2]} : f32[2, 2]
output "y" = %0
)"},
    {"division by a power of two becomes a multiplication, other divisions stay",
     R"(graph
input %x : f32[2]
%0 = constant(8) : f32[]
%1 = div(%x, %0) : f32[2]
%2 = constant(3) : f32[]
%3 = div(%1, %2) : f32[2]
output "y" = %3
)",
     R"(graph
input %x : f32[2]
%0 = constant(0.125) : f32[]
%1 = mul(%x, %0) : f32[2]
%2 = constant(3) : f32[]
%3 = div(%1, %2) : f32[2]
output "y" = %3
)"},
    {"a square becomes a product",
     R"(graph
input %x : f32[2]
%0 = constant(2) : f32[]
%1 = pow(%x, %0) : f32[2]
output "y" = %1
)",
     R"(graph
input %x : f32[2]
%0 = mul(%x, %x) : f32[2]
output "y" = %0
)"},
    {"transposes meet and cancel",
     R"(graph
input %x : f32[2, 3, 4]
%0 = transpose(%x) {perm = [1, 2, 0]} : f32[3, 4, 2]
%1 = transpose(%0) {perm = [2, 0, 1]} : f32[2, 3, 4]
%2 = transpose(%0) {perm = [1, 0, 2]} : f32[4, 3, 2]
output "same" = %1
output "one" = %2
)",
     R"(graph
input %x : f32[2, 3, 4]
%0 = transpose(%x) {perm = [2, 1, 0]} : f32[4, 3, 2]
output "same" = %x
output "one" = %0
)"},
    {"reshapes meet, and one to the same shape goes",
     R"(graph
input %x : f32[2, 6]
%0 = reshape(%x) {shape = [12]} : f32[12]
%1 = reshape(%0) {shape = [3, 4]} : f32[3, 4]
%2 = reshape(%0) {shape = [2, 6]} : f32[2, 6]
output "a" = %1
output "b" = %2
)",
     R"(graph
input %x : f32[2, 6]
%0 = reshape(%x) {shape = [3, 4]} : f32[3, 4]
output "a" = %0
output "b" = %x
)"},
    {"slices of slices are one slice",
     R"(graph
input %x : f32[20]
%0 = slice(%x) {extents = [9], starts = [1], steps = [2]} : f32[9]
%1 = slice(%0) {extents = [3], starts = [8], steps = [-3]} : f32[3]
output "y" = %1
)",
     R"(graph
input %x : f32[20]
%0 = slice(%x) {extents = [3], starts = [17], steps = [-6]} : f32[3]
output "y" = %0
)"},
    {"an expanded operand of an elementwise op is used as it was",
     R"(graph
symbol n 1..8
input %x : f32[n, 4]
input %m : f32[1, 4]
%0 = expand(%m) {shape = [n, 4]} : f32[n, 4]
%1 = add(%x, %0) : f32[n, 4]
output "y" = %1
)",
     R"(graph
symbol n 1..8
input %x : f32[n, 4]
input %m : f32[1, 4]
%0 = add(%x, %m) : f32[n, 4]
output "y" = %0
)"},
    {"a cast to a wider type and back goes, one to a narrower type stays",
     R"(graph
input %x : f16[2]
input %y : f32[2]
%0 = cast(%x) {dtype = f32} : f32[2]
%1 = cast(%0) {dtype = f16} : f16[2]
%2 = cast(%y) {dtype = f16} : f16[2]
%3 = cast(%2) {dtype = f32} : f32[2]
output "a" = %1
output "b" = %3
)",
     R"(graph
input %x : f16[2]
input %y : f32[2]
%0 = cast(%y) {dtype = f16} : f16[2]
%1 = cast(%0) {dtype = f32} : f32[2]
output "a" = %x
output "b" = %1
)"},
};

TEST(Simplify, MakesOfEachGraphWhatIsWritten) {
  for (const Case& c : kCases) {
    const Graph result = simplify(parse(c.before));
    verify(result);
    EXPECT_EQ(print(result), c.after) << c.what;
  }
}

TEST(Simplify, NeverFoldsAnExpandIntoALargerConstant) {
  Graph g;
  g.set_outputs({{"y", g.expand(g.scalar(DType::F32, 2), {100})}});
  EXPECT_EQ(simplify(g).outputs()[0].value.op(), Op::Expand);
}

TEST(Simplify, LeavesAGatherThatWillFailToTheRun) {
  Graph g;
  g.set_outputs({{"y", g.gather(g.integers({1, 2}), g.integers({5}), 0)}});
  EXPECT_EQ(simplify(g).outputs()[0].value.op(), Op::Gather);
}

TEST(Simplify, IsLinearAndDoesNotRecurseOnAChainOf100000Nodes) {
  Graph g;
  const Value x = g.input("x", {{4}, DType::F32});
  const Value one = g.scalar(DType::F32, 1);
  Value v = x;
  for (int i = 0; i < 50000; ++i) v = g.mul(g.add(v, x), one);
  g.set_outputs({{"v", v}});
  EXPECT_EQ(simplify(g).topological().size(), 50001u);
}

TEST(Simplify, KeepsTheNumbersOfAGraphWithEveryOp) {
  const Graph g = every_op(), s = simplify(g);
  verify(s);
  std::map<std::string, Tensor> inputs;
  const auto fill = [&](const Value& leaf) {
    Tensor t{leaf.dtype(), {}, {}};
    for (const Dim& d : leaf.shape()) {
      const auto value = d.evaluate([](const Symbol& symbol) -> std::optional<int64_t> {
        return symbol.name() == "batch" ? 2 : 3;
      });
      t.shape.push_back(value.value());
    }
    std::vector<double> values;
    values.reserve(static_cast<size_t>(t.elements()));
    for (int64_t i = 0; i < t.elements(); ++i) {
      values.push_back(is_float(leaf.dtype()) ? static_cast<double>(i % 11) / 8 + 0.5
                                              : static_cast<double>(i % 2));
    }
    inputs[leaf.node->name()] = tensor(leaf.dtype(), t.shape, values);
  };
  for (const Value& input : g.inputs()) fill(input);
  for (const Value& param : g.params()) fill(param);
  const std::vector<Tensor> before = interpret(g, inputs), after = interpret(s, inputs);
  for (size_t i = 0; i < before.size(); ++i) {
    EXPECT_EQ(before[i].shape, after[i].shape);
    EXPECT_EQ(before[i].bytes, after[i].bytes) << g.outputs()[i].name;
  }
}

}  // namespace
}  // namespace tenon::simplify
