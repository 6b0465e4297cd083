// Importers of ops that move elements. Targets that the model computes from shapes are Dims here,
// so every extent stays an expression over the model's symbols.
#include <algorithm>

#include "import/onnx/importers.h"

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

Results unsqueeze(Call& call) {
  const auto axes = call.axes(1);
  if (!axes) throw user_error("it has no axes");
  Value x = call.in(0);
  const int rank = x.shape().rank() + static_cast<int>(axes->size());
  std::vector<Dim> dims = x.shape().dims();
  for (int64_t axis : Call::axes_of(*axes, rank)) dims.insert(dims.begin() + axis, 1);
  return {call.g.reshape(x, std::move(dims))};
}

Results squeeze(Call& call) {
  Value x = call.in(0);
  const Shape& shape = x.shape();
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

Results split(Call& call) {
  Value x = call.in(0);
  const int64_t axis = Call::axis_of(call.integer("axis", 0), x.shape().rank());
  const Dim& whole = x.shape()[static_cast<int>(axis)];
  std::vector<Dim> extents;
  if (const auto given = call.integers("split")) {
    extents.assign(given->begin(), given->end());
  } else if (Value sizes = call.maybe(1)) {
    extents = call.dims(sizes, "split");
  } else if (call.find("num_outputs")) {
    const int64_t parts = call.integer("num_outputs");
    if (parts != call.outputs()) {
      throw user_error("num_outputs is {} but the node has {}", parts, call.outputs());
    }
    const Dim chunk = ceildiv(whole, parts);
    extents.assign(static_cast<size_t>(parts - 1), chunk);
    extents.push_back(whole - chunk * (parts - 1));
  } else {
    extents.assign(static_cast<size_t>(call.outputs()), quotient({whole}, {call.outputs()}));
  }
  if (static_cast<int>(extents.size()) != call.outputs()) {
    throw user_error("{} parts for {} outputs", extents.size(), call.outputs());
  }
  return call.g.split(x, axis, std::move(extents));
}

// 0 keeps the input's extent (unless allowzero), -1 is what is left over.
Results reshape(Call& call) {
  Value x = call.in(0);
  const bool allow_zero = call.flag("allowzero", false);
  std::vector<Dim> target = call.dims(call.in(1), "the shape"), others;
  int free = -1;
  for (size_t i = 0; i < target.size(); ++i) {
    if (target[i].is_const(0) && !allow_zero) {
      if (i >= x.shape().dims().size()) {
        throw user_error("entry {} of the shape is 0 but the input is {}", i, x.type().to_string());
      }
      target[i] = x.shape()[static_cast<int>(i)];
    }
    if (target[i].is_const(-1)) {
      if (free >= 0) throw user_error("the shape has -1 twice");
      free = static_cast<int>(i);
    } else {
      others.push_back(target[i]);
    }
  }
  if (free >= 0) target[static_cast<size_t>(free)] = quotient(x.shape().dims(), others);
  return {call.g.reshape(x, std::move(target))};
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

// Both ways: an extent of 1 in the target keeps the input's.
Results expand(Call& call) {
  Value x = call.in(0);
  std::vector<Dim> target = call.dims(call.in(1), "the shape"), dims = x.shape().dims();
  if (dims.size() < target.size()) dims.insert(dims.begin(), target.size() - dims.size(), 1);
  const size_t skip = dims.size() - target.size();
  for (size_t i = 0; i < target.size(); ++i) {
    if (!target[i].is_const(1)) dims[skip + i] = target[i];
  }
  return {call.g.expand(x, std::move(dims))};
}

}  // namespace tenon::onnx::importers
