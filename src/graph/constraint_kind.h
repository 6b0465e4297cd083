// The kinds of constraint as a table: how the text form names each, and the sign that messages
// show.
#pragma once

#include <fmt/format.h>

#include <optional>
#include <string>
#include <string_view>

#include "tenon/dim.h"

namespace tenon::graph {

struct ConstraintKindInfo {
  Constraint::Kind kind;
  std::string_view text;
  std::string_view sign;
};

inline constexpr ConstraintKindInfo kConstraintKinds[] = {
    {Constraint::Kind::Equal, "equal", "=="},
    {Constraint::Kind::AtMost, "at_most", "<="},
    {Constraint::Kind::Broadcastable, "broadcastable", "broadcasts with"},
};

constexpr const ConstraintKindInfo& info(Constraint::Kind kind) {
  return kConstraintKinds[static_cast<int>(kind)];
}

// "[matmul] inner extents: f32[4, seq] x f32[9, 2]: needs seq == 9"
inline std::string needs(const Constraint& c) {
  return fmt::format("{}: needs {} {} {}", c.why, c.left.to_string(), info(c.kind).sign,
                     c.right.to_string());
}

}  // namespace tenon::graph
