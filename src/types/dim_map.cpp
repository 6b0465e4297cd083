// Walks over a Dim: which symbols occur, what it becomes when symbols are replaced by Dims or by
// numbers. Dims are shallow (a division of a minimum of a sum), so these recurse.
#include <algorithm>
#include <limits>

#include "types/dim_node.h"

namespace tenon {
namespace {

using Wide = __int128;

void collect(const Dim& d, std::vector<Symbol>& found) {
  for (const Dim::Term& term : d.terms()) {
    for (const AtomPtr& atom : term.atoms) {
      if (atom->symbol) found.push_back(*atom->symbol);
      for (const Dim& arg : atom->args) collect(arg, found);
    }
  }
}

bool atom_uses(const Dim::Atom& atom, const Symbol& symbol) {
  if (atom.symbol) return *atom.symbol == symbol;
  return std::any_of(atom.args.begin(), atom.args.end(),
                     [&](const Dim& arg) { return arg.uses(symbol); });
}

Dim rebuild(AtomKind kind, const std::vector<Dim>& args) {
  if (kind == AtomKind::FloorDiv) return floordiv(args[0], args[1]);
  Dim result = args[0];
  for (size_t i = 1; i < args.size(); ++i) {
    result = kind == AtomKind::Min ? min(result, args[i]) : max(result, args[i]);
  }
  return result;
}

std::optional<Dim> substitute_atom(const Dim::Atom& atom, const SymbolMap& map) {
  if (atom.symbol) return map(*atom.symbol);
  std::vector<Dim> args;
  bool changed = false;
  for (const Dim& arg : atom.args) {
    args.push_back(arg.substitute(map));
    changed |= args.back().terms().data() != arg.terms().data();
  }
  if (!changed) return std::nullopt;
  return rebuild(atom.kind, args);
}

std::optional<int64_t> evaluate_atom(const Dim::Atom& atom, const SymbolValues& values) {
  if (atom.symbol) return values(*atom.symbol);
  std::optional<int64_t> result = atom.args[0].evaluate(values);
  for (size_t i = 1; i < atom.args.size() && result; ++i) {
    const auto next = atom.args[i].evaluate(values);
    if (!next) return std::nullopt;
    if (atom.kind == AtomKind::FloorDiv) {
      const bool overflows = *next == -1 && *result == std::numeric_limits<int64_t>::min();
      if (*next == 0 || overflows) return std::nullopt;
      result = floor_div(*result, *next);
    } else {
      result = atom.kind == AtomKind::Min ? std::min(*result, *next) : std::max(*result, *next);
    }
  }
  return result;
}

}  // namespace

std::vector<Symbol> Dim::symbols() const {
  std::vector<Symbol> found;
  collect(*this, found);
  std::sort(found.begin(), found.end());
  found.erase(std::unique(found.begin(), found.end()), found.end());
  return found;
}

bool Dim::uses(const Symbol& symbol) const {
  for (const Term& term : terms()) {
    for (const AtomPtr& atom : term.atoms) {
      if (atom_uses(*atom, symbol)) return true;
    }
  }
  return false;
}

std::optional<Dim> Dim::coefficient(const Symbol& symbol) const {
  std::vector<Term> factors;
  for (const Term& term : terms()) {
    Term rest{term.coefficient, {}};
    int count = 0;
    for (const AtomPtr& atom : term.atoms) {
      if (!atom_uses(*atom, symbol)) {
        rest.atoms.push_back(atom);
      } else if (!atom->symbol || ++count > 1) {
        return std::nullopt;
      }
    }
    if (count == 1) factors.push_back(std::move(rest));
  }
  return DimBuild::sum(std::move(factors));
}

Dim Dim::substitute(const SymbolMap& map) const {
  std::vector<Term> unchanged;
  Dim total;
  for (const Term& term : terms()) {
    Term kept{term.coefficient, {}};
    Dim replaced(1);
    bool changed = false;
    for (const AtomPtr& atom : term.atoms) {
      if (const auto value = substitute_atom(*atom, map)) {
        replaced = replaced * *value;
        changed = true;
      } else {
        kept.atoms.push_back(atom);
      }
    }
    if (changed) {
      total = total + replaced * DimBuild::term(std::move(kept));
    } else {
      unchanged.push_back(term);
    }
  }
  if (unchanged.size() == terms().size()) return *this;
  return total + DimBuild::canonical(std::move(unchanged));
}

Dim Dim::substitute(const Symbol& symbol, const Dim& value) const {
  return substitute([&](const Symbol& s) -> std::optional<Dim> {
    if (s == symbol) return value;
    return std::nullopt;
  });
}

std::optional<int64_t> Dim::evaluate(const SymbolValues& values) const {
  Wide total = 0;
  for (const Term& term : terms()) {
    Wide product = term.coefficient;
    for (const AtomPtr& atom : term.atoms) {
      const auto value = evaluate_atom(*atom, values);
      if (!value || __builtin_mul_overflow(product, Wide{*value}, &product)) return std::nullopt;
    }
    if (__builtin_add_overflow(total, product, &total)) return std::nullopt;
  }
  if (total > std::numeric_limits<int64_t>::max() || total < std::numeric_limits<int64_t>::min()) {
    return std::nullopt;
  }
  return static_cast<int64_t>(total);
}

}  // namespace tenon
