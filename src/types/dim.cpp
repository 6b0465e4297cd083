// Dims are built here: canonical sums of terms, their order, hash and equality, and the ring
// operations. Everything that makes a Dim ends in DimBuild::canonical, so a Dim that exists is
// canonical.
#include "tenon/dim.h"

#include <algorithm>

#include "base/error.h"
#include "types/dim_node.h"

namespace tenon {
namespace {

// Past this, an expression is hostile or a mistake; expanding it further would only eat memory.
constexpr size_t kMaxTerms = size_t{1} << 14;

size_t mix(size_t seed, size_t value) {
  uint64_t x = seed ^ (value + 0x9e3779b97f4a7c15ull + (seed << 6) + (seed >> 2));
  x *= 0xff51afd7ed558ccdull;
  return x ^ (x >> 32);
}

size_t hash_text(std::string_view text) {
  uint64_t h = 0xcbf29ce484222325ull;
  for (unsigned char c : text) h = (h ^ c) * 0x100000001b3ull;
  return h;
}

size_t hash_atom(AtomKind kind, const std::vector<Dim>& args) {
  size_t h = static_cast<size_t>(kind) + 17;
  for (const Dim& arg : args) h = mix(h, arg.hash());
  return h;
}

size_t hash_terms(const std::vector<Dim::Term>& terms) {
  size_t h = terms.size();
  for (const Dim::Term& term : terms) {
    h = mix(h, static_cast<size_t>(term.coefficient));
    for (const AtomPtr& atom : term.atoms) h = mix(h, atom->hash);
  }
  return h;
}

std::vector<Dim::Term> constant_terms(int64_t value) {
  if (value == 0) return {};
  return {{value, {}}};
}

void add_into(std::vector<Dim::Term>& terms, const Dim::Term& term) {
  if (!terms.empty() && compare_monomials(terms.back(), term) == 0) {
    terms.back().coefficient = checked_add(terms.back().coefficient, term.coefficient);
    if (terms.back().coefficient == 0) terms.pop_back();
  } else if (term.coefficient != 0) {
    terms.push_back(term);
  }
}

}  // namespace

Dim::Node::Node(std::vector<Term> canonical)
    : terms(std::move(canonical)), hash(hash_terms(terms)) {}

Dim DimBuild::canonical(std::vector<Dim::Term> terms) {
  if (terms.empty()) return Dim(int64_t{0});
  return Dim(std::make_shared<const Dim::Node>(std::move(terms)));
}

Dim DimBuild::sum(std::vector<Dim::Term> terms) {
  std::sort(terms.begin(), terms.end(),
            [](const Dim::Term& a, const Dim::Term& b) { return compare_monomials(a, b) < 0; });
  std::vector<Dim::Term> merged;
  merged.reserve(terms.size());
  for (const Dim::Term& term : terms) add_into(merged, term);
  if (merged.size() > kMaxTerms) throw user_error("dimension expression has too many terms");
  return canonical(std::move(merged));
}

AtomPtr DimBuild::make_atom(AtomKind kind, std::vector<Dim> args) {
  const Bounds bounds = atom_bounds(kind, args);
  const size_t hash = hash_atom(kind, args);
  return std::make_shared<const Dim::Atom>(
      Dim::Atom{kind, std::nullopt, std::move(args), bounds, hash});
}

AtomPtr DimBuild::make_atom(const Symbol& symbol) {
  return std::make_shared<const Dim::Atom>(
      Dim::Atom{AtomKind::Symbol, symbol, {}, symbol.bounds(), hash_text(symbol.name())});
}

Dim::Dim(int64_t value) {
  // Small constants are everywhere (strides, tile sizes, zeros and ones): they share their nodes.
  constexpr int64_t kFirst = -16, kLast = 256;
  static const std::vector<std::shared_ptr<const Node>> kSmall = [] {
    std::vector<std::shared_ptr<const Node>> nodes;
    for (int64_t v = kFirst; v <= kLast; ++v) {
      nodes.push_back(std::make_shared<const Node>(constant_terms(v)));
    }
    return nodes;
  }();
  node_ = value >= kFirst && value <= kLast ? kSmall[static_cast<size_t>(value - kFirst)]
                                            : std::make_shared<const Node>(constant_terms(value));
}

Dim::Dim(const Symbol& symbol) : Dim(DimBuild::atom(DimBuild::make_atom(symbol))) {}

std::span<const Dim::Term> Dim::terms() const { return node_->terms; }

bool Dim::is_const() const {
  return node_->terms.empty() || (node_->terms.size() == 1 && node_->terms[0].atoms.empty());
}

int64_t Dim::const_value() const {
  TENON_CHECK(is_const(), "const_value() of {}", to_string());
  return constant_term();
}

int64_t Dim::constant_term() const {
  const auto& terms = node_->terms;
  return !terms.empty() && terms.back().atoms.empty() ? terms.back().coefficient : 0;
}

std::optional<Symbol> Dim::as_symbol() const {
  const auto& terms = node_->terms;
  if (terms.size() != 1 || terms[0].coefficient != 1 || terms[0].atoms.size() != 1) return {};
  return terms[0].atoms[0]->symbol;
}

size_t Dim::hash() const { return node_->hash; }
bool Dim::operator==(const Dim& other) const {
  return node_ == other.node_ ||
         (node_->hash == other.node_->hash && compare(*this, other) == std::strong_ordering::equal);
}
bool Dim::operator<(const Dim& other) const { return compare(*this, other) < 0; }

Dim operator+(const Dim& a, const Dim& b) {
  const auto x = a.terms();
  const auto y = b.terms();
  if (x.empty()) return b;
  if (y.empty()) return a;
  std::vector<Dim::Term> merged;
  merged.reserve(x.size() + y.size());
  size_t i = 0, j = 0;
  while (i < x.size() && j < y.size()) {
    const auto order = compare_monomials(x[i], y[j]);
    if (order < 0) {
      merged.push_back(x[i++]);
    } else if (order > 0) {
      merged.push_back(y[j++]);
    } else {
      merged.push_back(x[i++]);
      add_into(merged, y[j++]);
    }
  }
  merged.insert(merged.end(), x.begin() + static_cast<ptrdiff_t>(i), x.end());
  merged.insert(merged.end(), y.begin() + static_cast<ptrdiff_t>(j), y.end());
  if (merged.size() > kMaxTerms) throw user_error("dimension expression has too many terms");
  return DimBuild::canonical(std::move(merged));
}

Dim operator-(const Dim& a, const Dim& b) { return a + b * Dim(-1); }

Dim operator*(const Dim& a, const Dim& b) {
  if (a.is_const() && !b.is_const()) return b * a;
  if (b.is_const(1)) return a;
  if (b.is_const(0)) return b;
  const auto x = a.terms();
  const auto y = b.terms();
  if (x.size() * y.size() > kMaxTerms) throw user_error("dimension expression has too many terms");
  std::vector<Dim::Term> products;
  products.reserve(x.size() * y.size());
  for (const Dim::Term& s : x) {
    for (const Dim::Term& t : y) products.push_back(multiply(s, t));
  }
  // Scaling keeps the order; anything else has to be sorted again.
  return b.is_const() ? DimBuild::canonical(std::move(products))
                      : DimBuild::sum(std::move(products));
}

Dim ceildiv(const Dim& a, const Dim& b) {
  if (b.bounds().lo >= 1) return floordiv(a + b - 1, b);
  return Dim(0) - floordiv(Dim(0) - a, b);  // right for a divisor of either sign
}
Dim mod(const Dim& a, const Dim& b) { return a - b * floordiv(a, b); }
Dim round_up(const Dim& a, int64_t multiple) { return ceildiv(a, multiple) * multiple; }

}  // namespace tenon
