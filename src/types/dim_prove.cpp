// Proofs about Dims. To show d >= 0, numeric bounds are tried first; then d is made smaller step by
// step, one atom at a time, by replacing the atom with an end of its range (for a loop's range
// symbol: extent - 1) or with an argument of a minimum or maximum, until the bounds decide.
// Replacing an atom where it stands as a plain factor is sound even when its symbols also occur
// elsewhere, because the smallest value over a larger set is no larger.
#include <algorithm>
#include <limits>
#include <numeric>

#include "base/error.h"
#include "types/dim_node.h"

namespace tenon {
namespace {

enum class Sign { Nonnegative, Nonpositive };

class NonnegativeProof {
 public:
  bool show(const Dim& d);

 private:
  bool by_atom(const Dim& d, const AtomPtr& atom);
  bool by_symbol(const Dim& rest, const Dim& factor, const Symbol& symbol, Sign sign);
  bool by_division(const Dim& rest, const Dim& factor, const Dim::Atom& atom, Sign sign);
  bool by_choice(const Dim& rest, const Dim& factor, const Dim::Atom& atom, Sign sign);

  // A proof that needs more is not worth its time.
  static constexpr size_t kMaxTerms = 32;
  int steps_left_ = 24;
};

// The atoms of d, in the order in which to replace them: divisions, minima and maxima first,
// because what they stand for may cancel; then range symbols, whose extents may cancel; then plain
// symbols.
std::vector<AtomPtr> replaceable_atoms(const Dim& d) {
  std::vector<AtomPtr> atoms;
  for (const Dim::Term& term : d.terms()) {
    for (const AtomPtr& atom : term.atoms) {
      const auto same = [&](const AtomPtr& a) { return compare(*a, *atom) == 0; };
      if (std::none_of(atoms.begin(), atoms.end(), same)) atoms.push_back(atom);
    }
  }
  const auto rank = [](const AtomPtr& a) { return !a->symbol ? 0 : a->symbol->extent() ? 1 : 2; };
  std::sort(atoms.begin(), atoms.end(), [&](const AtomPtr& a, const AtomPtr& b) {
    return rank(a) != rank(b) ? rank(a) < rank(b) : compare(*a, *b) < 0;
  });
  return atoms;
}

// d = factor * atom + rest, with the atom in neither; nullopt where d holds a power of the atom.
struct Linear {
  Dim factor, rest;
};
std::optional<Linear> linear_in(const Dim& d, const Dim::Atom& atom) {
  std::vector<Dim::Term> with, without;
  for (const Dim::Term& term : d.terms()) {
    const auto is_it = [&](const AtomPtr& a) { return compare(*a, atom) == 0; };
    const auto found = std::find_if(term.atoms.begin(), term.atoms.end(), is_it);
    if (found == term.atoms.end()) {
      without.push_back(term);
      continue;
    }
    if (std::any_of(found + 1, term.atoms.end(), is_it)) return std::nullopt;
    Dim::Term factor = term;
    factor.atoms.erase(factor.atoms.begin() + (found - term.atoms.begin()));
    with.push_back(std::move(factor));
  }
  return Linear{DimBuild::sum(std::move(with)), DimBuild::canonical(std::move(without))};
}

std::optional<Dim> exact_quotient(const Dim& d, const Dim& divisor) {
  if (divisor.terms().size() != 1) return std::nullopt;
  std::vector<Dim::Term> quotient;
  for (const Dim::Term& term : d.terms()) {
    auto q = divide_exactly(term, divisor.terms()[0]);
    if (!q) return std::nullopt;
    quotient.push_back(std::move(*q));
  }
  return DimBuild::sum(std::move(quotient));
}

// A value of d somewhere within the symbols' bounds, to give up early on what is false.
std::optional<int64_t> sample(const Dim& d) {
  return d.evaluate([](const Symbol& symbol) -> std::optional<int64_t> {
    const int64_t lo = symbol.bounds().lo;
    return lo <= -kDimInf ? 0 : lo;
  });
}

bool NonnegativeProof::show(const Dim& d) {
  if (d.bounds().lo >= 0) return true;
  if (d.bounds().hi < 0 || d.terms().size() > kMaxTerms || steps_left_-- <= 0) return false;
  if (const auto value = sample(d); value && *value < 0) return false;
  for (const AtomPtr& atom : replaceable_atoms(d)) {
    if (by_atom(d, atom)) return true;
    if (steps_left_ <= 0) return false;
  }
  return false;
}

bool NonnegativeProof::by_atom(const Dim& d, const AtomPtr& atom) {
  const auto linear = linear_in(d, *atom);
  if (!linear) return false;
  const auto& [factor, rest] = *linear;
  const Bounds b = factor.bounds();
  if (b.lo < 0 && b.hi > 0) return false;
  const Sign sign = b.lo >= 0 ? Sign::Nonnegative : Sign::Nonpositive;
  if (atom->symbol) return by_symbol(rest, factor, *atom->symbol, sign);
  if (atom->kind == AtomKind::FloorDiv) return by_division(rest, factor, *atom, sign);
  return by_choice(rest, factor, *atom, sign);
}

bool NonnegativeProof::by_symbol(const Dim& rest, const Dim& factor, const Symbol& symbol,
                                 Sign sign) {
  const Bounds b = symbol.bounds();
  if (sign == Sign::Nonnegative) return b.lo > -kDimInf && show(rest + factor * Dim(b.lo));
  if (symbol.extent()) return show(rest + factor * (*symbol.extent() - 1));
  return b.hi < kDimInf && show(rest + factor * Dim(b.hi));
}

// c*floor(n / c) lies in n - (c - 1) .. n. Where the factor is no multiple of c, everything is
// scaled by c.
bool NonnegativeProof::by_division(const Dim& rest, const Dim& factor, const Dim::Atom& atom,
                                   Sign sign) {
  const Dim& n = atom.args[0];
  const Dim& c = atom.args[1];
  if (c.bounds().lo < 1) return false;
  const Dim end = sign == Sign::Nonnegative ? n - c + 1 : n;
  if (const auto whole = exact_quotient(factor, c)) return show(rest + *whole * end);
  return show(rest * c + factor * end);
}

bool NonnegativeProof::by_choice(const Dim& rest, const Dim& factor, const Dim::Atom& atom,
                                 Sign sign) {
  const auto shows = [&](const Dim& arg) { return show(rest + factor * arg); };
  const bool any_will_do = (atom.kind == AtomKind::Max) == (sign == Sign::Nonnegative);
  return any_will_do ? std::any_of(atom.args.begin(), atom.args.end(), shows)
                     : std::all_of(atom.args.begin(), atom.args.end(), shows);
}

// 2*i + 1 is never 0: the constant is no multiple of what all coefficients share.
bool never_zero_by_divisor(const Dim& d) {
  int64_t g = 0;
  for (const Dim::Term& term : d.terms()) {
    if (term.coefficient == std::numeric_limits<int64_t>::min()) return false;
    if (!term.atoms.empty()) g = std::gcd(g, term.coefficient);
  }
  return g > 1 && d.constant_term() % g != 0;
}

// Proofs compute with larger numbers than the Dims at hand; where those overflow there is no proof.
template <typename Function>
Proof unknown_on_overflow(Function&& prove) {
  try {
    return prove();
  } catch (const Error&) {
    return Proof::Unknown;
  }
}

}  // namespace

bool proves_nonnegative(const Dim& d) {
  try {
    return NonnegativeProof().show(d);
  } catch (const Error&) {
    return false;
  }
}

Proof prove_equal(const Dim& a, const Dim& b) {
  if (a == b) return Proof::Yes;
  return unknown_on_overflow([&] {
    const Dim d = a - b;
    if (d.is_const()) return d.is_const(0) ? Proof::Yes : Proof::No;
    if (!d.bounds().contains(0) || never_zero_by_divisor(d)) return Proof::No;
    const Dim negated = Dim(0) - d;
    const bool nonnegative = proves_nonnegative(d), nonpositive = proves_nonnegative(negated);
    if (nonnegative && nonpositive) return Proof::Yes;
    if (nonnegative && proves_nonnegative(d - 1)) return Proof::No;
    if (nonpositive && proves_nonnegative(negated - 1)) return Proof::No;
    return Proof::Unknown;
  });
}

Proof prove_le(const Dim& a, const Dim& b) {
  if (a == b) return Proof::Yes;
  return unknown_on_overflow([&] {
    const Dim d = b - a;
    if (proves_nonnegative(d)) return Proof::Yes;
    return proves_nonnegative(Dim(-1) - d) ? Proof::No : Proof::Unknown;
  });
}

}  // namespace tenon
