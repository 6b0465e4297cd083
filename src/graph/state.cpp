// See state.h: what a state is, its builders, and the rule and the meaning of an update.
#include "graph/state.h"

#include <algorithm>
#include <cstring>

#include "base/error.h"
#include "graph/evaluate.h"
#include "graph/infer.h"

namespace tenon::graph {

std::optional<StateLayout> state_layout(Value value) {
  if (value.op() != Op::Input) return std::nullopt;
  const Attributes& attributes = value.node->attributes();
  if (attributes.find("capacity") == nullptr) return std::nullopt;
  return StateLayout{.axis = attributes.integer("axis"),
                     .capacity = attributes.integer("capacity")};
}

std::optional<Value> state_of(Value value) {
  while (value.op() == Op::Update) value = value.node->operand(0);
  return state_layout(value) ? std::optional(value) : std::nullopt;
}

bool is_state_output(const Output& output) {
  if (output.value.op() != Op::Update) return false;
  return state_of(output.value)->node->name() == output.name;
}

Value Graph::state(const std::string& name, TensorType type, const StateLayout& layout) {
  const int rank = type.shape.rank();
  if (layout.axis < 0 || layout.axis >= rank)
    throw user_error("[state] \"{}\" has no axis {}: {}", name, layout.axis, type.to_string());
  if (layout.capacity < 1)
    throw user_error("[state] \"{}\" needs a capacity of at least 1, not {}", name,
                     layout.capacity);
  const Dim length = type.shape[static_cast<int>(layout.axis)];
  Constraint fits{
      .kind = Constraint::Kind::AtMost,
      .left = length,
      .right = layout.capacity,
      .why = fmt::format("[state] \"{}\" {} must fit its capacity", name, type.to_string())};
  const Value value = named_leaf(Op::Input, name, std::move(type),
                                 {{"axis", layout.axis}, {"capacity", layout.capacity}});
  add_constraint(std::move(fits));
  return inputs_.emplace_back(value);
}

Value Graph::update(Value state, Value value, Dim offset) {
  return apply(Op::Update, {state, value}, {{"offset", std::vector<Dim>{std::move(offset)}}});
}

// Each value of a state is updated at most once: two would need the memory at the same time.
void Graph::note_update(Value update) {
  const Value before = update.node->operand(0);
  Value& last = updates_[state_of(update)->node->name()];
  if (last && last != before && last != update)
    throw user_error("[update] the state \"{}\" has a later value: update that one",
                     state_of(update)->node->name());
  last = update;
}

void rules::update(Inference& op) {
  const std::optional<Value> state = state_of(op.value(0));
  if (!state) throw op.fail("the first operand is no state, nor an update of one");
  const StateLayout layout = *state_layout(*state);
  const TensorType &old = op.operand(0), &value = op.operand(1);
  if (value.dtype != old.dtype) throw op.fail("state and value have different dtypes (cast them)");
  if (value.shape.rank() != old.shape.rank()) throw op.fail("state and value have different ranks");
  const std::vector<Dim>& offsets = op.attributes().dims("offset");
  if (offsets.size() != 1) throw op.fail("there must be one offset");
  const Dim& offset = offsets[0];
  std::vector<Dim> dims = old.shape.dims();
  for (int axis = 0; axis < old.shape.rank(); ++axis) {
    Dim& extent = dims[static_cast<size_t>(axis)];
    if (axis != layout.axis) {
      extent = op.same(extent, value.shape[axis], fmt::format("extents of axis {}", axis));
      continue;
    }
    const Dim end = offset + value.shape[axis];
    op.at_most(0, offset, "the offset is negative");
    op.at_most(offset, extent, "the offset leaves a gap");
    op.at_most(end, layout.capacity,
               fmt::format("the state \"{}\" has too small a capacity", state->node->name()));
    extent = max(extent, end);
  }
  op.result(Shape(std::move(dims)), old.dtype);
}

evaluators::Results evaluators::update(const Evaluation& e) {
  const Tensor &old = e.operand(0), &value = e.operand(1);
  const auto axis = static_cast<size_t>(state_layout(*state_of({&e.node}))->axis);
  const int64_t offset = e.value_of(e.attributes().dims("offset")[0]);
  Extents shape = old.shape;
  shape[axis] = std::max(shape[axis], offset + value.shape[axis]);
  Tensor result = make_tensor(e.dtype(), shape);
  // Along the axis, what lies inside of one row is copied as it is.
  const auto row =
      static_cast<size_t>(element_count(std::span(shape).subspan(axis + 1)) * size_of(e.dtype()));
  const auto put = [&](const Tensor& part, size_t block, size_t first) {
    const size_t rows = static_cast<size_t>(part.shape[axis]) * row;
    if (rows == 0) return;
    const size_t to = (block * static_cast<size_t>(shape[axis]) + first) * row;
    std::memcpy(result.bytes.data() + to, part.bytes.data() + block * rows, rows);
  };
  const auto blocks = static_cast<size_t>(element_count(std::span(shape).first(axis)));
  for (size_t block = 0; block < blocks; ++block) {
    put(old, block, 0);
    put(value, block, static_cast<size_t>(offset));
  }
  return {std::move(result)};
}

}  // namespace tenon::graph
