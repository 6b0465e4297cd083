// Dims as text: `batch*seq*12 + floordiv(i + 3, 4) - 1`. Names that are no identifiers (ONNX allows
// any) are quoted.
#include <fmt/format.h>

#include <algorithm>
#include <cctype>

#include "types/dim_node.h"

namespace tenon {
namespace {

bool is_identifier(std::string_view name) {
  const auto is_part = [](char c) {
    return std::isalnum(static_cast<unsigned char>(c)) != 0 || c == '_' || c == '.';
  };
  return !name.empty() && std::isdigit(static_cast<unsigned char>(name[0])) == 0 &&
         name[0] != '.' && std::all_of(name.begin(), name.end(), is_part);
}

std::string quoted(std::string_view name) {
  if (is_identifier(name)) return std::string(name);
  std::string text = "\"";
  for (char c : name) {
    if (c == '"' || c == '\\') text += '\\';
    text += c;
  }
  return text + '"';
}

std::string atom_text(const Dim::Atom& atom) {
  if (atom.symbol) return quoted(atom.symbol->name());
  std::string text = atom.kind == AtomKind::FloorDiv ? "floordiv("
                     : atom.kind == AtomKind::Min    ? "min("
                                                     : "max(";
  for (size_t i = 0; i < atom.args.size(); ++i) {
    if (i > 0) text += ", ";
    text += atom.args[i].to_string();
  }
  return text + ')';
}

// Without the sign, which the sum writes.
std::string term_text(const Dim::Term& term) {
  const uint64_t magnitude = term.coefficient < 0 ? 0 - static_cast<uint64_t>(term.coefficient)
                                                  : static_cast<uint64_t>(term.coefficient);
  if (term.atoms.empty()) return fmt::to_string(magnitude);
  std::string text;
  for (const AtomPtr& atom : term.atoms) {
    if (!text.empty()) text += '*';
    text += atom_text(*atom);
  }
  return magnitude == 1 ? text : fmt::format("{}*{}", text, magnitude);
}

}  // namespace

std::string Dim::to_string() const {
  if (terms().empty()) return "0";
  // A sum reads best when it does not open with a minus: `seq - past` rather than `-past + seq`.
  const auto all = terms();
  const auto first =
      std::find_if(all.begin(), all.end(), [](const Term& term) { return term.coefficient > 0; });
  std::string text;
  if (first != all.end()) text = term_text(*first);
  for (auto term = all.begin(); term != all.end(); ++term) {
    if (term == first) continue;
    const bool negative = term->coefficient < 0;
    text += text.empty() ? (negative ? "-" : "") : (negative ? " - " : " + ");
    text += term_text(*term);
  }
  return text;
}

std::string Constraint::to_string() const {
  constexpr std::string_view kSigns[] = {"==", "<=", "broadcasts with"};
  return fmt::format("{} {} {} ({})", left.to_string(), kSigns[static_cast<int>(kind)],
                     right.to_string(), why);
}

}  // namespace tenon
