#include "compiled/named_views.h"

#include <fmt/ranges.h>

#include <algorithm>
#include <functional>
#include <numeric>

#include "base/error.h"
#include "compiled/known_dtype.h"

namespace tenon::compiled {
namespace {

using runtime::IoView;

std::string names(const std::vector<program::IoSlot>& slots) {
  std::vector<std::string> list;
  for (const auto& slot : slots) list.push_back("\"" + slot.name + "\"");
  return fmt::format("{}", fmt::join(list, ", "));
}

// Names that no slot has, then slots that have nothing: `has(i)` says whether one needs no name.
template <typename View, typename Has>
[[noreturn]] void report_names(const char* role, const std::vector<program::IoSlot>& slots,
                               const std::map<std::string, View>& given, const Has& has) {
  for (const auto& [name, view] : given) {
    const auto known = [&](const program::IoSlot& slot) { return slot.name == name; };
    if (std::none_of(slots.begin(), slots.end(), known)) {
      throw user_error("unknown {} \"{}\"; the model's {}s are {}", role, name, role, names(slots));
    }
  }
  for (size_t i = 0; i < slots.size(); ++i) {
    if (given.contains(slots[i].name) || has(i)) continue;
    if (slots[i].state) report_unbound(slots[i]);
    throw user_error("missing {} \"{}\" {}; the model's {}s are {}", role, slots[i].name,
                     slots[i].type.to_string(), role, names(slots));
  }
  throw internal_error("[run] {} names do not match", role);
}

IoView io_view(const MutableTensorView& view) {
  return {view.data, view.dtype, view.shape, view.capacity};
}

int64_t count(const std::vector<int64_t>& shape) {
  return std::accumulate(shape.begin(), shape.end(), int64_t{1}, std::multiplies<>());
}

// `show(view, i)` is the view of slot i; `otherwise(i)` of one that is not given where `has(i)`.
template <typename View, typename Show, typename Has, typename Otherwise>
void collect(const char* role, const std::vector<program::IoSlot>& slots,
             const std::map<std::string, View>& given, std::vector<IoView>& views, const Show& show,
             const Has& has, const Otherwise& otherwise) {
  size_t used = 0;
  for (size_t i = 0; i < slots.size(); ++i) {
    const auto found = given.find(slots[i].name);
    if (found != given.end()) {
      views[i] = show(found->second, i);
      ++used;
    } else if (has(i)) {
      views[i] = otherwise(i);
    } else {
      report_names(role, slots, given, has);
    }
  }
  if (used != given.size()) report_names(role, slots, given, has);
}

}  // namespace

void report_unbound(const program::IoSlot& state) {
  throw user_error("[run] the state \"{}\" {} has no value: bind_handle gives it its first",
                   state.name, state.type.to_string());
}

IoView input_view(const TensorView& view, const program::IoSlot& slot, const InputShapes& shapes) {
  check_known(view.dtype, "input", slot.name);
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

void collect_inputs(const std::vector<program::IoSlot>& slots,
                    const std::vector<InputShapes>& shapes, const NamedInputs& given,
                    const runtime::Handles& handles, std::vector<IoView>& views) {
  const auto has = [&](size_t i) { return handles.is_bound(static_cast<int>(i)); };
  const auto show = [&](const TensorView& view, size_t i) {
    if (has(i))
      throw user_error("[run] input \"{}\" has a handle, which feeds it: leave it out",
                       slots[i].name);
    if (slots[i].state)
      throw user_error("[run] \"{}\" {} is a state: bind_handle gives it its first value",
                       slots[i].name, slots[i].type.to_string());
    return input_view(view, slots[i], shapes[i]);
  };
  collect("input", slots, given, views, show, has,
          [&](size_t i) { return handles.shown(static_cast<int>(i)); });
}

void collect_outputs(const std::vector<program::IoSlot>& slots, const NamedOutputs& given,
                     const runtime::Handles& handles, std::vector<IoView>& views) {
  collect(
      "output", slots, given, views,
      [&](const MutableTensorView& view, size_t i) {
        check_known(view.dtype, "output", slots[i].name);
        return io_view(view);
      },
      [&](size_t i) { return handles.is_fed_by(static_cast<int>(i)); },
      [&](size_t i) { return IoView{nullptr, slots[i].type.dtype, {}, {}}; });
}

}  // namespace tenon::compiled
