// Patterns: what a term looks like, as a small array in postorder that is built at compile time by
// writing the term: `max(floordiv(x, c0) * c0, x)`. Nothing here knows an IR; arithmetic is spelled
// with verbs that each IR maps to its own ops, and any other op is spelled `op(kId, x, y)`.
#pragma once

#include <cstddef>
#include <cstdint>

namespace tenon::rewrite {

using OpId = uint16_t;

// The arithmetic that operators and functions of patterns stand for. An adaptor maps them to its
// ops.
inline constexpr OpId kFirstVerb = 0xff00;
enum Verb : OpId { kAdd = kFirstVerb, kSub, kMul, kDiv, kNeg, kFloorDiv, kMod, kMin, kMax };

// A constant: an integer or a real number. Equal if they are the same number.
struct Number {
  bool is_integer = true;
  int64_t integer = 0;
  double real = 0;

  constexpr Number() = default;
  constexpr Number(int64_t value) : integer(value), real(static_cast<double>(value)) {}  // NOLINT
  constexpr Number(int value) : Number(int64_t{value}) {}                                // NOLINT
  constexpr Number(double value) : is_integer(false), real(value) {}                     // NOLINT
  constexpr bool operator==(const Number& other) const {
    if (is_integer && other.is_integer) return integer == other.integer;
    return real == other.real;
  }
};

enum class ItemKind : uint8_t {
  Wildcard,  // any term; the same wildcard again: the same term
  Constant,  // any constant, captured; the same again: the same number
  Literal,   // this number
  Op,
};

struct Item {
  ItemKind kind = ItemKind::Literal;
  uint8_t index = 0;  // of a wildcard or constant
  uint8_t arity = 0;  // of an op
  uint8_t size = 1;   // items of the subtree that ends here
  OpId op = 0;
  Number literal;
};

inline constexpr int kMaxItems = 32;
inline constexpr int kMaxArity = 4;
inline constexpr int kWildcards = 6;
inline constexpr int kConstants = 4;

// Not constexpr, so that a pattern that is too large fails to compile.
inline void pattern_is_too_large() {}

struct Pattern {
  Item items[kMaxItems];
  uint8_t size = 0;

  constexpr Pattern() = default;
  constexpr Pattern(int value) : Pattern(literal(Number(value))) {}      // NOLINT: `x + 0`
  constexpr Pattern(int64_t value) : Pattern(literal(Number(value))) {}  // NOLINT
  constexpr Pattern(double value) : Pattern(literal(Number(value))) {}   // NOLINT: `x * 0.5`
  constexpr explicit Pattern(const Item& item) { push(item); }

  constexpr const Item& root() const { return items[size - 1]; }
  constexpr void push(const Item& item) {
    if (size == kMaxItems) pattern_is_too_large();
    items[size++] = item;
  }

 private:
  static constexpr Item literal(Number value) {
    Item item;
    item.literal = value;
    return item;
  }
};

constexpr Pattern wildcard(int index) {
  Item item;
  item.kind = ItemKind::Wildcard;
  item.index = static_cast<uint8_t>(index);
  return Pattern(item);
}

constexpr Pattern constant(int index) {
  Item item;
  item.kind = ItemKind::Constant;
  item.index = static_cast<uint8_t>(index);
  return Pattern(item);
}

template <typename... Args>
constexpr Pattern op(OpId id, const Args&... args) {
  static_assert(sizeof...(args) <= kMaxArity);
  Pattern result;
  const auto append = [&result](const Pattern& arg) {
    for (int i = 0; i < arg.size; ++i) result.push(arg.items[i]);
  };
  (append(Pattern(args)), ...);
  Item item;
  item.kind = ItemKind::Op;
  item.op = id;
  item.arity = static_cast<uint8_t>(sizeof...(args));
  item.size = static_cast<uint8_t>(result.size + 1);
  result.push(item);
  return result;
}

inline constexpr Pattern x = wildcard(0), y = wildcard(1), z = wildcard(2);
inline constexpr Pattern u = wildcard(3), v = wildcard(4), w = wildcard(5);
inline constexpr Pattern c0 = constant(0), c1 = constant(1), c2 = constant(2), c3 = constant(3);

constexpr Pattern operator+(const Pattern& a, const Pattern& b) { return op(kAdd, a, b); }
constexpr Pattern operator-(const Pattern& a, const Pattern& b) { return op(kSub, a, b); }
constexpr Pattern operator*(const Pattern& a, const Pattern& b) { return op(kMul, a, b); }
constexpr Pattern operator/(const Pattern& a, const Pattern& b) { return op(kDiv, a, b); }
constexpr Pattern operator-(const Pattern& a) { return op(kNeg, a); }
constexpr Pattern floordiv(const Pattern& a, const Pattern& b) { return op(kFloorDiv, a, b); }
constexpr Pattern mod(const Pattern& a, const Pattern& b) { return op(kMod, a, b); }
constexpr Pattern min(const Pattern& a, const Pattern& b) { return op(kMin, a, b); }
constexpr Pattern max(const Pattern& a, const Pattern& b) { return op(kMax, a, b); }

}  // namespace tenon::rewrite
