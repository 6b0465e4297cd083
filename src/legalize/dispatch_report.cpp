// DispatchReport as text and as JSON.
#include <fmt/format.h>

#include "tenon/dispatch.h"

namespace tenon {

std::string DispatchReport::to_string() const {
  std::string text = fmt::format("{:<24}{:>8}{:>8}{:>10}\n", "op", "native", "common", "rewritten");
  for (const auto& [op, row] : rows) {
    text += fmt::format("{:<24}{:>8}{:>8}{:>10}\n", op, row.native, row.common, row.rewritten);
  }
  return text;
}

std::string DispatchReport::to_json() const {
  std::string text;
  for (const auto& [op, row] : rows) {
    text += fmt::format(R"({}"{}":{{"native":{},"common":{},"rewritten":{}}})",
                        text.empty() ? "" : ",", op, row.native, row.common, row.rewritten);
  }
  return fmt::format("{{{}}}", text);
}

}  // namespace tenon
