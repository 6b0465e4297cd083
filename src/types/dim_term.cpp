// Single terms: the fixed order that makes sums canonical, products and exact quotients of
// monomials, and checked coefficient arithmetic. The order depends on names and structure only,
// never on addresses, so that text and hashes are the same in every process.
#include <algorithm>
#include <limits>
#include <numeric>

#include "base/error.h"
#include "types/dim_node.h"

namespace tenon {
namespace {

bool atom_less(const AtomPtr& a, const AtomPtr& b) { return compare(*a, *b) < 0; }

[[noreturn]] void overflow() { throw user_error("dimension arithmetic overflows"); }

}  // namespace

std::strong_ordering compare(const Dim::Atom& a, const Dim::Atom& b) {
  if (&a == &b) return std::strong_ordering::equal;
  if (a.kind != b.kind) return a.kind <=> b.kind;
  if (a.kind == AtomKind::Symbol) {
    if (*a.symbol == *b.symbol) return std::strong_ordering::equal;
    return *a.symbol < *b.symbol ? std::strong_ordering::less : std::strong_ordering::greater;
  }
  const size_t n = std::min(a.args.size(), b.args.size());
  for (size_t i = 0; i < n; ++i) {
    if (const auto order = compare(a.args[i], b.args[i]); order != 0) return order;
  }
  return a.args.size() <=> b.args.size();
}

// Lexicographic, except that a longer product goes before its own prefix: the constant comes last.
std::strong_ordering compare_monomials(const Dim::Term& a, const Dim::Term& b) {
  const size_t n = std::min(a.atoms.size(), b.atoms.size());
  for (size_t i = 0; i < n; ++i) {
    if (const auto order = compare(*a.atoms[i], *b.atoms[i]); order != 0) return order;
  }
  return b.atoms.size() <=> a.atoms.size();
}

std::strong_ordering compare(const Dim& a, const Dim& b) {
  const auto x = a.terms();
  const auto y = b.terms();
  if (x.data() == y.data()) return x.size() <=> y.size();
  const size_t n = std::min(x.size(), y.size());
  for (size_t i = 0; i < n; ++i) {
    if (const auto order = compare_monomials(x[i], y[i]); order != 0) return order;
    if (x[i].coefficient != y[i].coefficient) return x[i].coefficient <=> y[i].coefficient;
  }
  return x.size() <=> y.size();
}

Dim::Term multiply(const Dim::Term& a, const Dim::Term& b) {
  Dim::Term product{checked_mul(a.coefficient, b.coefficient), {}};
  product.atoms.reserve(a.atoms.size() + b.atoms.size());
  std::merge(a.atoms.begin(), a.atoms.end(), b.atoms.begin(), b.atoms.end(),
             std::back_inserter(product.atoms), atom_less);
  return product;
}

std::optional<std::vector<AtomPtr>> divide_atoms(const std::vector<AtomPtr>& a,
                                                 const std::vector<AtomPtr>& b) {
  if (!std::includes(a.begin(), a.end(), b.begin(), b.end(), atom_less)) return std::nullopt;
  std::vector<AtomPtr> rest;
  std::set_difference(a.begin(), a.end(), b.begin(), b.end(), std::back_inserter(rest), atom_less);
  return rest;
}

std::optional<Dim::Term> divide_exactly(const Dim::Term& a, const Dim::Term& b) {
  if (b.coefficient == -1 && a.coefficient == std::numeric_limits<int64_t>::min()) return {};
  if (a.coefficient % b.coefficient != 0) return std::nullopt;
  auto atoms = divide_atoms(a.atoms, b.atoms);
  if (!atoms) return std::nullopt;
  return Dim::Term{a.coefficient / b.coefficient, std::move(*atoms)};
}

Dim::Term common_factor(const Dim::Term& a, const Dim::Term& b) {
  // The gcd of two minimal values does not fit; 1 is a common factor of anything.
  constexpr int64_t kMin = std::numeric_limits<int64_t>::min();
  const bool fits = a.coefficient != kMin && b.coefficient != kMin;
  Dim::Term common{fits ? std::gcd(a.coefficient, b.coefficient) : 1, {}};
  std::set_intersection(a.atoms.begin(), a.atoms.end(), b.atoms.begin(), b.atoms.end(),
                        std::back_inserter(common.atoms), atom_less);
  return common;
}

Dim without_atom(const Dim::Term& term, const Dim::Atom& atom) {
  Dim::Term rest = term;
  const auto found = std::find_if(rest.atoms.begin(), rest.atoms.end(),
                                  [&](const AtomPtr& a) { return compare(*a, atom) == 0; });
  TENON_CHECK(found != rest.atoms.end(), "the atom is not a factor of the term");
  rest.atoms.erase(found);
  return DimBuild::term(std::move(rest));
}

int64_t checked_add(int64_t a, int64_t b) {
  int64_t sum;
  if (__builtin_add_overflow(a, b, &sum)) overflow();
  return sum;
}

int64_t checked_mul(int64_t a, int64_t b) {
  int64_t product;
  if (__builtin_mul_overflow(a, b, &product)) overflow();
  return product;
}

int64_t floor_div(int64_t a, int64_t b) {
  if (b == -1) return checked_mul(a, -1);
  const int64_t quotient = a / b;
  return a % b != 0 && (a < 0) != (b < 0) ? quotient - 1 : quotient;
}

}  // namespace tenon
