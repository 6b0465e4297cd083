#include "compiled/named_views.h"

#include <fmt/ranges.h>

#include <algorithm>
#include <functional>
#include <numeric>

#include "base/error.h"

namespace tenon::compiled {
namespace {

using runtime::IoView;

std::string names(const std::vector<program::IoSlot>& slots) {
  std::vector<std::string> list;
  for (const auto& slot : slots) list.push_back("\"" + slot.name + "\"");
  return fmt::format("{}", fmt::join(list, ", "));
}

template <typename View>
[[noreturn]] void report_names(const char* role, const std::vector<program::IoSlot>& slots,
                               const std::map<std::string, View>& given) {
  for (const auto& [name, view] : given) {
    const auto known = [&](const program::IoSlot& slot) { return slot.name == name; };
    if (std::none_of(slots.begin(), slots.end(), known)) {
      throw user_error("unknown {} \"{}\"; the model's {}s are {}", role, name, role, names(slots));
    }
  }
  for (const program::IoSlot& slot : slots) {
    if (!given.contains(slot.name)) {
      throw user_error("missing {} \"{}\" {}; the model's {}s are {}", role, slot.name,
                       slot.type.to_string(), role, names(slots));
    }
  }
  throw internal_error("[run] {} names do not match", role);
}

IoView io_view(const MutableTensorView& view) {
  return {view.data, view.dtype, view.shape, view.capacity};
}

int64_t count(const std::vector<int64_t>& shape) {
  return std::accumulate(shape.begin(), shape.end(), int64_t{1}, std::multiplies<>());
}

// The caller's extents, or the model's where the caller said only how many elements there are.
IoView io_view(const TensorView& view, const program::IoSlot& slot, const InputShapes& shapes) {
  void* data = const_cast<void*>(view.data);
  if (view.elements < 0) return {data, view.dtype, view.shape, view.capacity};
  if (!shapes.whole) {
    throw user_error("input \"{}\" is {}: its extents must be given, not only {} elements",
                     slot.name, slot.type.to_string(), view.elements);
  }
  for (const StaticShape* shape : {&shapes.whole, &shapes.active}) {
    if (view.elements == count(**shape)) return {data, view.dtype, **shape, {}};
  }
  throw user_error("input \"{}\" is {}[{}] and has {} elements, but {} are given", slot.name,
                   to_string(slot.type.dtype), fmt::join(*shapes.whole, ", "), count(*shapes.whole),
                   view.elements);
}

// `show(view, i)` is the view of slot i.
template <typename View, typename Show>
void collect(const char* role, const std::vector<program::IoSlot>& slots,
             const std::map<std::string, View>& given, std::vector<IoView>& views,
             const Show& show) {
  if (given.size() != slots.size()) report_names(role, slots, given);
  for (size_t i = 0; i < slots.size(); ++i) {
    const auto found = given.find(slots[i].name);
    if (found == given.end()) report_names(role, slots, given);
    views[i] = show(found->second, i);
  }
}

}  // namespace

void collect_inputs(const std::vector<program::IoSlot>& slots,
                    const std::vector<InputShapes>& shapes, const NamedInputs& given,
                    std::vector<IoView>& views) {
  collect("input", slots, given, views,
          [&](const TensorView& view, size_t i) { return io_view(view, slots[i], shapes[i]); });
}

void collect_outputs(const std::vector<program::IoSlot>& slots, const NamedOutputs& given,
                     std::vector<IoView>& views) {
  collect("output", slots, given, views,
          [](const MutableTensorView& view, size_t) { return io_view(view); });
}

}  // namespace tenon::compiled
