// Indices for the interpreter: a Dim as sums over slots. Most offsets are linear in loop symbols
// and take the short way; divisions, minima and maxima are walked.
#include <algorithm>

#include "base/error.h"
#include "kernel/interpret_code.h"

namespace tenon::kernel {

DimCode::DimCode(const Dim& dim, SlotTable& slots) : constant_(dim.constant_term()) {
  for (const Dim::Term& term : dim.terms()) {
    if (term.atoms.empty()) continue;
    if (term.atoms.size() == 1 && term.atoms[0]->symbol) {
      linear_.push_back({term.coefficient, slots.slot(*term.atoms[0]->symbol)});
      continue;
    }
    Product product{term.coefficient, {}};
    for (const auto& atom : term.atoms) {
      Factor factor{atom->kind, atom->symbol ? slots.slot(*atom->symbol) : -1, {}};
      for (const Dim& arg : atom->args) factor.args.emplace_back(arg, slots);
      product.factors.push_back(std::move(factor));
    }
    products_.push_back(std::move(product));
  }
}

int64_t DimCode::value_of(const Factor& factor, const int64_t* slots) {
  if (factor.kind == AtomKind::Symbol) return slots[factor.slot];
  int64_t value = factor.args[0](slots);
  for (size_t i = 1; i < factor.args.size(); ++i) {
    const int64_t next = factor.args[i](slots);
    if (factor.kind == AtomKind::Min) {
      value = std::min(value, next);
    } else if (factor.kind == AtomKind::Max) {
      value = std::max(value, next);
    } else {
      if (next == 0) throw internal_error("[interpret] an index divides by zero");
      value = value / next - (value % next != 0 && (value < 0) != (next < 0) ? 1 : 0);
    }
  }
  return value;
}

int64_t DimCode::sum_of_products(const int64_t* slots) const {
  int64_t total = 0;
  for (const Product& product : products_) {
    int64_t value = product.coefficient;
    for (const Factor& factor : product.factors) value *= value_of(factor, slots);
    total += value;
  }
  return total;
}

GuardCode::GuardCode(const std::vector<Guard>& guards, SlotTable& slots) {
  for (const Guard& guard : guards) {
    tests_.emplace_back(DimCode(guard.index, slots), DimCode(guard.bound, slots));
  }
}

}  // namespace tenon::kernel
