// Reshape, expand, pad, tile and range with targets that may be known or not.
#include "import/onnx/run_time_shapes.h"

#include <algorithm>
#include <cmath>
#include <numeric>

namespace tenon::onnx {

Dim vector_extent(Value vector, std::string_view what) {
  if (!is_integer(vector.dtype()) || vector.shape().rank() > 1) {
    throw user_error("{} must be an integer vector, not {}", what, vector.type().to_string());
  }
  return vector.shape().elements();
}

Value of_length(graph::Graph& g, Value vector, int64_t length, std::string_view what) {
  const Dim given = vector_extent(vector, what);
  if (given.is_const(length)) return vector;
  if (prove_equal(given, length) == Proof::No) {
    throw user_error("{} must have {} elements, not {}", what, length, vector.type().to_string());
  }
  return g.reshape(vector, {length});
}

int64_t vector_length(Value vector, std::string_view what) {
  const Dim length = vector_extent(vector, what);
  if (length.is_const()) return length.const_value();
  throw unsupported_error(
      "{} has {} elements, so that the rank is only known at run time: give the inputs it depends "
      "on "
      "static shapes",
      what, length.to_string());
}

std::vector<Dim> fresh_dims(graph::Graph& g, const std::string& stem, int64_t count) {
  std::vector<Dim> dims;
  for (int64_t i = 0; i < count; ++i) dims.emplace_back(g.fresh_symbol(stem, {0, kDimInf}));
  return dims;
}

std::optional<std::vector<int64_t>> known_integers(Value value) {
  const std::optional<std::vector<Dim>> dims = shape_value(value);
  if (!dims) return {};
  std::vector<int64_t> integers;
  for (const Dim& dim : *dims) {
    if (!dim.is_const()) return {};
    integers.push_back(dim.const_value());
  }
  return integers;
}

Dim known_or_fresh(graph::Graph& g, Value value, const std::string& stem, const Dim& most) {
  const std::optional<std::vector<Dim>> known = shape_value(value);
  if (known && known->size() == 1) return known->front();
  return g.fresh_symbol(stem, {0, most.bounds().hi});
}

namespace {

// Without elements whenever `entry` is 0: it is one of the extents, or a product or quotient of
// symbols that all are factors of x.
bool is_empty_with(Value x, const Dim& entry) {
  const Shape& shape = x.shape();
  if (std::ranges::find(shape, entry) != shape.end()) return true;
  const Dim elements = shape.elements();
  if (entry.terms().size() != 1 || elements.is_const()) return false;
  return std::ranges::all_of(entry.symbols(), [&](const Symbol& symbol) {
    return elements.substitute(symbol, 0).is_const(0);
  });
}

// What an entry that may be 0 when the model runs stands for: then it is the input's extent. Where
// the input has no elements then, it stays 0: that is the shape that fits.
Dim or_kept(const Dim& entry, Value x, size_t axis) {
  const Bounds bounds = entry.bounds();
  if (entry.is_const() || bounds.lo > 0 || bounds.hi < 0) return entry;
  if (axis >= x.shape().dims().size()) return entry;
  const Dim& kept = x.shape()[static_cast<int>(axis)];
  if (kept == entry || is_empty_with(x, entry)) return entry;
  return entry + kept * max(1 - entry, 0);
}

// 0 keeps the input's extent (unless exact), -1 is what is left over.
Value reshape_known(graph::Graph& g, Value x, std::vector<Dim> target, bool exact) {
  std::vector<Dim> others;
  int free = -1;
  for (size_t i = 0; i < target.size(); ++i) {
    if (target[i].is_const(0) && !exact) {
      if (i >= x.shape().dims().size()) {
        throw user_error("entry {} of the shape is 0 but the input is {}", i, x.type().to_string());
      }
      target[i] = x.shape()[static_cast<int>(i)];
    }
    if (!exact) target[i] = or_kept(target[i], x, i);
    if (target[i].is_const(-1)) {
      if (free >= 0) throw user_error("the shape has -1 twice");
      free = static_cast<int>(i);
    } else {
      others.push_back(target[i]);
    }
  }
  if (free >= 0) target[static_cast<size_t>(free)] = quotient(x.shape().dims(), others);
  return g.reshape(x, std::move(target));
}

// An extent of 1 in the target keeps the input's.
Value expand_known(graph::Graph& g, Value x, const std::vector<Dim>& target) {
  std::vector<Dim> dims = x.shape().dims();
  if (dims.size() < target.size()) dims.insert(dims.begin(), target.size() - dims.size(), 1);
  const size_t skip = dims.size() - target.size();
  for (size_t i = 0; i < target.size(); ++i) {
    Dim& extent = dims[skip + i];
    if (target[i].is_const(1) || target[i] == extent) continue;
    const bool stays = extent.is_const() && !extent.is_const(1) && target[i].bounds().contains(1);
    if (!stays) extent = target[i];
    if (stays) {
      using enum Constraint::Kind;
      g.add_constraint({Broadcastable, extent, target[i], "[expand] extents with the target"});
    }
  }
  return g.expand(x, std::move(dims));
}

Value all_axes(graph::Graph& g, int rank) {
  std::vector<int64_t> axes;
  for (int i = 0; i < rank; ++i) axes.push_back(i);
  return g.integers(std::move(axes));
}

}  // namespace

Value reshape_to(graph::Graph& g, Value x, Value shape, bool exact) {
  const int64_t rank = vector_length(shape, "the shape");
  if (auto target = shape_value(shape)) return reshape_known(g, x, *std::move(target), exact);
  return g.apply(Op::ReshapeTo, {x, shape},
                 {{"mode", exact ? "exact" : "shape"}, {"shape", fresh_dims(g, "reshape", rank)}});
}

Value expand_to(graph::Graph& g, Value x, Value shape) {
  const int64_t rank = vector_length(shape, "the shape");
  if (const auto target = shape_value(shape)) return expand_known(g, x, *target);
  std::vector<Dim> dims = x.shape().dims();
  for (size_t i = 0; i < dims.size(); ++i) {
    const bool spread = static_cast<int64_t>(dims.size() - i) <= rank;
    const bool stays = !spread || (dims[i].is_const() && !dims[i].is_const(1));
    if (!stays) dims[i] = fresh_dims(g, "expand", 1)[0];
  }
  const auto missing = std::max<int64_t>(rank - static_cast<int64_t>(dims.size()), 0);
  const std::vector<Dim> before = fresh_dims(g, "expand", missing);
  dims.insert(dims.begin(), before.begin(), before.end());
  return g.apply(Op::ExpandTo, {x, shape}, {{"shape", std::move(dims)}});
}

Value pad_to(graph::Graph& g, Value x, const std::string& mode, Value pads, Value axes,
             Value fill) {
  const int rank = x.shape().rank();
  if (!axes) axes = all_axes(g, rank);
  const auto by = shape_value(pads);
  const auto on = known_integers(axes);
  std::vector<Dim> dims = on ? x.shape().dims() : fresh_dims(g, "pad", rank);
  if (on && by && by->size() != on->size() * 2) {
    throw user_error("{} axes need {} pads, not {}", on->size(), on->size() * 2, by->size());
  }
  Call::axes_of(on.value_or(std::vector<int64_t>{}), rank);  // rejects repeats
  for (size_t i = 0; on && i < on->size(); ++i) {
    Dim& extent = dims[static_cast<size_t>(Call::axis_of((*on)[i], rank))];
    extent = by ? extent + (*by)[i] + (*by)[on->size() + i] : fresh_dims(g, "pad", 1)[0];
  }
  std::vector<Value> operands{x, pads, axes};
  if (fill) operands.push_back(to_scalar(g, fill, "the constant"));
  return g.apply(Op::Pad, std::move(operands), {{"mode", mode}, {"shape", std::move(dims)}});
}

// Each axis gets one of extent 1 before it, which is spread, and the two become one.
Value tile_by(graph::Graph& g, Value x, Value repeats) {
  const int rank = x.shape().rank();
  repeats = of_length(g, repeats, rank, "repeats");
  if (rank == 0) return x;
  std::vector<Dim> apart;
  for (const Dim& extent : x.shape()) apart.insert(apart.end(), {1, extent});
  if (const auto counts = shape_value(repeats)) {
    std::vector<Dim> spread = apart, together;
    for (size_t i = 0; i < counts->size(); ++i) {
      spread[2 * i] = (*counts)[i];
      together.push_back((*counts)[i] * apart[2 * i + 1]);
    }
    return g.reshape(g.expand(g.reshape(x, apart), std::move(spread)), std::move(together));
  }
  const Value extents = g.shape_of(x);
  const Value pairs = g.concat({g.reshape(repeats, {rank, 1}), g.reshape(extents, {rank, 1})}, 1);
  const Value spread = expand_to(g, g.reshape(x, apart), g.reshape(pairs, {2 * rank}));
  return reshape_to(g, spread, g.mul(repeats, extents), true);
}

namespace {

// The count of a range, where what decides it is known.
std::optional<Dim> range_count(Value start, Value limit, Value delta) {
  if (is_float(start.dtype())) {
    double numbers[3];
    const Value operands[] = {start, limit, delta};
    for (int i = 0; i < 3; ++i) {
      if (operands[i].op() != Op::Constant) return {};
      numbers[i] = load_as_f64(start.dtype(), operands[i].node->bytes().data());
    }
    const double count = std::ceil((numbers[1] - numbers[0]) / numbers[2]);
    if (!(std::abs(count) < 0x1p48)) return {};
    return Dim(std::max<int64_t>(static_cast<int64_t>(count), 0));
  }
  const auto from = shape_value(start), to = shape_value(limit);
  const auto by = known_integers(delta);
  if (!from || !to || !by || by->front() == 0) return {};
  constexpr int64_t kFar = int64_t{1} << 48;  // counts beyond are for the run to refuse
  for (const Dim& end : {from->front(), to->front(), Dim(by->front())}) {
    if (end.is_const() && (end.const_value() < -kFar || end.const_value() > kFar)) return {};
  }
  const Dim span = by->front() > 0 ? to->front() - from->front() : from->front() - to->front();
  return max(ceildiv(span, by->front() > 0 ? Dim(by->front()) : Dim(0) - by->front()), 0);
}

}  // namespace

Value range_to(graph::Graph& g, Value start, Value limit, Value delta) {
  const std::optional<Dim> count = range_count(start, limit, delta);
  std::vector<Dim> shape = count ? std::vector<Dim>{*count} : fresh_dims(g, "range", 1);
  return g.apply(Op::Range, {start, limit, delta}, {{"shape", std::move(shape)}});
}

Value non_zero(graph::Graph& g, Value x) {
  Dim count;
  if (const auto elements = known_integers(x); elements && !is_float(x.dtype())) {
    count = static_cast<int64_t>(elements->size()) -
            static_cast<int64_t>(std::ranges::count(*elements, 0));
  } else {
    count = g.fresh_symbol("nonzero", {0, x.shape().elements().bounds().hi});
  }
  return g.apply(Op::NonZero, {x}, {{"count", std::vector<Dim>{count}}});
}

Value along_axis(graph::Graph& g, Value vector, int64_t axis, int rank) {
  std::vector<Dim> dims(static_cast<size_t>(rank), 1);
  dims[static_cast<size_t>(axis)] = vector.shape().elements();
  return g.reshape(vector, std::move(dims));
}

Value to_scalar(graph::Graph& g, Value value, std::string_view what) {
  if (value.shape().rank() == 0) return value;
  if (prove_equal(value.shape().elements(), 1) == Proof::No) {
    throw user_error("{} must be one element, not {}", what, value.type().to_string());
  }
  return g.reshape(value, {});
}

}  // namespace tenon::onnx
