#include "compiled/slot_extents.h"

#include <fmt/ranges.h>

#include <algorithm>

#include "base/error.h"
#include "types/active_extent.h"

namespace tenon::compiled {
namespace {

constexpr int64_t kNotSaid = -1;

bool is_needed(const program::Program& program, const Symbol& symbol) {
  if (symbol.name() == kActiveExtent) return false;
  const auto uses = [&](const Dim& dim) { return dim.uses(symbol); };
  return std::ranges::any_of(program.inputs, [&](const program::IoSlot& slot) {
    return !slot.state && std::ranges::any_of(slot.type.shape, uses);
  });
}

void check(const program::Program& program, const DimBinding& extents) {
  const auto& values = extents.values();
  for (const Symbol& symbol : program.symbols) {
    const auto found = values.find(symbol.name());
    if (found == values.end()) {
      if (is_needed(program, symbol))
        throw user_error("[set_extents] {} has no value", symbol.name());
      continue;
    }
    const Bounds bounds = symbol.bounds();
    if (!bounds.contains(found->second)) {
      throw user_error("[set_extents] {} = {} is outside {}..{}", symbol.name(), found->second,
                       bounds.lo, bounds.hi);
    }
  }
  for (const auto& [name, value] : values) {
    const auto known = [&](const Symbol& symbol) { return symbol.name() == name; };
    if (name == kActiveExtent || std::ranges::none_of(program.symbols, known))
      throw user_error("[set_extents] the model has no dim \"{}\"", name);
  }
}

}  // namespace

SlotExtents::SlotExtents(const program::Program& program, const DimBinding& extents) {
  check(program, extents);
  const auto value_of = [&](const Symbol& symbol) -> std::optional<int64_t> {
    if (symbol.name() == kActiveExtent) return symbol.bounds().hi;
    const auto found = extents.values().find(symbol.name());
    return found == extents.values().end() ? std::nullopt : std::optional(found->second);
  };
  for (const program::IoSlot& slot : program.inputs) {
    auto& shape = shapes_.emplace_back();
    for (const Dim& dim : slot.type.shape) {
      const auto extent = dim.evaluate(value_of);
      if (!extent && !slot.state)
        throw user_error("[set_extents] input \"{}\" {}: {} has no value at these extents",
                         slot.name, slot.type.to_string(), dim.to_string());
      shape.push_back(extent.value_or(kNotSaid));
    }
  }
}

void SlotExtents::check_state(const program::IoSlot& slot, size_t input,
                              std::span<const int64_t> bound) const {
  const std::vector<int64_t>& said = shapes_[input];
  const auto agrees = [](int64_t is, int64_t should) { return should == kNotSaid || is == should; };
  if (std::ranges::equal(bound, said, agrees)) return;
  throw user_error(
      "[run_slots] the state \"{}\" {} is [{}], which are not the extents that set_extents was "
      "given: leave out those that only states have",
      slot.name, slot.type.to_string(), fmt::join(bound, ", "));
}

bool needs_extents(const program::Program& program) {
  return std::ranges::any_of(program.symbols,
                             [&](const Symbol& symbol) { return is_needed(program, symbol); });
}

}  // namespace tenon::compiled
