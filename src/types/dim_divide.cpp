// Floor division. Each law below is one step on `quotient + floor(numerator / denominator)`; the
// steps run until none applies, and what is left becomes an atom. All laws hold for any denominator
// other than zero unless they say so.
#include <algorithm>

#include "base/error.h"
#include "types/dim_node.h"

namespace tenon {
namespace {

using Term = Dim::Term;

class Division {
 public:
  Division(const Dim& n, const Dim& d) : numerator_(n), denominator_(d) {}

  Dim run() {
    for (;;) {
      make_positive();
      split();
      if (fold()) return quotient_;
      if (!cancel() && !narrow() && !flatten()) break;
    }
    return quotient_ +
           DimBuild::atom(DimBuild::make_atom(AtomKind::FloorDiv, {numerator_, denominator_}));
  }

 private:
  void make_positive();  // floor(n / d) = floor(-n / -d)
  void split();          // floor((q*d + r) / d) = q + floor(r / d)
  bool fold();           // the whole quotient is a known number
  bool cancel();         // floor(g*n / (g*d)) = floor(n / d)
  bool narrow();         // floor((g*u + s) / (g*e)) = floor(u / e)  for 0 <= s < g, e > 0
  bool flatten();        // floor((floor(x / a) + y) / d) = floor((x + a*y) / (a*d))  for d > 0

  bool is_monomial() const { return denominator_.terms().size() == 1; }
  const Term& divisor() const { return denominator_.terms()[0]; }
  void split_by_monomial();
  bool split_by_sum();
  bool narrow_by(const Term& g);

  Dim quotient_, numerator_, denominator_;
};

void Division::make_positive() {
  const Bounds b = denominator_.bounds();
  const bool negative = b.hi < 0 || (b.lo < 0 && divisor().coefficient < 0);
  if (!negative) return;
  numerator_ = numerator_ * Dim(-1);
  denominator_ = denominator_ * Dim(-1);
}

void Division::split() {
  if (is_monomial()) {
    split_by_monomial();
  } else {
    while (split_by_sum()) {
    }
  }
}

void Division::split_by_monomial() {
  const Term& d = divisor();
  std::vector<Term> whole, rest;
  for (const Term& term : numerator_.terms()) {
    auto atoms = divide_atoms(term.atoms, d.atoms);
    if (!atoms) {
      rest.push_back(term);
      continue;
    }
    // The constant keeps a remainder in 0 .. d - 1; other coefficients keep their sign, which keeps
    // bounds tight.
    const bool is_constant = term.atoms.empty();
    const int64_t q = is_constant           ? floor_div(term.coefficient, d.coefficient)
                      : d.coefficient == -1 ? checked_mul(term.coefficient, -1)
                                            : term.coefficient / d.coefficient;
    const int64_t r = term.coefficient - q * d.coefficient;
    if (q != 0) whole.push_back({q, std::move(*atoms)});
    if (r != 0) rest.push_back({r, term.atoms});
  }
  if (whole.empty()) return;
  quotient_ = quotient_ + DimBuild::sum(std::move(whole));
  numerator_ = DimBuild::canonical(std::move(rest));
}

// Takes a multiple of a sum out where that makes the numerator shorter.
bool Division::split_by_sum() {
  for (const Term& term : numerator_.terms()) {
    const auto q = divide_exactly(term, divisor());
    if (!q) continue;
    const Dim multiple = DimBuild::term(*q);
    Dim rest = numerator_ - multiple * denominator_;
    if (rest.terms().size() >= numerator_.terms().size()) continue;
    quotient_ = quotient_ + multiple;
    numerator_ = std::move(rest);
    return true;
  }
  return false;
}

bool Division::fold() {
  if (numerator_.is_const(0)) return true;
  const Bounds n = numerator_.bounds();
  if (denominator_.is_const()) {
    if (n.lo <= -kDimInf || n.hi >= kDimInf) return false;
    const int64_t c = denominator_.const_value();
    const int64_t first = floor_div(n.lo, c);
    if (first != floor_div(n.hi, c)) return false;
    quotient_ = quotient_ + Dim(first);
    return true;
  }
  if (n.hi >= 0 && proves_nonnegative(denominator_ - 1 - numerator_) &&
      proves_nonnegative(numerator_)) {
    return true;
  }
  if (n.lo < 0 && proves_nonnegative(numerator_ + denominator_) &&
      proves_nonnegative(Dim(-1) - numerator_)) {
    quotient_ = quotient_ - 1;
    return true;
  }
  return false;
}

bool Division::cancel() {
  Term g = numerator_.terms()[0];
  for (const Term& term : numerator_.terms()) g = common_factor(g, term);
  for (const Term& term : denominator_.terms()) g = common_factor(g, term);
  if (is_one(g)) return false;
  const auto divided = [&g](const Dim& d) {
    std::vector<Term> terms;
    for (const Term& term : d.terms()) terms.push_back(*divide_exactly(term, g));
    return DimBuild::sum(std::move(terms));
  };
  numerator_ = divided(numerator_);
  denominator_ = divided(denominator_);
  return true;
}

bool Division::narrow() {
  if (!is_monomial()) return false;
  for (const Term& term : numerator_.terms()) {
    if (term.atoms.empty()) continue;
    const Term g = common_factor(term, divisor());
    if (!is_one(g) && narrow_by(g)) return true;
  }
  return false;
}

bool Division::narrow_by(const Term& g) {
  std::vector<Term> multiple, rest;
  for (const Term& term : numerator_.terms()) {
    if (auto q = divide_exactly(term, g)) {
      multiple.push_back(std::move(*q));
    } else if (term.atoms.empty() && g.atoms.empty()) {
      const int64_t q = floor_div(term.coefficient, g.coefficient);
      multiple.push_back({q, {}});
      rest.push_back({term.coefficient - q * g.coefficient, {}});
    } else {
      rest.push_back(term);
    }
  }
  const auto e = divide_exactly(divisor(), g);
  const Dim divided = DimBuild::term(*e);
  if (divided.bounds().lo < 1) return false;
  const Dim remainder = DimBuild::sum(std::move(rest));
  const Dim limit = DimBuild::term(g);
  if (!proves_nonnegative(remainder) || !proves_nonnegative(limit - 1 - remainder)) return false;
  numerator_ = DimBuild::sum(std::move(multiple));
  denominator_ = divided;
  return true;
}

bool Division::flatten() {
  if (denominator_.bounds().lo < 1) return false;
  const Dim::Atom* inner = nullptr;
  for (const Term& term : numerator_.terms()) {
    for (const AtomPtr& atom : term.atoms) {
      if (atom->kind != AtomKind::FloorDiv) continue;
      if (inner || term.coefficient != 1 || term.atoms.size() != 1) return false;
      inner = atom.get();
    }
  }
  if (!inner) return false;
  try {
    const Dim x = inner->args[0], a = inner->args[1];
    const Dim y = numerator_ - floordiv(x, a);
    Dim n = x + a * y;
    denominator_ = denominator_ * a;
    numerator_ = std::move(n);
    return true;
  } catch (const Error&) {
    return false;  // the product of the divisors does not fit: it stays nested
  }
}

}  // namespace

Dim floordiv(const Dim& a, const Dim& b) {
  if (b.is_const(0)) throw user_error("[floordiv] division of {} by zero", a.to_string());
  if (a.is_const() && b.is_const()) return floor_div(a.const_value(), b.const_value());
  return Division(a, b).run();
}

}  // namespace tenon
