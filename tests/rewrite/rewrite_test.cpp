// The rule engine on a toy IR of integers: terms are indices into a vector of nodes.
#include <gtest/gtest.h>

#include <vector>

#include "rewrite/match.h"

namespace tenon::rewrite {
namespace {

enum ToyOp : OpId {
  kToyConst,
  kToyLeaf,
  kToyAdd,
  kToyMul,
  kToySub,
  kToyMax,
  kToyFloorDiv,
  kToyErf
};

struct ToyNode {
  OpId op;
  std::vector<int> args;
  Number value;
};

struct Toy {
  using Term = int;
  std::vector<ToyNode> nodes;

  int add(OpId op, std::vector<int> args, Number value = 0) {
    for (size_t i = 0; i < nodes.size(); ++i) {
      const ToyNode& n = nodes[i];
      if (n.op == op && n.args == args && n.value == value) return static_cast<int>(i);
    }
    nodes.push_back({op, std::move(args), value});
    return static_cast<int>(nodes.size()) - 1;
  }
  int leaf(int name) { return add(kToyLeaf, {}, name); }
  int number(Number value) { return add(kToyConst, {}, value); }

  const ToyNode& at(int t) const { return nodes[static_cast<size_t>(t)]; }
  OpId op(int t) const { return at(t).op; }
  int arity(int t) const { return static_cast<int>(at(t).args.size()); }
  int arg(int t, int i) const { return at(t).args[static_cast<size_t>(i)]; }
  std::optional<Number> constant(int t) const {
    if (at(t).op != kToyConst) return std::nullopt;
    return at(t).value;
  }
  bool same(int a, int b) const { return a == b; }
  OpId resolve(OpId op) const {
    switch (op) {
      case kAdd:
        return kToyAdd;
      case kSub:
        return kToySub;
      case kMul:
        return kToyMul;
      case kMax:
        return kToyMax;
      case kFloorDiv:
        return kToyFloorDiv;
      default:
        return op;
    }
  }
  bool is_commutative(OpId op) const { return op == kToyAdd || op == kToyMul || op == kToyMax; }
  int make(OpId op, std::span<const int> args, int) { return add(op, {args.begin(), args.end()}); }
  int make_constant(Number value, int) { return number(value); }
  bool ask(int question, int t) const { return question == 7 && at(t).value == 3; }
};

constexpr Rule kRules[] = {
    // name          domain  from                            to          when
    {"mul-one", kAny, x * 1, x},
    {"add-zero", kInt, x + 0, x},
    {"sub-self", kInt, x - x, 0},  // NOLINT(misc-redundant-expression): a pattern
    {"max-absorb", kInt, max(max(x, y), x), max(x, y)},
    {"round-down", kIndex, max(floordiv(x, c0) * c0, x), x, positive(c0)},
    {"asked", kBool, x - 5, x, ask(7, x)},
};
static_assert(valid(kRules));

constexpr Rule kUnbound[] = {{"unbound", kAny, x * 1, y}};
static_assert(!valid(kUnbound), "a rule must not build what it did not match");
constexpr Rule kUnboundGuard[] = {{"unbound-guard", kAny, x* c0, x, positive(c1)}};
static_assert(!valid(kUnboundGuard));

class Rewrite : public testing::Test {
 protected:
  int rewritten(int term, Domain domain) {
    const auto applied = apply_first(kRules, domain, toy, term);
    rule = applied ? applied->rule->name : "";
    return applied ? applied->term : -1;
  }
  Toy toy;
  std::string_view rule;
  const int a = toy.leaf(1), b = toy.leaf(2);
};

TEST_F(Rewrite, MatchesACommutativeOpBothWays) {
  const int one = toy.number(1);
  EXPECT_EQ(rewritten(toy.add(kToyMul, {a, one}), kInt), a);
  EXPECT_EQ(rewritten(toy.add(kToyMul, {one, a}), kInt), a);
  EXPECT_EQ(rule, "mul-one");
}

TEST_F(Rewrite, DoesNotSwapTheArgumentsOfOtherOps) {
  constexpr Pattern pattern = 0 - x;
  EXPECT_TRUE(match(toy, pattern, toy.add(kToySub, {toy.number(0), a})));
  EXPECT_FALSE(match(toy, pattern, toy.add(kToySub, {a, toy.number(0)})));
}

TEST_F(Rewrite, AWildcardUsedTwiceMustBeTheSameTerm) {
  EXPECT_EQ(rewritten(toy.add(kToySub, {a, a}), kInt), toy.number(0));
  EXPECT_EQ(rewritten(toy.add(kToySub, {a, b}), kInt), -1);
}

TEST_F(Rewrite, TriesEveryOrderOfNestedCommutativeOps) {
  for (const auto& inner : {std::vector{a, b}, std::vector{b, a}}) {
    const int nested = toy.add(kToyMax, inner);
    for (const int other : {a, b}) {
      for (const auto& outer : {std::vector{nested, other}, std::vector{other, nested}}) {
        const int result = rewritten(toy.add(kToyMax, outer), kInt);
        EXPECT_EQ(rule, "max-absorb");
        EXPECT_EQ(toy.op(result), kToyMax);
      }
    }
  }
}

TEST_F(Rewrite, GuardsLookAtCapturedConstants) {
  for (const int c : {4, -4}) {
    const int divisor = toy.number(c);
    const int down = toy.add(kToyMul, {divisor, toy.add(kToyFloorDiv, {a, divisor})});
    EXPECT_EQ(rewritten(toy.add(kToyMax, {a, down}), kIndex), c > 0 ? a : -1);
  }
}

TEST_F(Rewrite, ACapturedConstantUsedTwiceMustBeTheSameNumber) {
  const int down = toy.add(kToyMul, {toy.add(kToyFloorDiv, {a, toy.number(4)}), toy.number(8)});
  EXPECT_EQ(rewritten(toy.add(kToyMax, {down, a}), kIndex), -1);
}

TEST_F(Rewrite, RulesApplyOnlyInTheirDomain) {
  const int sum = toy.add(kToyAdd, {a, toy.number(0)});
  EXPECT_EQ(rewritten(sum, kInt), a);
  EXPECT_EQ(rewritten(sum, kFloat), -1);
}

TEST_F(Rewrite, QuestionsGoToTheAdaptor) {
  const int three = toy.leaf(3), five = toy.number(5);
  EXPECT_EQ(rewritten(toy.add(kToySub, {three, five}), kBool), three);
  EXPECT_EQ(rewritten(toy.add(kToySub, {a, five}), kBool), -1);
}

TEST_F(Rewrite, SkippedRulesDoNotApply) {
  const std::string_view skip[] = {"mul-one"};
  const int product = toy.add(kToyMul, {a, toy.number(1)});
  EXPECT_FALSE(apply_first(kRules, kInt, toy, product, skip));
}

TEST_F(Rewrite, FindsGeluInAnySpelling) {
  constexpr Pattern gelu = x * (op(kToyErf, x * c0) + 1) * 0.5;
  const int erf = toy.add(kToyErf, {toy.add(kToyMul, {toy.number(0.70710678), a})});
  const int factor = toy.add(kToyAdd, {toy.number(1.0), erf});
  const int product = toy.add(kToyMul, {factor, a});
  const auto found = match(toy, gelu, toy.add(kToyMul, {toy.number(0.5), product}));
  ASSERT_TRUE(found);
  EXPECT_EQ(found->terms[0], a);
  EXPECT_TRUE(holds(toy, near(c0, 0.7071067811865476, 1e-6), *found));
  EXPECT_FALSE(holds(toy, near(c0, 0.7, 1e-6), *found));
}

}  // namespace
}  // namespace tenon::rewrite
