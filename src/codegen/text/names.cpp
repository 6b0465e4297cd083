// See names.h.
#include "codegen/text/names.h"

#include <fmt/format.h>

#include <cctype>

namespace tenon::codegen {

// Ends with `_`, as no keyword, no name of the prelude and no temporary does.
std::string Names::fresh(const std::string& name) {
  std::string base;
  for (const char c : name) base += std::isalnum(static_cast<unsigned char>(c)) ? c : '_';
  if (base.empty() || std::isdigit(static_cast<unsigned char>(base[0]))) base = "x" + base;
  std::string identifier = base + '_';
  for (int i = 2; !taken_.insert(identifier).second; ++i)
    identifier = fmt::format("{}_{}_", base, i);
  return identifier;
}

const std::string& Names::of(const std::string& name) {
  std::string& identifier = identifiers_[name];
  if (identifier.empty()) identifier = fresh(name);
  return identifier;
}

}  // namespace tenon::codegen
