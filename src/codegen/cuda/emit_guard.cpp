// Guards: 0 <= index < bound, as conditions of one lane or of all.
#include "codegen/cuda/emitter.h"

namespace tenon::codegen::cuda {

namespace {

void conjoin(std::string& text, const std::string& condition) {
  if (!condition.empty()) text += (text.empty() ? "" : " && ") + condition;
}

}  // namespace

std::string Emitter::in_range(const Dim& at, const Dim& bound, int64_t lane) {
  const Dim first = known(at);
  const std::string text = dim(at, lane);
  const std::string below = fmt::format("{} < {}", text, dim(bound, lane));
  return first.bounds().lo >= 0 ? below : fmt::format("{} >= 0 && {}", text, below);
}

bool Emitter::varies(const std::vector<kernel::Guard>& guards) const {
  for (const kernel::Guard& guard : guards) {
    if (is_varying(guard.index) || is_varying(guard.bound)) return true;
  }
  return false;
}

std::string Emitter::guard_text(const std::vector<kernel::Guard>& guards, int64_t lane) {
  std::string text;
  for (const kernel::Guard& guard : guards) conjoin(text, in_range(guard.index, guard.bound, lane));
  return text;
}

std::optional<std::string> Emitter::all_lanes_text(const std::vector<kernel::Guard>& guards) {
  std::string text;
  for (const kernel::Guard& guard : guards) {
    if (!is_varying(guard.index) && !is_varying(guard.bound)) {
      conjoin(text, in_range(guard.index, guard.bound, 0));
      continue;
    }
    const auto stride = known(guard.index).coefficient(*lane_);
    const bool rises = stride && stride->is_const() && stride->const_value() > 0;
    if (!rises || is_varying(guard.bound) || is_lane_varying(at_lane(known(guard.index), 0)))
      return std::nullopt;
    if (at_lane(known(guard.index), 0).bounds().lo < 0)
      conjoin(text, fmt::format("{} >= 0", dim(guard.index, 0)));
    conjoin(text, fmt::format("{} < {}", dim(guard.index, lane_count_ - 1), dim(guard.bound)));
  }
  return text;
}

}  // namespace tenon::codegen::cuda
