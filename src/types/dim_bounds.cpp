// Numeric bounds of a Dim: interval arithmetic over its terms, which saturates instead of
// overflowing, made tighter where a division and its numerator occur together: `a - c*floordiv(a,
// c)` lies in 0 .. c - 1 however wide `a` is.
#include <algorithm>

#include "types/dim_node.h"

namespace tenon {
namespace {

using Wide = __int128;

constexpr Wide kInfinite = Wide{1} << 126;
constexpr size_t kMaxExamined = 32;  // longer sums get interval bounds only

Wide widen(int64_t v) { return v >= kDimInf ? kInfinite : v <= -kDimInf ? -kInfinite : Wide{v}; }

// A finite end that does not fit becomes the widest finite one, which is weaker and so still sound.
Bounds narrow(Wide lo, Wide hi) {
  constexpr Wide kMost = kDimInf - 1;
  return {lo < -kMost ? -kDimInf : static_cast<int64_t>(std::min(lo, kMost)),
          hi > kMost ? kDimInf : static_cast<int64_t>(std::max(hi, -kMost))};
}

Wide times(Wide a, Wide b) {
  if (a == 0 || b == 0) return 0;
  const bool infinite = a == kInfinite || a == -kInfinite || b == kInfinite || b == -kInfinite;
  if (infinite) return (a < 0) == (b < 0) ? kInfinite : -kInfinite;
  return a * b;  // both fit 64 bits
}

Wide over(Wide a, Wide b) {  // b >= 1
  if (a == kInfinite || a == -kInfinite) return a;
  if (b == kInfinite) return a < 0 ? -1 : 0;
  return a / b - (a % b != 0 && a < 0 ? 1 : 0);
}

Bounds hull(std::initializer_list<Wide> corners) {
  return narrow(std::min(corners), std::max(corners));
}

Bounds naive_bounds(std::span<const Dim::Term> terms) {
  Bounds total{0, 0};
  for (const Dim::Term& term : terms) total = add(total, bounds_of(term));
  return total;
}

bool is_division(const Dim::Atom& atom) { return atom.kind == AtomKind::FloorDiv; }

bool has_division(const Dim::Term& term) {
  return std::any_of(term.atoms.begin(), term.atoms.end(),
                     [](const AtomPtr& atom) { return is_division(*atom); });
}

std::optional<Dim::Term> single_term(const Dim& d) {
  if (d.terms().size() != 1) return std::nullopt;
  return d.terms()[0];
}

// q * (n - c*floordiv(n, c)) + rest, where the term is -q*c*floordiv(n, c).
std::optional<Bounds> through_numerator(const Dim& d, const Dim::Term& term, const AtomPtr& atom) {
  const Dim& numerator = atom->args[0];
  const Dim& denominator = atom->args[1];
  const auto divisor = single_term(denominator);
  const auto around = single_term(without_atom(term, *atom));
  if (!divisor || !around || denominator.bounds().lo < 1) return std::nullopt;
  const auto negated = divide_exactly(*around, *divisor);
  if (!negated) return std::nullopt;
  const Dim q = DimBuild::term(*negated) * Dim(-1);
  const Dim rest = d - q * (numerator - denominator * DimBuild::atom(atom));
  if (rest.terms().size() >= d.terms().size()) return std::nullopt;
  const Bounds remainder = add({0, denominator.bounds().hi}, {0, -1});
  return add(mul(q.bounds(), remainder), rest.bounds());
}

// q * (f - m*floordiv(f, m)) + rest, where f = floordiv(n, c), so that floordiv(f, m) has become
// floordiv(n, c*m).
std::optional<Bounds> through_division(const Dim& d, const Dim::Term& term, const AtomPtr& atom) {
  const auto around = single_term(without_atom(term, *atom));
  for (const Dim::Term& other : d.terms()) {
    for (const AtomPtr& inner : other.atoms) {
      if (!is_division(*inner) || !(inner->args[0] == atom->args[0])) continue;
      const Dim q = without_atom(other, *inner);
      const auto negated = divide_exactly(*around, q.terms()[0]);
      if (!negated) continue;
      const Dim m = DimBuild::term(*negated) * Dim(-1);
      if (m.bounds().lo < 2 || !(inner->args[1] * m == atom->args[1])) continue;
      const Dim rest = d - DimBuild::term(other) - DimBuild::term(term);
      const Bounds remainder = add({0, m.bounds().hi}, {0, -1});
      return add(mul(q.bounds(), remainder), rest.bounds());
    }
  }
  return std::nullopt;
}

// Takes out the first remainder it finds; the rest is a shorter Dim that takes out the next one.
std::optional<Bounds> through_remainder(const Dim& d) {
  for (const Dim::Term& term : d.terms()) {
    for (const AtomPtr& atom : term.atoms) {
      if (!is_division(*atom)) continue;
      if (const auto b = through_numerator(d, term, atom)) return b;
      if (const auto b = through_division(d, term, atom)) return b;
    }
  }
  return std::nullopt;
}

Bounds compute_bounds(const Dim& d) {
  const Bounds bounds = naive_bounds(d.terms());
  const bool has_remainder = d.terms().size() > 1 && d.terms().size() <= kMaxExamined &&
                             std::any_of(d.terms().begin(), d.terms().end(), has_division);
  if (!has_remainder) return bounds;
  const auto tighter = through_remainder(d);
  return tighter ? intersect(bounds, *tighter) : bounds;
}

Bounds compute_or_naive(const Dim& d) {
  try {
    return compute_bounds(d);
  } catch (const std::exception&) {  // a coefficient overflowed on the way to tighter bounds
    return naive_bounds(d.terms());
  }
}

}  // namespace

Bounds add(Bounds a, Bounds b) {
  const Wide lo = a.lo <= -kDimInf || b.lo <= -kDimInf ? -kInfinite : Wide{a.lo} + b.lo;
  const Wide hi = a.hi >= kDimInf || b.hi >= kDimInf ? kInfinite : Wide{a.hi} + b.hi;
  return narrow(lo, hi);
}

Bounds mul(Bounds a, Bounds b) {
  const Wide al = widen(a.lo), ah = widen(a.hi), bl = widen(b.lo), bh = widen(b.hi);
  return hull({times(al, bl), times(al, bh), times(ah, bl), times(ah, bh)});
}

Bounds divide(Bounds a, Bounds b) {
  const Wide al = widen(a.lo), ah = widen(a.hi), bl = widen(b.lo), bh = widen(b.hi);
  if (bl >= 1) return hull({over(al, bl), over(al, bh), over(ah, bl), over(ah, bh)});
  // The divisor may have either sign: the quotient is no larger in magnitude than the numerator.
  return hull({al, -al, ah, -ah});
}

Bounds intersect(Bounds a, Bounds b) {
  const Bounds both{std::max(a.lo, b.lo), std::min(a.hi, b.hi)};
  return both.lo <= both.hi ? both : a;  // empty only where no value exists at all
}

Bounds bounds_of(const Dim::Term& term) {
  Bounds product{term.coefficient, term.coefficient};
  for (const AtomPtr& atom : term.atoms) product = mul(product, atom->bounds);
  return product;
}

Bounds atom_bounds(AtomKind kind, const std::vector<Dim>& args) {
  Bounds bounds = args[0].bounds();
  if (kind == AtomKind::FloorDiv) return divide(bounds, args[1].bounds());
  for (const Dim& arg : args) {
    const Bounds b = arg.bounds();
    bounds = kind == AtomKind::Min ? Bounds{std::min(bounds.lo, b.lo), std::min(bounds.hi, b.hi)}
                                   : Bounds{std::max(bounds.lo, b.lo), std::max(bounds.hi, b.hi)};
  }
  return bounds;
}

Bounds Dim::bounds() const {
  if (!node_->has_bounds.load(std::memory_order_acquire)) {
    const Bounds bounds = compute_or_naive(*this);
    node_->lo.store(bounds.lo, std::memory_order_relaxed);
    node_->hi.store(bounds.hi, std::memory_order_relaxed);
    node_->has_bounds.store(true, std::memory_order_release);
  }
  return {node_->lo.load(std::memory_order_relaxed), node_->hi.load(std::memory_order_relaxed)};
}

}  // namespace tenon
