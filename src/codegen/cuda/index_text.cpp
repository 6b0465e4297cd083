// See index_text.h.
#include "codegen/cuda/index_text.h"

#include <fmt/format.h>

#include <algorithm>
#include <limits>
#include <vector>

#include "codegen/text/literals.h"

namespace tenon::codegen::cuda {
namespace {

// Bounds whose ends, at 2^96, stand for whatever is beyond them.
struct Interval {
  using Wide = __int128;
  static constexpr Wide kEnd = Wide{1} << 96;

  Wide lo, hi;

  static Interval of(Bounds bounds) {
    return {bounds.lo <= -kDimInf ? -kEnd : bounds.lo, bounds.hi >= kDimInf ? kEnd : bounds.hi};
  }
  static Wide product(Wide a, Wide b) {
    const long double estimate = static_cast<long double>(a) * static_cast<long double>(b);
    if (estimate >= 0x1p96L) return kEnd;
    return estimate <= -0x1p96L ? -kEnd : a * b;
  }
  Interval operator*(const Interval& other) const {
    const Wide corners[] = {product(lo, other.lo), product(lo, other.hi), product(hi, other.lo),
                            product(hi, other.hi)};
    return {*std::min_element(corners, corners + 4), *std::max_element(corners, corners + 4)};
  }
  Interval operator+(const Interval& other) const {
    return {std::max(lo + other.lo, -kEnd), std::min(hi + other.hi, kEnd)};
  }
  bool fits() const {
    return lo >= std::numeric_limits<int32_t>::min() && hi <= std::numeric_limits<int32_t>::max();
  }
};

std::string widened(const IndexText& x) { return x.wide ? x.text : fmt::format("(i64){}", x.text); }

class Writer {
 public:
  explicit Writer(const SymbolTexts& symbols) : symbols_(symbols) {}

  IndexText sum(const Dim& dim) const;

 private:
  struct Part {
    IndexText value;
    Interval interval;
    size_t depth;
  };
  Part term(const Dim::Term& term) const;
  IndexText atom(const Dim::Atom& atom, size_t& depth) const;
  IndexText quotient(const Dim& numerator, const Dim& denominator) const;
  IndexText extreme(const Dim::Atom& atom) const;
  size_t depth_of(const Dim& dim) const;

  const SymbolTexts& symbols_;
};

// Those of 32 bits are added to each other as long as their sum is one, the rest to an i64.
IndexText Writer::sum(const Dim& dim) const {
  if (dim.is_const()) {
    const int64_t value = dim.const_value();
    const bool wide = !fits_i32({value, value});
    return {wide ? fmt::format("((i64){})", integer_text(value)) : integer_text(value), wide};
  }
  std::vector<Part> parts;
  for (const Dim::Term& t : dim.terms()) {
    if (!t.atoms.empty()) parts.push_back(term(t));
  }
  std::stable_sort(parts.begin(), parts.end(),
                   [](const Part& a, const Part& b) { return a.depth < b.depth; });
  if (const int64_t constant = dim.constant_term(); constant != 0) {
    parts.push_back({sum(constant), Interval::of({constant, constant}), 0});
  }
  std::string narrow, wide;
  Interval reached{0, 0};
  const auto append = [](std::string& text, const std::string& part) {
    text += (text.empty() ? "" : " + ") + part;
  };
  for (const Part& part : parts) {
    const bool joins = !part.value.wide && (reached + part.interval).fits();
    if (joins) reached = reached + part.interval;
    append(joins ? narrow : wide, joins ? part.value.text : widened(part.value));
  }
  if (wide.empty()) return {"(" + narrow + ")", false};
  return {narrow.empty() ? "(" + wide + ")" : fmt::format("({} + ({}))", wide, narrow), true};
}

Writer::Part Writer::term(const Dim::Term& term) const {
  Interval interval{term.coefficient, term.coefficient};
  size_t depth = 0;
  std::vector<IndexText> factors;
  bool narrow = true;
  for (const auto& a : term.atoms) {
    factors.push_back(atom(*a, depth));
    interval = interval * Interval::of(a->bounds);
    narrow = narrow && !factors.back().wide && interval.fits();
  }
  std::string text;
  for (const IndexText& factor : factors)
    text += (text.empty() ? "" : " * ") + (narrow ? factor.text : widened(factor));
  if (term.coefficient != 1) text += " * " + integer_text(term.coefficient);
  return {{text, !narrow}, interval, depth};
}

size_t Writer::depth_of(const Dim& dim) const {
  size_t depth = 0;
  for (const Symbol& symbol : dim.symbols()) depth = std::max(depth, symbols_(symbol).depth);
  return depth;
}

IndexText Writer::atom(const Dim::Atom& atom, size_t& depth) const {
  if (atom.kind == AtomKind::Symbol) {
    const SymbolText symbol = symbols_(*atom.symbol);
    depth = std::max(depth, symbol.depth);
    return {symbol.text, symbol.wide};
  }
  for (const Dim& arg : atom.args) depth = std::max(depth, depth_of(arg));
  IndexText value =
      atom.kind == AtomKind::FloorDiv ? quotient(atom.args[0], atom.args[1]) : extreme(atom);
  // A quotient or the smallest of several may be small where an operand is not.
  if (value.wide && fits_i32(atom.bounds)) return {fmt::format("(i32){}", value.text), false};
  return value;
}

// Unsigned where neither side is negative: a shift or a multiplication where the divisor is known.
IndexText Writer::quotient(const Dim& numerator, const Dim& denominator) const {
  const IndexText a = sum(numerator), b = sum(denominator);
  const bool wide = a.wide || b.wide;
  const char* type = wide ? "i64" : "i32";
  std::string divisor = b.text;
  const int64_t least = denominator.bounds().lo;
  // An extent of 0: what is divided by it is never used.
  if (least < 1) divisor = fmt::format("not_zero<{}>({})", type, b.text);
  if (numerator.bounds().lo >= 0 && least >= 0) {
    if (!wide && denominator.is_const())
      return {fmt::format("(i32)((u32){} / {}u)", a.text, b.text), wide};
    return {fmt::format("({0})((u{1}){2} / (u{1}){3})", type, wide ? 64 : 32, a.text, divisor),
            wide};
  }
  return {fmt::format("floordiv<{}>({}, {})", type, a.text, divisor), wide};
}

IndexText Writer::extreme(const Dim::Atom& atom) const {
  std::vector<IndexText> args;
  bool wide = false;
  for (const Dim& arg : atom.args) {
    args.push_back(sum(arg));
    wide = wide || args.back().wide;
  }
  std::string text = args[0].text;
  for (size_t i = 1; i < args.size(); ++i) {
    text = fmt::format("{}<{}>({}, {})", atom.kind == AtomKind::Min ? "least" : "most",
                       wide ? "i64" : "i32", text, args[i].text);
  }
  return {text, wide};
}

}  // namespace

bool fits_i32(Bounds bounds) { return Interval::of(bounds).fits(); }

IndexText index_text(const Dim& dim, const SymbolTexts& symbols) {
  return Writer(symbols).sum(dim);
}

}  // namespace tenon::codegen::cuda
