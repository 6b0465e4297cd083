// FusionReport and DispatchReport as text and as JSON, ActiveExtentReport as text, for whatever
// holds one.
#include <fmt/ranges.h>

#include "base/error.h"
#include "base/json_text.h"
#include "tenon/active_extent.h"
#include "tenon/dispatch.h"
#include "tenon/fusion_report.h"

namespace tenon {

int FusionReport::found(std::string_view pattern) const {
  for (const Count& count : counts) {
    if (count.pattern == pattern) return count.found;
  }
  return 0;
}

std::string FusionReport::to_string() const {
  std::string text = fmt::format("{:<24}{:>8}{:>8}\n", "pattern", "before", "after");
  for (const Count& count : counts) {
    text += fmt::format("{:<24}{:>8}{:>8}\n", count.pattern, count.before, count.found);
  }
  for (const Missed& each : missed) {
    text += fmt::format("missed {} at {}: {}; {}\n", each.pattern,
                        each.origin.empty() ? "(no origin)" : each.origin, each.reason, each.hint);
  }
  return text;
}

std::string FusionReport::to_json() const {
  std::vector<std::string> rows, misses;
  for (const Count& count : counts) {
    rows.push_back(fmt::format(R"({{"pattern": {}, "before": {}, "found": {}}})",
                               json_text(count.pattern), count.before, count.found));
  }
  for (const Missed& each : missed) {
    misses.push_back(fmt::format(R"({{"pattern": {}, "origin": {}, "reason": {}, "hint": {}}})",
                                 json_text(each.pattern), json_text(each.origin),
                                 json_text(each.reason), json_text(each.hint)));
  }
  return fmt::format(R"({{"counts": [{}], "missed": [{}]}})", fmt::join(rows, ", "),
                     fmt::join(misses, ", "));
}

void check_fusion_clean(const FusionReport& report) {
  if (report.missed.empty()) return;
  throw unsupported_error("[fuse] {} known patterns are not fused:\n{}", report.missed.size(),
                          report.to_string());
}

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

std::string ActiveExtentReport::to_string() const {
  if (upper == 0) return "no active extent\n";
  std::string text = fallback.empty()
                         ? fmt::format("active extent 1..{}\n", upper)
                         : fmt::format("always the full extent {}: {}\n", upper, fallback);
  for (const Input& input : inputs)
    text += fmt::format("input {}: axis {}\n", input.name, fmt::join(input.axes, ", "));
  for (const Output& output : outputs) {
    text += fmt::format("output {}: {}, {}\n", output.name, output.shape,
                        output.shrinks ? "shrinks" : "always whole");
  }
  return text;
}

}  // namespace tenon
