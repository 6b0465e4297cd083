// Which stored values are bytes of another stored value. Three cases:
//   a reshape or a slice of leading rows that must exist in memory, for the executor reads it or
//   its extents are known late: it is a view of what it is made of
//   an output that is a reshape: what it is made of is computed in the output's memory
//   a concat whose parts lie one after the other: parts that have memory anyway get it there. It
//   pays where that is so of half of them; the others are computed or copied into their place
// Memory of a caller's may have gaps (capacity above the extent): only what is dense at every shape
// is shared. What a value is placed in must have a known size when the value is computed.
#include <algorithm>

#include "fuse/fuse.h"
#include "graph/host_ops.h"
#include "graph/state.h"

namespace tenon::fuse {
namespace {

using graph::Op;
using graph::Value;

// Of an input or output: every symbolic axis but the outermost may have a capacity of its own.
bool is_dense_io(const Shape& shape) {
  int axis = 0;
  while (axis < shape.rank() && shape[axis].is_const(1)) ++axis;
  for (++axis; axis < shape.rank(); ++axis) {
    if (!shape[axis].is_const()) return false;
  }
  return true;
}

Dim elements_inside(const Shape& shape, int axis) {
  Dim elements = 1;
  for (++axis; axis < shape.rank(); ++axis) elements = elements * shape[axis];
  return elements;
}

bool all_ones(const Shape& shape, int axes) {
  for (int axis = 0; axis < axes; ++axis) {
    if (!shape[axis].is_const(1)) return false;
  }
  return true;
}

// The first element of a slice whose elements lie side by side.
std::optional<Dim> slice_offset(const graph::Node& slice) {
  const Shape& whole = slice.operand(0).shape();
  const Shape& taken = slice.types()[0].shape;
  const auto& starts = slice.attributes().dims("starts");
  const auto& steps = slice.attributes().integers("steps");
  const auto full = [&](int axis) {
    const auto at = static_cast<size_t>(axis);
    return starts[at].is_const(0) && steps[at] == 1 && taken[axis] == whole[axis];
  };
  int axis = 0;
  while (axis < whole.rank() && full(axis)) ++axis;
  if (axis == whole.rank()) return Dim(0);
  if (steps[static_cast<size_t>(axis)] != 1 || !all_ones(whole, axis)) return std::nullopt;
  for (int inner = axis + 1; inner < whole.rank(); ++inner) {
    if (!full(inner)) return std::nullopt;
  }
  return starts[static_cast<size_t>(axis)] * elements_inside(whole, axis);
}

class Placer {
 public:
  Placer(const graph::Graph& graph, const OuterSymbols& outer, Regions& regions)
      : uses_(graph), regions_(regions), known_(outer) {
    for (const Value& input : graph.inputs()) {
      for (const Dim& extent : input.shape()) {
        for (const Symbol& symbol : extent.symbols()) known_.insert(symbol.name());
      }
    }
  }

  void run() {
    number_roots();
    for (const Value& root : regions_.roots) {
      if (regions_.prologue.contains(root) || graph::is_host_op(root.op())) continue;
      if (root.op() == Op::Concat) {
        join(root);
      } else if (const auto source = source_of(root)) {
        view(root, *source);
      }
    }
    follow_places();
  }

 private:
  struct Source {
    Value value;  // stored
    Dim offset = 0;
    bool whole = true;  // all of its elements
  };

  // What the value is made of, if its elements lie there side by side.
  std::optional<Source> source_of(Value value) const {
    Source source{value};
    do {
      const graph::Node& node = *source.value.node;
      if (node.op() == Op::Slice) {
        const auto offset = slice_offset(node);
        if (!offset) return std::nullopt;
        source.offset = source.offset + *offset;
        source.whole = false;
      } else if (node.op() != Op::Reshape) {
        return std::nullopt;
      }
      source.value = node.operand(0);
    } while (!regions_.stored.contains(source.value));
    return source;
  }

  void number_roots() {
    for (const Value& root : regions_.roots) {
      const auto number = static_cast<int>(first_write_.size());
      first_write_.emplace(root, number);
      if (!graph::is_host_op(root.op())) continue;
      host_values_.insert(root);
      for (const Value& operand : root.node->operands()) host_values_.insert(operand);
      for (const Dim& extent : graph::defining_dims(*root.node)) {
        const auto symbol = extent.as_symbol();
        if (symbol && !known_.contains(symbol->name())) defined_.emplace(symbol->name(), number);
      }
    }
  }

  // Whether the Dim has a value when root number `number` is computed.
  bool known_at(const Dim& dim, int number) const {
    return std::ranges::all_of(dim.symbols(), [&](const Symbol& symbol) {
      const auto found = defined_.find(symbol.name());
      return found == defined_.end() || found->second < number;
    });
  }

  bool known_at(const Shape& shape, int number) const {
    return std::ranges::all_of(shape.dims(), [&](const Dim& dim) { return known_at(dim, number); });
  }

  // Whether the output's memory is the run's own until the run ends.
  bool is_late(Value output) const {
    return host_values_.contains(output) || !known_at(output.shape(), 0);
  }
  bool is_callers(Value value) const { return uses_.is_output(value) && !is_late(value); }

  // Whether the value is computed by a step of the run, and may be computed anywhere.
  bool is_free(Value value) const {
    return regions_.stored.contains(value) && !graph::has(value.op(), graph::kLeaf) &&
           !regions_.prologue.contains(value) && !uses_.is_output(value) &&
           !host_values_.contains(value) && !regions_.places.contains(value) &&
           value.op() != Op::Update;
  }
  // Where a value lies so far, if that is in another; a define is its operand.
  std::optional<Place> place_of(Value value) const {
    if (value.op() == Op::Define) return Place{value.node->operand(0), 0};
    const auto found = regions_.places.find(value);
    return found == regions_.places.end() ? std::nullopt : std::optional(found->second);
  }
  Value memory_of(Value value) const {
    while (const auto place = place_of(value)) value = place->in;
    return value;
  }
  bool may_lie_in(Value value, Value in, const Dim& offset) const {
    if (holds_late_output_.contains(value) && is_callers(memory_of(in))) return false;
    const int number = first_write_.at(value);
    return known_at(in.shape(), number) && known_at(offset, number);
  }
  void put(Value value, Value in, const Dim& offset) {
    insert(value, in, offset);
    if (holds_late_output_.contains(value)) holds_late_output_.insert(memory_of(in));
    int& first = first_write_.at(in);
    first = std::min(first, first_write_.at(value));
  }

  void insert(Value value, Value in, const Dim& offset) {
    regions_.places.insert({value, {in, offset}});
    placed_.push_back(value);
  }
  // A value inside of one that lies in a third lies in the third. Last first: few steps each.
  void follow_places() {
    for (size_t i = placed_.size(); i-- > 0;) {
      Place& place = regions_.places.at(placed_[i]);
      while (const auto outer = place_of(place.in))
        place = {outer->in, outer->offset + place.offset};
    }
  }

  void view(Value root, const Source& source) {
    if (graph::state_of(source.value)) return;  // its memory has gaps, and changes
    if (is_callers(root)) {
      if (!source.whole || !is_dense_io(root.shape()) || !is_free(source.value)) return;
      if (!may_lie_in(source.value, root, 0)) return;
      put(source.value, root, 0);
    } else {
      const Value memory = memory_of(source.value);
      const bool callers = memory.op() == Op::Input || is_callers(memory);
      if (callers && !is_dense_io(source.value.shape())) return;
      if (callers && uses_.is_output(root)) return;  // a late output is the run's own memory
      if (host_values_.contains(root)) {
        if (is_callers(memory)) return;
        host_values_.insert(memory);  // nor will that be a caller's
      }
      insert(root, source.value, source.offset);
      if (uses_.is_output(root)) holds_late_output_.insert(memory);
    }
    regions_.assembled[root] = {};
  }

  void join(Value concat) {
    const auto axis = static_cast<int>(concat.node->attributes().integer("axis"));
    if (!all_ones(concat.shape(), axis)) return;
    if (is_callers(concat) && !is_dense_io(concat.shape())) return;
    const Dim inside = elements_inside(concat.shape(), axis);
    std::vector<Part> placed, copied;
    std::unordered_set<Value> taken;
    Dim offset = 0;
    for (const Value& part : concat.node->operands()) {
      const std::optional<Source> source =
          regions_.stored.contains(part) ? Source{part} : source_of(part);
      if (source && source->whole && is_free(source->value) &&
          may_lie_in(source->value, concat, offset) && taken.insert(source->value).second) {
        placed.push_back({source->value, offset});
      } else {
        copied.push_back({part, offset});
      }
      offset = offset + part.shape()[axis] * inside;
    }
    if (placed.size() < copied.size()) return;
    for (const Part& part : placed) put(part.value, concat, part.offset);
    regions_.assembled[concat] = std::move(copied);
  }

  graph::UseLists uses_;
  Regions& regions_;
  std::vector<Value> placed_;              // in the order of places
  std::unordered_set<Value> host_values_;  // that the executor reads or writes: never in an output
  std::unordered_set<Value> holds_late_output_;   // and so must be the run's own memory
  OuterSymbols known_;                            // symbols that have values from the start
  std::unordered_map<std::string, int> defined_;  // symbol -> the root that gives it a value
  std::unordered_map<Value, int> first_write_;    // root -> the first that writes to its memory
};

}  // namespace

void place(const graph::Graph& graph, const OuterSymbols& outer, Regions& regions) {
  Placer(graph, outer, regions).run();
}

}  // namespace tenon::fuse
