// See same_model.h.
#include "compiled/same_model.h"

#include <algorithm>
#include <string>
#include <vector>

#include "base/error.h"

namespace tenon::compiled {
namespace {

using program::IoSlot;
using program::ParamSlot;

std::string text_of(const IoSlot& slot) {
  std::string text = slot.type.to_string();
  if (slot.state)
    text += fmt::format(", a state of capacity {} along axis {}", slot.state->capacity,
                        slot.state->axis);
  return text;
}

std::string text_of(const Symbol& symbol) {
  return fmt::format("{}..{}", symbol.bounds().lo, symbol.bounds().hi);
}

std::string text_of(const ParamSlot& slot) { return slot.type.shape.to_string(); }

const std::string& name_of(const IoSlot& slot) { return slot.name; }
const std::string& name_of(const ParamSlot& slot) { return slot.name; }
std::string name_of(const Symbol& symbol) { return symbol.name(); }

template <typename Slots>
void check_same(const char* what, const Slots& first, const Slots& other) {
  for (size_t i = 0; i < std::max(first.size(), other.size()); ++i) {
    if (i >= first.size() || i >= other.size() || name_of(first[i]) != name_of(other[i]))
      throw user_error("[save_all] the graphs differ: {} {} is {} in one, {} in another", what, i,
                       i < first.size() ? '"' + name_of(first[i]) + '"' : "none",
                       i < other.size() ? '"' + name_of(other[i]) + '"' : "none");
    if (text_of(first[i]) != text_of(other[i]))
      throw user_error("[save_all] the graphs differ: {} \"{}\" is {} in one, {} in another", what,
                       name_of(first[i]), text_of(first[i]), text_of(other[i]));
  }
}

template <typename Slots>
Slots by_name(Slots slots) {
  std::ranges::sort(slots, {}, [](const auto& slot) { return name_of(slot); });
  return slots;
}

}  // namespace

void check_same_model(const program::Program& first, const program::Program& other) {
  check_same("input", first.inputs, other.inputs);
  check_same("output", first.outputs, other.outputs);
  check_same("extent", by_name(first.symbols), by_name(other.symbols));
  const auto ours = by_name(first.params), theirs = by_name(other.params);
  check_same("parameter", ours, theirs);
  for (size_t i = 0; i < ours.size(); ++i) {
    if (ours[i].type.dtype == theirs[i].type.dtype &&
        !std::ranges::equal(ours[i].initial, theirs[i].initial))
      throw user_error("[save_all] the graphs differ: parameter \"{}\" has other data",
                       ours[i].name);
  }
}

}  // namespace tenon::compiled
