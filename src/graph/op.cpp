// Looks up an op by its printed text. The map is made once from the table in ops.def.
#include "graph/op.h"

#include <unordered_map>

namespace tenon::graph {

std::optional<Op> parse_op(std::string_view text) {
  static const std::unordered_map<std::string_view, Op> kByText = [] {
    std::unordered_map<std::string_view, Op> map;
    for (int i = 0; i < kOpCount; ++i) map.emplace(kOps[i].text, static_cast<Op>(i));
    return map;
  }();
  const auto found = kByText.find(text);
  if (found == kByText.end()) return std::nullopt;
  return found->second;
}

}  // namespace tenon::graph
