// Index arithmetic. A Dim is a sum of terms, written outermost first, so that the partial sums are
// what does not change in inner loops.
#include <algorithm>

#include "base/error.h"
#include "codegen/c/emitter.h"

namespace tenon::codegen::c {

std::string Emitter::dim_at(const Dim& raw, int64_t lane) {
  at_lane_ = lane;
  return dim(at_lane(known(raw), lane));
}

std::string Emitter::varying_at(const Dim& dim, int64_t lane) {
  at_lane_ = lane;
  return sum(dim, Terms::Varying);
}

size_t Emitter::depth_of(const Dim::Term& term) const {
  size_t depth = 0;
  const auto deepen = [&](const Symbol& symbol) {
    const auto it = bindings_.find(symbol.name());
    if (it != bindings_.end()) depth = std::max(depth, it->second.depth);
  };
  for (const auto& atom : term.atoms) {
    if (atom->kind == AtomKind::Symbol) deepen(*atom->symbol);
    for (const Dim& arg : atom->args) {
      for (const Symbol& symbol : arg.symbols()) deepen(symbol);
    }
  }
  return depth;
}

std::string Emitter::dim(const Dim& raw) { return sum(known(raw), Terms::All); }

std::string Emitter::sum(const Dim& dim, Terms which) {
  if (dim.is_const()) return integer_text(which == Terms::Varying ? 0 : dim.const_value());
  std::vector<const Dim::Term*> terms;
  for (const Dim::Term& term : dim.terms()) {
    const bool wanted = which == Terms::All || varies(term) == (which == Terms::Varying);
    if (!term.atoms.empty() && wanted) terms.push_back(&term);
  }
  std::stable_sort(terms.begin(), terms.end(), [&](const Dim::Term* a, const Dim::Term* b) {
    return depth_of(*a) < depth_of(*b);
  });
  std::string text;
  for (const Dim::Term* term : terms) text += (text.empty() ? "" : " + ") + term_text(*term);
  const int64_t constant = which == Terms::Varying ? 0 : dim.constant_term();
  if (constant != 0) text += (text.empty() ? "" : " + ") + integer_text(constant);
  return text.empty() ? "0" : "(" + text + ")";
}

bool Emitter::varies(const Dim::Term& term) const {
  return std::any_of(term.atoms.begin(), term.atoms.end(), [&](const auto& atom) {
    if (atom->kind == AtomKind::Symbol) return is_lane_varying(*atom->symbol);
    return std::any_of(atom->args.begin(), atom->args.end(),
                       [&](const Dim& arg) { return is_lane_varying(arg); });
  });
}

std::string Emitter::term_text(const Dim::Term& term) {
  std::string text;
  for (const auto& atom : term.atoms) text += (text.empty() ? "" : " * ") + atom_text(*atom);
  return term.coefficient == 1 ? text : text + " * " + integer_text(term.coefficient);
}

std::string Emitter::atom_text(const Dim::Atom& atom) {
  if (atom.kind == AtomKind::Symbol) {
    const std::string& name = atom.symbol->name();
    if (lane_ && *atom.symbol == *lane_) return integer_text(at_lane_);
    const auto lanes = lane_symbols_.find(name);
    if (lanes != lane_symbols_.end()) return fmt::format("{}[{}]", lanes->second, at_lane_);
    const auto it = bindings_.find(name);
    TENON_CHECK(it != bindings_.end(), "kernel {}: symbol {} has no value", kernel_.name, name);
    return it->second.text;
  }
  std::string text = dim(atom.args[0]);
  if (atom.kind == AtomKind::FloorDiv) {
    std::string divisor = dim(atom.args[1]);
    // An extent of 0: what is divided by it is never used.
    const int64_t least = atom.args[1].bounds().lo;
    if (least < 1) divisor = fmt::format("not_zero({})", divisor);
    const bool is_plain = atom.args[0].bounds().lo >= 0 && least >= 0;
    const char* form = is_plain ? "({} / {})" : "floordiv({}, {})";
    return fmt::format(fmt::runtime(form), text, divisor);
  }
  const char* function = atom.kind == AtomKind::Min ? "least" : "most";
  for (size_t i = 1; i < atom.args.size(); ++i)
    text = fmt::format("{}({}, {})", function, text, dim(atom.args[i]));
  return text;
}

Value& Emitter::register_at(int buffer, const Dim& offset) {
  Storage& storage = storage_[static_cast<size_t>(buffer)];
  return storage
      .registers[register_place(buffer, offset, storage.vectors, storage.registers.size())];
}

void Emitter::bind(const Symbol& symbol, std::string text) {
  bindings_[symbol.name()] = {std::move(text), indent_};
}

}  // namespace tenon::codegen::c
