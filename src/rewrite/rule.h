// Rules: rows of a constexpr table, `{name, domain, from, to, when}`. Because they are data they
// can be listed, traced, disabled by name and fuzzed. `valid(rules)` is meant for a static_assert
// beside each table.
#pragma once

#include <span>
#include <string_view>

#include "rewrite/pattern.h"

namespace tenon::rewrite {

// Where a rule holds. A term may be in several: an index is an integer that is proven not to wrap.
using Domain = uint32_t;
inline constexpr Domain kInt = 1, kFloat = 2, kIndex = 4, kBool = 8, kAny = ~Domain{0};

// One test on what was captured.
struct Test {
  enum class Kind : uint8_t { Positive, Negative, NonZero, Integer, Near, Divides, Less, Ask } kind;
  uint8_t first = 0;   // index of a constant; for Ask of a wildcard
  uint8_t second = 0;  // index of a constant; for Ask the question
  double value = 0, tolerance = 0;
};

// All tests must hold.
struct Guard {
  static constexpr int kMaxTests = 4;
  Test tests[kMaxTests] = {};
  int count = 0;

  constexpr Guard() = default;
  // NOLINTNEXTLINE(google-explicit-constructor): a rule's column is a test or several
  constexpr Guard(const Test& test) : count(1) { tests[0] = test; }
};

constexpr Guard operator&&(const Guard& a, const Guard& b) {
  Guard both = a;
  for (int i = 0; i < b.count; ++i) {
    if (both.count == Guard::kMaxTests) pattern_is_too_large();
    both.tests[both.count++] = b.tests[i];
  }
  return both;
}

constexpr Guard positive(const Pattern& c) { return Test{Test::Kind::Positive, c.root().index}; }
constexpr Guard negative(const Pattern& c) { return Test{Test::Kind::Negative, c.root().index}; }
constexpr Guard nonzero(const Pattern& c) { return Test{Test::Kind::NonZero, c.root().index}; }
constexpr Guard integer(const Pattern& c) { return Test{Test::Kind::Integer, c.root().index}; }
constexpr Guard less(const Pattern& a, const Pattern& b) {
  return Test{Test::Kind::Less, a.root().index, b.root().index};
}
constexpr Guard divides(const Pattern& a,
                        const Pattern& b) {  // b is a multiple of a, both integers
  return Test{Test::Kind::Divides, a.root().index, b.root().index};
}
// Relative: for constants such as sqrt(2) that models spell with few digits.
constexpr Guard near(const Pattern& c, double value, double tolerance) {
  return Test{Test::Kind::Near, c.root().index, 0, value, tolerance};
}
// A question about the term that only the IR can answer; the adaptor has `bool ask(int question,
// Term)`.
constexpr Guard ask(int question, const Pattern& wildcard) {
  return Test{Test::Kind::Ask, wildcard.root().index, static_cast<uint8_t>(question)};
}

struct Rule {
  std::string_view name;
  Domain domain = kAny;
  Pattern from;
  Pattern to;
  Guard when = {};
};

// What a pattern mentions, as masks.
struct Mentions {
  uint32_t wildcards = 0, constants = 0;
};
constexpr Mentions mentions(const Pattern& pattern) {
  Mentions found;
  for (int i = 0; i < pattern.size; ++i) {
    const Item& item = pattern.items[i];
    if (item.kind == ItemKind::Wildcard) found.wildcards |= 1u << item.index;
    if (item.kind == ItemKind::Constant) found.constants |= 1u << item.index;
  }
  return found;
}

// `to` and `when` may use only what `from` captures; `from` must be an op; names must differ.
constexpr bool valid(const Rule& rule) {
  const Mentions from = mentions(rule.from), to = mentions(rule.to);
  if (rule.name.empty() || rule.from.size == 0 || rule.to.size == 0) return false;
  if (rule.from.root().kind != ItemKind::Op) return false;
  if ((to.wildcards & ~from.wildcards) != 0 || (to.constants & ~from.constants) != 0) return false;
  for (int i = 0; i < rule.when.count; ++i) {
    const Test& test = rule.when.tests[i];
    const bool two = test.kind == Test::Kind::Less || test.kind == Test::Kind::Divides;
    const uint32_t captured = test.kind == Test::Kind::Ask ? from.wildcards : from.constants;
    if ((captured >> test.first & 1u) == 0) return false;
    if (two && (captured >> test.second & 1u) == 0) return false;
  }
  return true;
}

constexpr bool valid(std::span<const Rule> rules) {
  for (size_t i = 0; i < rules.size(); ++i) {
    if (!valid(rules[i])) return false;
    for (size_t j = 0; j < i; ++j) {
      if (rules[i].name == rules[j].name) return false;
    }
  }
  return true;
}

// A test on constants; Ask is the matcher's.
bool holds(const Test& test, std::span<const Number> constants);

}  // namespace tenon::rewrite
