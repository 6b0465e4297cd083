// What the files that implement Dim share: the node behind a Dim, arithmetic on single terms, and
// saturating arithmetic on bounds. Private to src/types; everyone else uses dim.h.
#pragma once

#include <atomic>
#include <compare>
#include <memory>
#include <optional>
#include <vector>

#include "tenon/dim.h"

namespace tenon {

struct Dim::Node {
  explicit Node(std::vector<Term> canonical);

  std::vector<Term> terms;
  size_t hash;
  // Bounds are computed when first asked for. Threads that race store the same two numbers.
  mutable std::atomic<bool> has_bounds{false};
  mutable std::atomic<int64_t> lo{0};
  mutable std::atomic<int64_t> hi{0};
};

using AtomPtr = std::shared_ptr<const Dim::Atom>;

struct DimBuild {
  static Dim canonical(std::vector<Dim::Term> terms);  // sorted, merged, without zeros already
  static Dim sum(std::vector<Dim::Term> terms);        // any order, repeats allowed
  static Dim term(Dim::Term term) { return sum({std::move(term)}); }
  static Dim atom(AtomPtr atom) { return canonical({{1, {std::move(atom)}}}); }
  static AtomPtr make_atom(AtomKind kind, std::vector<Dim> args);
  static AtomPtr make_atom(const Symbol& symbol);
};

std::strong_ordering compare(const Dim& a, const Dim& b);
std::strong_ordering compare(const Dim::Atom& a, const Dim::Atom& b);
std::strong_ordering compare_monomials(const Dim::Term& a, const Dim::Term& b);  // not coefficients

// Terms as monomials.
Dim::Term multiply(const Dim::Term& a, const Dim::Term& b);
std::optional<Dim::Term> divide_exactly(const Dim::Term& a, const Dim::Term& b);
std::optional<std::vector<AtomPtr>> divide_atoms(const std::vector<AtomPtr>& a,
                                                 const std::vector<AtomPtr>& b);
Dim::Term common_factor(const Dim::Term& a, const Dim::Term& b);  // positive coefficient
inline bool is_one(const Dim::Term& t) { return t.coefficient == 1 && t.atoms.empty(); }
Dim without_atom(const Dim::Term& term,
                 const Dim::Atom& atom);  // the term with one such factor less

// Coefficient arithmetic; throws User on overflow.
int64_t checked_add(int64_t a, int64_t b);
int64_t checked_mul(int64_t a, int64_t b);
int64_t floor_div(int64_t a, int64_t b);  // b != 0; throws User on overflow

// Bounds arithmetic; sound, saturates.
Bounds add(Bounds a, Bounds b);
Bounds mul(Bounds a, Bounds b);
Bounds divide(Bounds a, Bounds b);
Bounds intersect(Bounds a, Bounds b);
Bounds bounds_of(const Dim::Term& term);
Bounds atom_bounds(AtomKind kind, const std::vector<Dim>& args);

// Whether `d >= 0` for every value of the symbols. Never throws; false means "not shown".
bool proves_nonnegative(const Dim& d);

}  // namespace tenon
