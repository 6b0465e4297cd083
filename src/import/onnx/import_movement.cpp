// Importers of ops that move elements. Targets that the model computes from shapes are Dims here,
// so every extent stays an expression over the model's symbols.
#include <algorithm>

#include "import/onnx/importers.h"
#include "import/onnx/run_time_shapes.h"

namespace tenon::onnx::importers {
namespace {

// The first element, where the constant or parameter holds n, n + 1, n + 2, ...
std::optional<int64_t> arange_start(const graph::Graph& g, Value table) {
  if (!is_integer(table.dtype()) || !table.shape().is_static()) return {};
  std::span<const std::byte> bytes = table.node->bytes();
  if (table.op() == Op::Param) {
    const graph::Data* data = g.param_data(table.node->name());
    if (data) bytes = data->bytes;
  }
  const int64_t size = size_of(table.dtype());
  if (bytes.empty()) return {};
  const int64_t first = load_as_i64(table.dtype(), bytes.data());
  const int64_t count = static_cast<int64_t>(bytes.size()) / size;
  if (first < 0 || first > (int64_t{1} << 40)) return {};
  for (int64_t i = 1; i < count; ++i) {
    if (load_as_i64(table.dtype(), bytes.data() + i * size) != first + i) return {};
  }
  return first;
}

// Rows selected by a slice of 0, 1, 2, ... (position ids, as exporters write them) are a slice
// themselves; null where `indices` is something else.
Value gather_of_arange(Call& call, Value data, Value indices, int64_t axis) {
  if (axis != 0 || indices.op() != Op::Slice) return {};
  const graph::Attributes& slice = indices.node->attributes();
  const Shape& table = indices.node->operand(0).shape();
  const int last = table.rank() - 1;
  for (int i = 0; i < last; ++i) {
    if (!table[i].is_const(1)) return {};
  }
  if (last < 0 || slice.integers("steps")[static_cast<size_t>(last)] != 1) return {};
  const std::optional<int64_t> first = arange_start(call.g, indices.node->operand(0));
  if (!first || prove_le(table[last] + *first, data.shape()[0]) != Proof::Yes) return {};
  std::vector<Dim> starts(data.shape().dims().size(), 0), extents = data.shape().dims();
  starts[0] = slice.dims("starts")[static_cast<size_t>(last)] + *first;
  extents[0] = indices.shape()[last];
  Value rows = call.g.slice(data, starts, extents, std::vector<int64_t>(extents.size(), 1));
  std::vector<Dim> dims = indices.shape().dims();
  dims.insert(dims.end(), extents.begin() + 1, extents.end());
  return call.g.reshape(rows, std::move(dims));
}

}  // namespace

Results gather(Call& call) {
  Value data = call.in(0), indices = call.in(1);
  const int64_t axis = Call::axis_of(call.integer("axis", 0), data.shape().rank());
  if (Value rows = gather_of_arange(call, data, indices, axis)) return {rows};
  return {call.g.gather(data, indices, axis)};
}

namespace {

// Squeeze and Unsqueeze by axes that are data.
Value reshape_by_axes(Call& call, const std::string& mode, int64_t rank) {
  return call.g.apply(Op::ReshapeTo, {call.in(0), call.in(1)},
                      {{"mode", mode}, {"shape", fresh_dims(call.g, mode, rank)}});
}

bool axes_are_data(Call& call) {
  return !call.find("axes") && call.maybe(1) && !known_integers(call.in(1));
}

}  // namespace

Results unsqueeze(Call& call) {
  Value x = call.in(0);
  if (axes_are_data(call)) {
    const int64_t added = vector_length(call.in(1), "axes");
    return {reshape_by_axes(call, "unsqueeze", x.shape().rank() + added)};
  }
  const auto axes = call.axes(1);
  if (!axes) throw user_error("it has no axes");
  const int rank = x.shape().rank() + static_cast<int>(axes->size());
  std::vector<Dim> dims = x.shape().dims();
  for (int64_t axis : Call::axes_of(*axes, rank)) dims.insert(dims.begin() + axis, 1);
  return {call.g.reshape(x, std::move(dims))};
}

Results squeeze(Call& call) {
  Value x = call.in(0);
  const Shape& shape = x.shape();
  if (axes_are_data(call)) {
    const int64_t removed = vector_length(call.in(1), "axes");
    if (removed > shape.rank()) throw user_error("{} axes of rank {}", removed, shape.rank());
    return {reshape_by_axes(call, "squeeze", shape.rank() - removed)};
  }
  std::vector<int64_t> axes;
  if (const auto given = call.axes(1)) {
    axes = Call::axes_of(*given, shape.rank());
  } else {
    for (int i = 0; i < shape.rank(); ++i) {
      if (shape[i].is_const(1)) axes.push_back(i);
    }
  }
  std::vector<Dim> dims;
  for (int i = 0; i < shape.rank(); ++i) {
    const bool removed = std::find(axes.begin(), axes.end(), i) != axes.end();
    if (!removed) dims.push_back(shape[i]);
    if (removed && prove_equal(shape[i], 1) == Proof::No) {
      throw user_error("axis {} of {} has not the extent 1", i, x.type().to_string());
    }
  }
  return {call.g.reshape(x, std::move(dims))};
}

Results concat(Call& call) {
  std::vector<Value> parts;
  for (int i = 0; i < call.inputs(); ++i) parts.push_back(call.in(i));
  const int64_t axis = Call::axis_of(call.integer("axis"), parts[0].shape().rank());
  return {parts.size() == 1 ? parts[0] : call.g.concat(std::move(parts), axis)};
}

namespace {

Results split_by_data(Call& call, int64_t axis) {
  const Value parts = of_length(call.g, call.in(1), call.outputs(), "split");
  return call.g.apply_all(
      Op::Split, {call.in(0), parts},
      {{"axis", axis}, {"extents", fresh_dims(call.g, "split", call.outputs())}});
}

// As many parts as outputs; the last one, and only it, may be smaller.
std::vector<Dim> even_parts(const Dim& whole, int64_t parts) {
  if (parts < 1) throw user_error("{} parts", parts);
  const Dim chunk = ceildiv(whole, parts);
  std::vector<Dim> extents(static_cast<size_t>(parts), chunk);
  extents.back() = whole - chunk * (parts - 1);
  return extents;
}

}  // namespace

Results split(Call& call) {
  Value x = call.in(0);
  const int64_t axis = Call::axis_of(call.integer("axis", 0), x.shape().rank());
  const Dim& whole = x.shape()[static_cast<int>(axis)];
  std::vector<Dim> extents;
  if (const auto given = call.integers("split")) {
    extents.assign(given->begin(), given->end());
  } else if (Value sizes = call.maybe(1)) {
    if (!shape_value(sizes)) return split_by_data(call, axis);
    extents = call.dims(sizes, "split");
  } else if (call.find("num_outputs")) {
    const int64_t parts = call.integer("num_outputs");
    if (parts != call.outputs()) {
      throw user_error("num_outputs is {} but the node has {}", parts, call.outputs());
    }
    extents = even_parts(whole, parts);
  } else {
    extents.assign(static_cast<size_t>(call.outputs()), quotient({whole}, {call.outputs()}));
  }
  if (static_cast<int>(extents.size()) != call.outputs()) {
    throw user_error("{} parts for {} outputs", extents.size(), call.outputs());
  }
  return call.g.split(x, axis, std::move(extents));
}

Results reshape(Call& call) {
  const bool allow_zero = call.flag("allowzero", false);
  return {reshape_to(call.g, call.in(0), call.in(1), allow_zero)};
}

Results flatten(Call& call) {
  Value x = call.in(0);
  const int rank = x.shape().rank();
  int64_t axis = call.integer("axis", 1);
  if (axis < -rank || axis > rank) throw user_error("axis {} is out of range", axis);
  if (axis < 0) axis += rank;
  const std::vector<Dim>& dims = x.shape().dims();
  return {call.g.reshape(x, {product({dims.begin(), dims.begin() + axis}),
                             product({dims.begin() + axis, dims.end()})})};
}

Results transpose(Call& call) {
  Value x = call.in(0);
  std::vector<int64_t> perm;
  for (int i = x.shape().rank(); i-- > 0;) perm.push_back(i);
  return {call.g.transpose(x, call.integers("perm").value_or(perm))};
}

Results expand(Call& call) { return {expand_to(call.g, call.in(0), call.in(1))}; }

}  // namespace tenon::onnx::importers
