// Guards: 0 <= index < bound. Where none differs by lane they are one condition; else a bit per
// lane, which the memory accesses test.
#include "codegen/c/emitter.h"

namespace tenon::codegen::c {

using kernel::kLaneCount;

std::string Emitter::in_range(const Dim& index, const Dim& bound) {
  const std::string at = dim(index);
  const std::string below = fmt::format("{} < {}", at, dim(bound));
  return known(index).bounds().lo >= 0 ? below : fmt::format("{} >= 0 && {}", at, below);
}

// A run of lanes where the index has stride 1, else a test of each.
std::string Emitter::lane_bits(const Dim& raw_index, const Dim& raw_bound) {
  const Dim index = known(raw_index), bound = known(raw_bound);
  const auto stride = index.coefficient(*lane_);
  const Dim first = at_lane(index, 0);
  if (stride && stride->is_const(1) && !is_lane_varying(first) && !is_lane_varying(bound))
    return fmt::format("lane_bits({}, {})", dim(first), dim(bound));
  std::string text;
  for (int64_t lane = 0; lane < kLaneCount; ++lane) {
    at_lane_ = lane;
    text += fmt::format("{}(u32)({}) << {}", lane == 0 ? "" : " | ",
                        in_range(at_lane(index, lane), at_lane(bound, lane)), lane);
  }
  return text;
}

Emitter::Guarded Emitter::emit_guards(const std::vector<kernel::Guard>& guards) {
  std::string condition, bits;
  for (const kernel::Guard& guard : guards) {
    const bool varies = is_lane_varying(known(guard.index)) || is_lane_varying(known(guard.bound));
    std::string& text = varies ? bits : condition;
    if (!text.empty()) text += varies ? " & " : " && ";
    text += varies ? "(" + lane_bits(guard.index, guard.bound) + ")"
                   : in_range(guard.index, guard.bound);
  }
  Guarded result;
  if (!condition.empty()) {
    result.condition = fresh("c");
    line("const u8 {} = {};", *result.condition, condition);
  }
  if (!bits.empty()) {
    result.bits = fresh("m");
    if (result.condition) bits = fmt::format("{} ? {} : 0", *result.condition, bits);
    line("const u32 {} = {};", *result.bits, bits);
  }
  return result;
}

Value Emitter::emit_in_range(const kernel::Expr& expr) {
  if (!is_lane_varying(known(expr.index)) && !is_lane_varying(known(expr.bound)))
    return variable(DType::Bool, false, {in_range(expr.index, expr.bound)});
  const std::string bits = fresh("m");
  line("const u32 {} = {};", bits, lane_bits(expr.index, expr.bound));
  std::vector<std::string> parts;
  for (int64_t part = 0; part < part_count(); ++part)
    parts.push_back(fmt::format("mask_of_bits({} >> {})", bits, part * lanes_));
  return variable(DType::Bool, true, parts);
}

}  // namespace tenon::codegen::c
