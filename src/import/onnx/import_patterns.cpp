// Importers of ops that compare positions or rearrange blocks: triangles, diagonals, one-hot rows,
// reversed sequences, tiles, margins. All are made of ranges, comparisons and movement.
#include <algorithm>

#include "import/onnx/ops/index.h"
#include "import/onnx/run_time_shapes.h"

namespace tenon::onnx::importers {
namespace {

// Row and column numbers of the last two axes, as [rows, 1] and [1, columns].
struct Grid {
  Value row, column;

  Grid(graph::Graph& g, const Shape& shape) {
    const int rank = shape.rank();
    if (rank < 2) throw user_error("a matrix is expected, not {}", shape.to_string());
    row = along_axis(g, iota(g, shape[rank - 2]), 0, 2);
    column = along_axis(g, iota(g, shape[rank - 1]), 1, 2);
  }
};

Value zero(graph::Graph& g, DType dtype) { return g.scalar(dtype, 0); }

}  // namespace

Results size(Call& call) { return {call.g.dims({call.in(0).shape().elements()}, true)}; }

Results tile(Call& call) { return {tile_by(call.g, call.in(0), call.in(1))}; }

// Opset 11 made the numbers operands, 18 added axes.
Results pad(Call& call) {
  const std::string mode(call.text("mode", "constant"));
  Value x = call.in(0), pads, fill = call.maybe(2);
  if (call.opset() < 11) {
    auto given = call.integers("pads");
    if (!given) throw user_error("attribute 'pads' is missing");
    pads = call.g.integers(*std::move(given));
    fill = call.g.scalar(x.dtype(), call.number("value", 0));
  } else {
    pads = call.in(1);
  }
  return {pad_to(call.g, x, mode, pads, call.maybe(3), mode == "constant" ? fill : Value{})};
}

Results range(Call& call) {
  Value operands[3];
  for (int i = 0; i < 3; ++i) operands[i] = to_scalar(call.g, call.in(i), "a bound");
  call.find("stash_type");
  return {range_to(call.g, operands[0], operands[1], operands[2])};
}

// Keeps what lies on or above (upper) or on or below the k-th diagonal.
Results trilu(Call& call) {
  graph::Graph& g = call.g;
  Value x = call.in(0);
  const bool upper = call.flag("upper", true);
  const Grid grid(g, x.shape());
  const Value k = call.maybe(1);
  const Value diagonal = k ? to_scalar(g, k, "k") : zero(g, DType::I64);
  const Value place = g.sub(grid.column, grid.row);  // whatever k is, this does not overflow
  const Value kept =
      upper ? g.binary(Op::LessEqual, diagonal, place) : g.binary(Op::LessEqual, place, diagonal);
  return {g.apply(Op::Where, {kept, x, zero(g, x.dtype())})};
}

Results eye_like(Call& call) {
  graph::Graph& g = call.g;
  Value x = call.in(0);
  const DType dtype =
      call.find("dtype") ? dtype_of(call.integer("dtype"), "attribute 'dtype'") : x.dtype();
  const Grid grid(g, x.shape());
  const Value k = g.dims({call.integer("k", 0)}, true);
  return {g.cast(g.binary(Op::Equal, g.add(grid.row, k), grid.column), dtype)};
}

namespace {

// One element, `depth` times; a negative depth that comes from data is an error of the run.
Value spread_to_depth(graph::Graph& g, Value one, Value depth) {
  if (const auto known = shape_value(depth)) {
    if (known->front().is_const() && known->front().const_value() < 0) {
      throw user_error("the depth is {}", known->front().const_value());
    }
    return g.expand(one, *known);
  }
  return g.apply(Op::ExpandTo, {one, g.reshape(depth, {1})},
                 {{"shape", fresh_dims(g, "depth", 1)}});
}

}  // namespace

// An index outside -depth .. depth - 1 gives a row that is off everywhere.
Results one_hot(Call& call) {
  graph::Graph& g = call.g;
  Value indices = g.cast(call.in(0), DType::I64), values = call.in(2);
  const Value depth = to_scalar(g, g.cast(call.in(1), DType::I64), "depth");
  const int rank = indices.shape().rank() + 1;
  const int64_t axis = Call::axis_of(call.integer("axis", -1), rank);
  const Value wrapped = g.apply(Op::Where, {g.binary(Op::Less, indices, zero(g, DType::I64)),
                                            g.add(indices, depth), indices});
  std::vector<Dim> dims = wrapped.shape().dims();
  dims.insert(dims.begin() + axis, 1);
  const std::vector<Value> off_on = g.split(values, 0, {1, 1});
  const Value on = spread_to_depth(g, off_on[1], depth);
  const Value classes = iota(g, on.shape()[0]);
  const Value hot =
      g.binary(Op::Equal, g.reshape(wrapped, std::move(dims)), along_axis(g, classes, axis, rank));
  return {g.apply(Op::Where, {hot, along_axis(g, on, axis, rank), g.reshape(off_on[0], {})})};
}

// The first `length` elements of each row turn round, the others stay.
Results reverse_sequence(Call& call) {
  graph::Graph& g = call.g;
  Value x = call.in(0);
  const int rank = x.shape().rank();
  const int64_t batch = Call::axis_of(call.integer("batch_axis", 1), rank);
  const int64_t time = Call::axis_of(call.integer("time_axis", 0), rank);
  const Value lengths = along_axis(g, call.in(1), batch, rank);
  const Value at = along_axis(g, iota(g, x.shape()[static_cast<int>(time)]), time, rank);
  const Value mirrored = g.sub(g.sub(lengths, g.dims({1}, true)), at);
  const Value from = g.apply(Op::Where, {g.binary(Op::Less, at, lengths), mirrored, at});
  return {g.apply(Op::GatherElements, {x, g.expand(from, x.shape().dims())}, {{"axis", time}})};
}

namespace {

struct Image {
  Dim batch, channels, height, width;
  int64_t block;
  bool depth_first;  // DCR: the block's position comes before the channel

  explicit Image(Call& call) {
    const Shape& shape = call.in(0).shape();
    if (shape.rank() != 4) throw user_error("four axes are expected, not {}", shape.to_string());
    batch = shape[0], channels = shape[1], height = shape[2], width = shape[3];
    block = call.integer("blocksize");
    if (block < 1 || block > (1 << 20)) throw user_error("a blocksize of {}", block);
    const std::string_view mode = call.text("mode", "DCR");
    if (mode != "DCR" && mode != "CRD") throw user_error("a mode of '{}'", mode);
    depth_first = mode == "DCR";
  }
};

}  // namespace

Results depth_to_space(Call& call) {
  const Image image(call);
  const int64_t b = image.block;
  const Dim channels = quotient({image.channels}, {b * b});
  const std::vector<Dim> apart =
      image.depth_first ? std::vector<Dim>{image.batch, b, b, channels, image.height, image.width}
                        : std::vector<Dim>{image.batch, channels, b, b, image.height, image.width};
  const std::vector<int64_t> perm = image.depth_first ? std::vector<int64_t>{0, 3, 4, 1, 5, 2}
                                                      : std::vector<int64_t>{0, 1, 4, 2, 5, 3};
  const Value moved = call.g.transpose(call.g.reshape(call.in(0), apart), perm);
  return {call.g.reshape(moved, {image.batch, channels, image.height * b, image.width * b})};
}

Results space_to_depth(Call& call) {
  const Image image(call);
  const int64_t b = image.block;
  const Dim height = quotient({image.height}, {b}), width = quotient({image.width}, {b});
  const std::vector<int64_t> perm = image.depth_first ? std::vector<int64_t>{0, 3, 5, 1, 2, 4}
                                                      : std::vector<int64_t>{0, 1, 3, 5, 2, 4};
  const Value apart =
      call.g.reshape(call.in(0), {image.batch, image.channels, height, b, width, b});
  return {call.g.reshape(call.g.transpose(apart, perm),
                         {image.batch, image.channels * (b * b), height, width})};
}

// Cut or padded on both sides alike; the odd element is cut, or added, at the end.
Results center_crop_pad(Call& call) {
  graph::Graph& g = call.g;
  Value x = call.in(0), target = g.cast(call.in(1), DType::I64);
  std::vector<int64_t> numbers;
  for (int i = 0; i < x.shape().rank(); ++i) numbers.push_back(i);
  if (auto given = call.integers("axes")) numbers = *std::move(given);
  std::vector<Dim> extents;
  for (int64_t& axis : numbers) {
    axis = Call::axis_of(axis, x.shape().rank());
    extents.push_back(x.shape()[static_cast<int>(axis)]);
  }
  target = of_length(g, target, static_cast<int64_t>(numbers.size()), "the shape");
  const Value whole = g.dims(extents), axes = g.integers(numbers);
  const Value none = g.dims({0}, true), two = g.dims({2}, true);
  const auto excess = [&](Value a, Value b) { return g.binary(Op::Max, g.sub(a, b), none); };
  const Value start = g.div(excess(whole, target), two);
  const Value end = g.add(start, g.binary(Op::Min, whole, target));
  const Value missing = excess(target, whole), before = g.div(missing, two);
  const Value pads = g.concat({before, g.sub(missing, before)}, 0);
  return {pad_to(g, slice_to(g, x, start, end, axes, {}), "constant", pads, axes, {})};
}

}  // namespace tenon::onnx::importers
