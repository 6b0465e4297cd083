// Every rule of the algebra, against the interpreter: the left side of the rule is built on inputs
// of every dtype of its domain, simplified, and both graphs run on random and special values. They
// must agree to the bit, NaN for NaN.
#include <gtest/gtest.h>

#include <cmath>
#include <cstring>
#include <limits>
#include <random>

#include "simplify/simplify.h"
#include "tests/graph/tensors.h"

namespace tenon::simplify {
namespace {

using namespace graph;
using rewrite::Item;
using rewrite::ItemKind;
using rewrite::Pattern;

constexpr int64_t kCount = 64;

Op op_of(rewrite::OpId id) {
  switch (id) {
    case rewrite::kAdd:
      return Op::Add;
    case rewrite::kSub:
      return Op::Sub;
    case rewrite::kMul:
      return Op::Mul;
    case rewrite::kDiv:
      return Op::Div;
    case rewrite::kNeg:
      return Op::Neg;
    case rewrite::kMin:
      return Op::Min;
    case rewrite::kMax:
      return Op::Max;
    default:
      return static_cast<Op>(id);
  }
}

// The graph of a pattern. Its wildcards become inputs; patterns are a few levels deep, so recursion
// is fine here.
class PatternGraph {
 public:
  PatternGraph(const Pattern& pattern, DType dtype) : pattern_(pattern) {
    graph_.set_outputs({{"y", build(pattern.size - 1, dtype)}});
  }
  const Graph& graph() const { return graph_; }

 private:
  Value build(int index, DType dtype) {
    const Item& item = pattern_.items[index];
    if (item.kind == ItemKind::Wildcard) {
      Value& leaf = wildcards_[item.index];
      if (!leaf) leaf = graph_.input(fmt::format("x{}", item.index), {{kCount}, dtype});
      return leaf;
    }
    if (item.kind == ItemKind::Literal) return graph_.scalar(dtype, item.literal.real);
    const Op op = op_of(item.op);
    std::vector<Value> operands(item.arity);
    int child = index - 1;
    for (int i = item.arity - 1; i >= 0; --i) {
      const bool condition = op == Op::Where && i == 0;
      operands[static_cast<size_t>(i)] = build(child, condition ? DType::Bool : dtype);
      child -= pattern_.items[child].size;
    }
    return graph_.apply(op, operands);
  }

  const Pattern& pattern_;
  Graph graph_;
  std::map<int, Value> wildcards_;
};

Tensor random_tensor(DType dtype, std::mt19937_64& random) {
  constexpr double kInf = std::numeric_limits<double>::infinity();
  const double special[] = {
      0, -0.0, 1, -1, kInf, -kInf, std::numeric_limits<double>::quiet_NaN(), 1e-8, 6e4, 2};
  Tensor result{
      dtype, {kCount}, std::vector<std::byte>(static_cast<size_t>(kCount * size_of(dtype)))};
  const auto size = static_cast<size_t>(size_of(dtype));
  for (size_t i = 0; i < kCount; ++i) {
    void* element = result.bytes.data() + i * size;
    if (dtype == DType::Bool) {
      store_from_i64(dtype, element, static_cast<int64_t>(random() % 2));
    } else if (is_float(dtype)) {
      const double value = random() % 3 == 0 ? special[random() % 10]
                                             : std::normal_distribution<double>(0, 3)(random);
      store_from_f64(dtype, element, value);
    } else {
      const uint64_t bits = random() % 4 == 0 ? random() % 3 : random();
      std::memcpy(element, &bits, size);
    }
  }
  return result;
}

void expect_same(const Tensor& a, const Tensor& b, std::string_view rule) {
  ASSERT_EQ(a.dtype, b.dtype) << rule;
  ASSERT_EQ(a.shape, b.shape) << rule;
  const auto size = static_cast<size_t>(size_of(a.dtype));
  for (size_t at = 0; at < a.bytes.size(); at += size) {
    if (std::memcmp(a.bytes.data() + at, b.bytes.data() + at, size) == 0) continue;
    const double left = load_as_f64(a.dtype, a.bytes.data() + at),
                 right = load_as_f64(b.dtype, b.bytes.data() + at);
    EXPECT_TRUE(std::isnan(left) && std::isnan(right))
        << rule << " on " << to_string(a.dtype) << ": " << left << " and " << right;
  }
}

rewrite::Domain domain_of(DType dtype) {
  if (dtype == DType::Bool) return rewrite::kBool;
  return is_float(dtype) ? rewrite::kFloat : rewrite::kInt;
}

TEST(AlgebraRules, KeepEveryBitOnEveryDtypeOfTheirDomain) {
  std::mt19937_64 random(7);
  for (const rewrite::Rule& rule : algebra_rules()) {
    ASSERT_EQ(rule.when.count, 0) << rule.name << " has a guard: give it a generator here";
    for (const DType dtype : {DType::Bool, DType::U8, DType::U64, DType::I8, DType::I32, DType::I64,
                              DType::F16, DType::BF16, DType::F32, DType::F64}) {
      if ((rule.domain & domain_of(dtype)) == 0) continue;
      const PatternGraph built(rule.from, dtype);
      const Graph after = algebra(built.graph());
      verify(after);
      EXPECT_NE(digest(after), digest(built.graph())) << rule.name << " did not apply";
      for (int round = 0; round < 8; ++round) {
        std::map<std::string, Tensor> inputs;
        for (const Value& input : built.graph().inputs()) {
          inputs[input.node->name()] = random_tensor(input.dtype(), random);
        }
        expect_same(interpret(built.graph(), inputs)[0], interpret(after, inputs)[0], rule.name);
      }
    }
  }
}

TEST(AlgebraRules, NeverTakeMinusZeroForZero) {
  Graph g;
  const Value x = g.input("x", {{2}, DType::F32});
  g.set_outputs({{"y", g.sub(x, g.scalar(DType::F32, -0.0))}});
  EXPECT_EQ(algebra(g).outputs()[0].value.op(), Op::Sub);
}

}  // namespace
}  // namespace tenon::simplify
