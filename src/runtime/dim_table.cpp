// See dim_table.h. Operands come before their users in ops_, so evaluation is one loop.
#include "runtime/dim_table.h"

namespace tenon::runtime {

int DimTable::push(Kind kind, int begin, int end) {
  ops_.push_back({kind, begin, end});
  values_.push_back(0);
  return static_cast<int>(ops_.size()) - 1;
}

int DimTable::add(const Dim& dim) {
  if (auto found = known_.find(dim); found != known_.end()) return found->second;
  std::vector<Term> terms;
  for (const Dim::Term& term : dim.terms()) {
    std::vector<int> factors;
    for (const auto& atom : term.atoms) factors.push_back(add_atom(*atom));
    const int begin = static_cast<int>(operands_.size());
    operands_.insert(operands_.end(), factors.begin(), factors.end());
    terms.push_back({term.coefficient, begin, static_cast<int>(operands_.size())});
  }
  const int begin = static_cast<int>(terms_.size());
  terms_.insert(terms_.end(), terms.begin(), terms.end());
  const int position = push(Kind::Sum, begin, static_cast<int>(terms_.size()));
  known_.emplace(dim, position);
  return position;
}

int DimTable::add_atom(const Dim::Atom& atom) {
  if (atom.kind == AtomKind::Symbol) {
    const auto found = variables_->find(atom.symbol->name());
    if (found == variables_->end()) {
      unknown_symbol_ = atom.symbol->name();
      return push(Kind::Variable, -1, -1);
    }
    return push(Kind::Variable, found->second, found->second);
  }
  std::vector<int> arguments;
  for (const Dim& argument : atom.args) arguments.push_back(add(argument));
  const int begin = static_cast<int>(operands_.size());
  operands_.insert(operands_.end(), arguments.begin(), arguments.end());
  const Kind kind = atom.kind == AtomKind::FloorDiv ? Kind::FloorDiv
                    : atom.kind == AtomKind::Min    ? Kind::Min
                                                    : Kind::Max;
  return push(kind, begin, static_cast<int>(operands_.size()));
}

bool DimTable::evaluate_sum(const Op& op, int64_t& result) const {
  result = 0;
  for (int t = op.begin; t < op.end; ++t) {
    int64_t product = terms_[t].coefficient;
    for (int i = terms_[t].begin; i < terms_[t].end; ++i) {
      if (__builtin_mul_overflow(product, values_[operands_[i]], &product)) return false;
    }
    if (__builtin_add_overflow(result, product, &result)) return false;
  }
  return true;
}

bool DimTable::evaluate_op(const Op& op, std::span<const int64_t> variables,
                           int64_t& result) const {
  switch (op.kind) {
    case Kind::Variable:
      if (op.begin < 0 || op.begin >= static_cast<int>(variables.size())) return false;
      result = variables[op.begin];
      return true;
    case Kind::Sum:
      return evaluate_sum(op, result);
    case Kind::FloorDiv: {
      const int64_t a = values_[operands_[op.begin]], b = values_[operands_[op.begin + 1]];
      if (b == 0 || (b == -1 && a == INT64_MIN)) return false;
      result = a / b - (a % b != 0 && (a < 0) != (b < 0) ? 1 : 0);
      return true;
    }
    case Kind::Min:
    case Kind::Max:
      result = values_[operands_[op.begin]];
      for (int i = op.begin + 1; i < op.end; ++i) {
        const int64_t value = values_[operands_[i]];
        if (op.kind == Kind::Min ? value < result : value > result) result = value;
      }
      return true;
  }
  return false;
}

bool DimTable::evaluate(std::span<const int64_t> variables) {
  for (size_t i = 0; i < ops_.size(); ++i) {
    if (!evaluate_op(ops_[i], variables, values_[i])) return false;
  }
  return true;
}

}  // namespace tenon::runtime
