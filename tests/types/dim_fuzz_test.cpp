// Random expressions, evaluated by a plain tree walk over 128-bit integers and by the canonical Dim
// built from the same tree: the two must agree, bounds must hold, and proofs must not contradict
// any value seen. The tree walk is the outside authority: it knows none of the laws.
#include <gtest/gtest.h>

#include <algorithm>
#include <map>
#include <random>

#include "base/error.h"
#include "tenon/dim.h"
#include "tests/full.h"
#include "tests/sanitizers.h"

namespace tenon {
namespace {

// A million; a part of it where a sanitizer slows it down, threefold in full.
int expressions() {
#if TENON_ADDRESS_SANITIZER || TENON_THREAD_SANITIZER
  return 30'000;
#else
  return full_tests() ? 3'000'000 : 200'000;
#endif
}

using Wide = __int128;
using Random = std::mt19937_64;
using Values = std::map<std::string, int64_t>;

int64_t pick(Random& random, int64_t lo, int64_t hi) {
  return std::uniform_int_distribution<int64_t>(lo, hi)(random);
}

// Plain symbols first, then ranges, so that a range's extent has a value before the range gets one.
const std::vector<Symbol>& symbols() {
  static const std::vector<Symbol> kSymbols = [] {
    std::vector<Symbol> all = {Symbol("n", {1, 9}),   Symbol("m", {1, 40}),   Symbol("p", {0, 12}),
                               Symbol("x", {-9, 30}), Symbol("y", {-20, -1}), sym::seq()};
    const Dim n = all[0], m = all[1], seq = all[5];
    all.push_back(Symbol::range("i", n));
    all.push_back(Symbol::range("j", n * m));
    all.push_back(Symbol::range("k", 12));
    all.push_back(Symbol::range("s", seq));
    all.push_back(Symbol::range("t", min(seq, 8)));
    return all;
  }();
  return kSymbols;
}

Values random_values(Random& random) {
  Values values;
  for (const Symbol& symbol : symbols()) {
    Bounds bounds = symbol.bounds();
    if (const Dim* extent = symbol.extent()) {
      bounds.hi = *extent->evaluate([&](const Symbol& s) { return values.at(s.name()); }) - 1;
    }
    values[symbol.name()] = pick(random, bounds.lo, std::min<int64_t>(bounds.hi, 60));
  }
  return values;
}

enum class Kind { Constant, Symbol, Add, Sub, Mul, FloorDiv, CeilDiv, Mod, Min, Max };

struct Tree {
  Kind kind;
  int64_t value = 0;  // of a constant, or the index of a symbol
  std::unique_ptr<Tree> a, b;
};

std::unique_ptr<Tree> random_tree(Random& random, int depth) {
  auto tree = std::make_unique<Tree>();
  if (depth == 0 || pick(random, 0, 9) == 0) {
    tree->kind = pick(random, 0, 2) == 0 ? Kind::Constant : Kind::Symbol;
    constexpr int64_t kConstants[] = {0, 1, 1, 2, 2, 3, 4, 4, 5, 6, 8, 12, 16, 24, 64, -1, -3, -12};
    const auto last = static_cast<int64_t>(symbols().size()) - 1;
    tree->value = tree->kind == Kind::Constant
                      ? kConstants[pick(random, 0, std::ssize(kConstants) - 1)]
                      : pick(random, 0, last);
    return tree;
  }
  tree->kind = static_cast<Kind>(pick(random, 2, 9));
  tree->a = random_tree(random, depth - 1);
  const bool divides = tree->kind >= Kind::FloorDiv && tree->kind <= Kind::Mod;
  tree->b = random_tree(random, divides ? static_cast<int>(pick(random, 0, 1)) : depth - 1);
  return tree;
}

Wide floor_of(Wide a, Wide b) { return a / b - (a % b != 0 && (a < 0) != (b < 0) ? 1 : 0); }

std::optional<Wide> walk(const Tree& tree, const Values& values) {
  if (tree.kind == Kind::Constant) return tree.value;
  if (tree.kind == Kind::Symbol) {
    return values.at(symbols()[static_cast<size_t>(tree.value)].name());
  }
  const auto a = walk(*tree.a, values), b = walk(*tree.b, values);
  if (!a || !b) return std::nullopt;
  const bool divides = tree.kind >= Kind::FloorDiv && tree.kind <= Kind::Mod;
  if (divides && *b == 0) return std::nullopt;
  switch (tree.kind) {
    case Kind::Add:
      return *a + *b;
    case Kind::Sub:
      return *a - *b;
    case Kind::Mul:
      return *a * *b;
    case Kind::FloorDiv:
      return floor_of(*a, *b);
    case Kind::CeilDiv:
      return -floor_of(-*a, *b);
    case Kind::Mod:
      return *a - *b * floor_of(*a, *b);
    case Kind::Min:
      return std::min(*a, *b);
    default:
      return std::max(*a, *b);
  }
}

Dim to_dim(const Tree& tree) {
  if (tree.kind == Kind::Constant) return tree.value;
  if (tree.kind == Kind::Symbol) return symbols()[static_cast<size_t>(tree.value)];
  const Dim a = to_dim(*tree.a), b = to_dim(*tree.b);
  switch (tree.kind) {
    case Kind::Add:
      return a + b;
    case Kind::Sub:
      return a - b;
    case Kind::Mul:
      return a * b;
    case Kind::FloorDiv:
      return floordiv(a, b);
    case Kind::CeilDiv:
      return ceildiv(a, b);
    case Kind::Mod:
      return mod(a, b);
    case Kind::Min:
      return min(a, b);
    default:
      return max(a, b);
  }
}

// nullopt where the expression divides by the constant 0.
std::optional<Dim> build(const Tree& tree) {
  try {
    return to_dim(tree);
  } catch (const Error& error) {
    EXPECT_EQ(error.kind(), ErrorKind::User) << error.what();
    return std::nullopt;
  }
}

std::string show(const Values& values) {
  std::string text;
  for (const auto& [name, value] : values) text += name + "=" + std::to_string(value) + " ";
  return text;
}

SymbolValues lookup(const Values& values) {
  return [&values](const Symbol& symbol) { return std::optional(values.at(symbol.name())); };
}

Symbol symbol_named(std::string_view name) {
  for (const Symbol& symbol : symbols()) {
    if (symbol.name() == name) return symbol;
  }
  throw user_error("no symbol {}", name);
}

struct Case {
  std::unique_ptr<Tree> tree;
  Dim dim;
};

std::optional<Case> random_case(Random& random, int depth) {
  auto tree = random_tree(random, depth);
  auto dim = build(*tree);
  if (!dim) return std::nullopt;
  return Case{std::move(tree), *dim};
}

bool agrees(const Case& c, const Values& values) {
  const auto expected = walk(*c.tree, values);
  if (!expected) return true;  // division by zero: any answer will do
  const auto actual = c.dim.evaluate(lookup(values));
  const Bounds bounds = c.dim.bounds();
  const bool value_agrees = actual && *actual == *expected;
  const bool within = *expected >= bounds.lo && *expected <= bounds.hi;
  EXPECT_TRUE(value_agrees) << c.dim.to_string() << " at " << show(values) << "is "
                            << actual.value_or(-1) << ", not " << static_cast<int64_t>(*expected);
  EXPECT_TRUE(within) << c.dim.to_string() << " at " << show(values) << "is "
                      << static_cast<int64_t>(*expected) << ", outside " << bounds.lo << " .. "
                      << bounds.hi;
  return value_agrees && within;
}

TEST(DimFuzz, SimplifiedExpressionsKeepTheirValueAndStayWithinTheirBounds) {
  Random random(20240611);
  int failures = 0;
  for (int n = 0; n < expressions() && failures < 10; ++n) {
    const auto c = random_case(random, static_cast<int>(pick(random, 1, 4)));
    if (!c) continue;
    for (int sample = 0; sample < 3; ++sample) failures += !agrees(*c, random_values(random));
  }
}

TEST(DimFuzz, ProofsAreNeverContradictedByValues) {
  Random random(7);
  int failures = 0, yes = 0, no = 0;
  for (int n = 0; n < expressions() / 10 && failures < 10; ++n) {
    const auto a = random_case(random, 2), b = random_case(random, 2);
    if (!a || !b) continue;
    const Proof equal = prove_equal(a->dim, b->dim), le = prove_le(a->dim, b->dim);
    yes += le == Proof::Yes;
    no += le == Proof::No;
    for (int sample = 0; sample < 4; ++sample) {
      const Values values = random_values(random);
      const auto x = walk(*a->tree, values), y = walk(*b->tree, values);
      if (!x || !y) continue;
      const bool wrong = (equal == Proof::Yes && *x != *y) || (equal == Proof::No && *x == *y) ||
                         (le == Proof::Yes && *x > *y) || (le == Proof::No && *x <= *y);
      EXPECT_FALSE(wrong) << a->dim.to_string() << " against " << b->dim.to_string() << " at "
                          << show(values);
      failures += wrong;
    }
  }
  EXPECT_GT(yes, expressions() / 200);  // the proofs must also be of use
  EXPECT_GT(no, expressions() / 200);
}

TEST(DimFuzz, TextRoundTripsAndSubstitutionCommutesWithEvaluation) {
  Random random(99);
  for (int n = 0; n < expressions() / 20; ++n) {
    const auto c = random_case(random, 3), value = random_case(random, 1);
    if (!c || !value) continue;
    ASSERT_EQ(Dim::parse(c->dim.to_string(), symbol_named), c->dim) << c->dim.to_string();

    const Symbol x = symbol_named("x");
    Values values = random_values(random);
    const auto replaced = walk(*value->tree, values);
    if (!replaced || *replaced < x.bounds().lo || *replaced > x.bounds().hi) continue;
    std::optional<Dim> substituted;
    try {
      substituted = c->dim.substitute(x, value->dim);
    } catch (const Error&) {
      continue;  // it divides by what became the constant 0
    }
    const auto actual = substituted->evaluate(lookup(values));
    values["x"] = static_cast<int64_t>(*replaced);
    const auto expected = walk(*c->tree, values);
    if (expected) {
      ASSERT_EQ(actual, static_cast<int64_t>(*expected)) << substituted->to_string();
    }
  }
}

}  // namespace
}  // namespace tenon
