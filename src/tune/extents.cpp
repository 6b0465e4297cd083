// See extents.h.
#include "tune/extents.h"

#include <fmt/ranges.h>

#include <algorithm>

#include "base/error.h"

namespace tenon::tune {
namespace {

// Capacity symbols of inputs and outputs, and the extents that they have room for.
std::map<std::string, Dim> capacities_of(const program::Program& program) {
  std::map<std::string, Dim> capacities;
  for (const auto* slots : {&program.inputs, &program.outputs}) {
    for (const program::IoSlot& slot : *slots) {
      for (size_t axis = 0; axis < slot.capacity.size(); ++axis) {
        const Dim& extent = slot.type.shape[static_cast<int>(axis)];
        const auto symbol = slot.capacity[axis].as_symbol();
        if (symbol && slot.capacity[axis] != extent) capacities[symbol->name()] = extent;
      }
    }
  }
  return capacities;
}

class Chooser {
 public:
  Chooser(const driver::LoweredKernels& lowered, const DimBinding& given)
      : lowered_(lowered), capacities_(capacities_of(lowered.program)) {
    for (const Symbol& symbol : lowered.program.symbols) note(symbol, given);
    for (const kernel::Kernel& kernel : lowered.kernels) {
      for (const Symbol& symbol : kernel.dims) {
        if (!capacities_.contains(symbol.name())) note(symbol, given);
      }
    }
  }

  Result<Extents> run() {
    if (outside_) return *outside_;
    while (!fits() && halve_largest()) {
    }
    fill_capacities();
    for (const Constraint& constraint : lowered_.program.constraints) {
      if (!holds(constraint))
        return user_error(
            "[tune] where {} = {}: {}; typical extents for which that holds have to be given",
            constraint.left.to_string(), evaluate(constraint.left, extents_).value_or(-1),
            constraint.to_string());
    }
    return extents_;
  }

 private:
  void note(const Symbol& symbol, const DimBinding& given) {
    const auto [lo, hi] = symbol.bounds();
    if (const auto known = given.values().find(symbol.name()); known != given.values().end()) {
      if (!symbol.bounds().contains(known->second))
        outside_ =
            user_error("[tune] {} = {} lies outside {}..{}", symbol.name(), known->second, lo, hi);
      extents_[symbol.name()] = known->second;
    } else if (!extents_.contains(symbol.name())) {
      extents_[symbol.name()] = lo + (hi - lo) / 2;
      open_[symbol.name()] = lo;
    }
  }

  void fill_capacities() {
    for (const auto& [name, extent] : capacities_)
      extents_[name] = evaluate(extent, extents_).value_or(0);
  }

  bool fits() {
    fill_capacities();
    return std::ranges::all_of(lowered_.kernels, [&](const kernel::Kernel& kernel) {
      return std::ranges::all_of(kernel.buffers, [&](const kernel::Buffer& buffer) {
        if (buffer.elements.is_const() || buffer.storage != kernel::Storage::Global) return true;
        const auto elements = evaluate(buffer.elements, extents_);
        return elements && *elements <= kMostBytesOfTensor / size_of(buffer.dtype);
      });
    });
  }

  bool halve_largest() {
    const auto largest = std::ranges::max_element(
        open_, {}, [&](const auto& symbol) { return extents_[symbol.first] - symbol.second; });
    if (largest == open_.end()) return false;
    int64_t& extent = extents_[largest->first];
    if (extent <= largest->second) return false;
    extent = std::max(extent / 2, largest->second);
    return true;
  }

  bool holds(const Constraint& constraint) const {
    const auto left = evaluate(constraint.left, extents_);
    const auto right = evaluate(constraint.right, extents_);
    if (!left || !right) return false;
    switch (constraint.kind) {
      case Constraint::Kind::Equal:
        return *left == *right;
      case Constraint::Kind::AtMost:
        return *left <= *right;
      case Constraint::Kind::Broadcastable:
        break;
    }
    return *left == *right || *left == 1 || *right == 1;
  }

  const driver::LoweredKernels& lowered_;
  std::map<std::string, Dim> capacities_;
  Extents extents_;
  Extents open_;  // the least that those may be which nobody gave
  std::optional<Error> outside_;
};

}  // namespace

std::optional<int64_t> evaluate(const Dim& dim, const Extents& extents) {
  return dim.evaluate([&](const Symbol& symbol) -> std::optional<int64_t> {
    const auto known = extents.find(symbol.name());
    return known == extents.end() ? std::nullopt : std::optional(known->second);
  });
}

Result<Extents> timed_extents(const driver::LoweredKernels& lowered, const DimBinding& given) {
  return Chooser(lowered, given).run();
}

DimBinding binding_of(const program::Program& program, const Extents& extents) {
  Extents values;
  for (const Symbol& symbol : program.symbols) values[symbol.name()] = extents.at(symbol.name());
  return DimBinding(std::move(values));
}

std::string extents_of(const kernel::Kernel& kernel, const Extents& extents) {
  std::vector<int64_t> values;
  for (const Symbol& symbol : kernel.dims) values.push_back(extents.at(symbol.name()));
  return fmt::format("{}", fmt::join(values, ","));
}

}  // namespace tenon::tune
