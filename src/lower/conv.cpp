// Convolutions. An element is a contraction of a kernel with the channels and taps of its window;
// the kernel's root may be the convolution or elementwise work after it, which is then the epilogue
// of the contraction. Where channels lie innermost in memory, positions are one range of rows and
// output channels the columns: the convolution is a matrix product whose weights are packed, k runs
// along the channels of one tap after the other. Where they do not, output channels of a group are
// the rows and positions the columns: tiles share the window's elements. Kernels of few taps over
// one channel (depthwise) are written out tap by tap instead: vectors then run over positions and
// read the image in place.
#include <algorithm>
#include <utility>

#include "base/error.h"
#include "fuse/integer_product.h"
#include "graph/convolution.h"
#include "lower/window.h"

namespace tenon::lower {

using namespace kernel;
using graph::is_conv;
using graph::Node;
using graph::Value;

namespace {

constexpr int64_t kWrittenOut = 64;   // products of an element, at most
constexpr int64_t kFewRows = 4;       // a tile of fewer rows wastes the panels it reads
constexpr int64_t kFewChannels = 16;  // of an image whose windows are cheap to collect as rows

struct Channels {
  int64_t groups;
  Dim in, out;  // of one group
};

bool is_transposed(const Node& conv) { return conv.op() == graph::Op::ConvTranspose; }

Channels channels_of(const Node& conv) {
  const int64_t groups = conv.attributes().integer("groups");
  const Shape &x = conv.operand(0).shape(), &y = conv.types()[0].shape;
  return {groups, floordiv(x[1], groups), floordiv(y[1], groups)};
}

Window conv_window(const Node& conv) {
  return window_of(conv, spatial(conv.operand(0).shape()), spatial(conv.operand(1).shape()));
}

Index joined(Index front, const Index& back) {
  front.insert(front.end(), back.begin(), back.end());
  return front;
}

// The element of x that a tap meets at a position; 0 where there is none.
ExprRef element(Region& region, const Node& conv, const Window& window, const Index& front,
                const Index& position, const Index& tap) {
  const Value x = fuse::image_of(conv);
  if (!is_transposed(conv)) {
    const Index at = window.at(position, tap);
    const ExprRef stored = zero_outside(region.at(x, joined(front, at)), window.guards(at));
    return x == conv.operand(0) ? stored : cast(stored, conv.operand(0).dtype());
  }
  // Where a window over the result, one for each element of x, has this tap at this position.
  Index at(window.rank());
  std::vector<Guard> guards;
  for (size_t i = 0; i < window.rank(); ++i) {
    const Dim steps = position[i] + window.begins[i] - tap[i] * window.dilations[i];
    at[i] = floordiv(steps, window.strides[i]);
    if (window.strides[i] > 1) guards.push_back({mod(steps, window.strides[i]), 1});
    guards.push_back({at[i], window.image[i]});
  }
  return zero_outside(region.at(x, joined(front, at)), guards);
}

// What an element is made of: the weight and the element of x of each product.
struct Products {
  Region& region;
  const Node& conv;
  const Window window = conv_window(conv);
  const Channels channels = channels_of(conv);
  bool channels_last;  // k counts taps, then channels
  Dim batch, group, row;
  Index position;

  Products(Region& r, const Node& c, const Index& index)
      : region(r),
        conv(c),
        channels_last(r.is_channels_last(fuse::image_of(c))),
        batch(index[0]),
        group(floordiv(index[1], channels.out)),
        row(mod(index[1], channels.out)),
        position(index.begin() + 2, index.end()) {}

  Dim depth() const { return channels.in * window.taps(); }
  std::pair<ExprRef, ExprRef> at(const Dim& k) const {
    const Dim inner = channels_last ? channels.in : window.taps();
    const Dim outer = floordiv(k, inner), rest = mod(k, inner);
    const Dim channel = channels_last ? rest : outer;
    const Index tap = delinearize(channels_last ? outer : rest, window.kernel);
    const Dim source = group * channels.in + channel;
    const Index w =
        is_transposed(conv) ? Index{source, row} : Index{group * channels.out + row, channel};
    return {region.at(conv.operand(1), joined(w, tap)),
            element(region, conv, window, {batch, source}, position, tap)};
  }
};

bool written_out(const Node& conv) {
  const Channels channels = channels_of(conv);
  const Dim depth = channels.in * conv_window(conv).taps();
  return depth.is_const() && depth.const_value() <= kWrittenOut && channels.out.is_const() &&
         channels.out.const_value() < kFewRows;
}

// The convolution that a region computes on the way to its root; null: none.
const Node* conv_inside(Value value, const fuse::Regions& regions, bool is_root = true) {
  if (!is_root && regions.stored.contains(value)) return nullptr;
  if (is_conv(value.op())) return value.node;
  if (!graph::has(value.op(), graph::kElementwise)) return nullptr;
  for (const Value& operand : value.node->operands()) {
    if (const Node* found = conv_inside(operand, regions, false)) return found;
  }
  return nullptr;
}

// Whether positions are the rows.
bool has_rows_of_positions(const Region& region, const Node& conv) {
  if (conv.op() != graph::Op::Conv || channels_of(conv).groups != 1) return false;
  const Dim in = channels_of(conv).in;
  const bool few = in.is_const() && in.const_value() < kFewChannels;
  return region.is_channels_last(fuse::image_of(conv)) ||
         (few && region.is_channels_last(region.root()));
}

// One range of rows for all positions of all images; `element` makes the store of one element.
Block rows_of_positions(Region& region, const std::function<Stmt(const Index& index)>& element) {
  const Shape& shape = region.root().shape();
  const std::vector<Dim> extents = spatial(shape);
  Dim positions = 1;
  for (const Dim& extent : extents) positions = positions * extent;
  return region.loops({shape[0] * positions}, [&](const Index& rows) -> Block {
    const Symbol j = region.range("j", shape[1]);
    const Index index =
        joined({floordiv(rows[0], positions), j}, delinearize(mod(rows[0], positions), extents));
    const Stmt s = element(index);
    return append(region.take_lets(), {loop(LoopKind::Parallel, j, shape[1], {s})});
  });
}

}  // namespace

ExprRef conv_element(Region& region, const Node& conv, const Index& index) {
  const Products products(region, conv, index);
  const DType dtype = computed_in(conv.types()[0].dtype);
  ExprRef sum = constant(dtype, 0);
  if (written_out(conv)) {
    for (int64_t k = 0; k < products.depth().const_value(); ++k) {
      const auto [w, x] = products.at(k);
      sum = is_float(dtype) ? fma(w, x, sum) : w * x + sum;
    }
  } else {
    const Symbol k = region.range("k", products.depth());
    auto [row, column] = products.at(k);
    const bool rows_of_positions = has_rows_of_positions(region, conv);
    if (rows_of_positions) std::swap(row, column);
    const bool has_tiles =
        dtype == DType::F32 || (rows_of_positions && fuse::is_integer_product(conv));
    sum = has_tiles ? reduce(Op::ReduceFma, k, products.depth(), {row, column, sum})
                    : reduce(Op::ReduceAdd, k, products.depth(), {row * column});
  }
  if (conv.operand_count() < 3) return sum;
  return sum + region.at(conv.operand(2), {index[1]});
}

std::optional<Lowered> lower_conv(Region& region, const fuse::Regions& regions) {
  const Value root = region.root();
  const Node* conv = conv_inside(root, regions);
  if (!conv || written_out(*conv)) return std::nullopt;
  const Channels channels = channels_of(*conv);
  const std::vector<Dim> extents = spatial(root.shape());
  Dim positions = 1;
  for (const Dim& extent : extents) positions = positions * extent;
  if (positions.is_const(0)) return std::nullopt;  // no range of nothing is decoded
  const auto element = [&](const Index& index) {
    return region.store_result(index, region.at(root, index));
  };
  Block body;
  if (has_rows_of_positions(region, *conv)) {
    body = rows_of_positions(region, element);
  } else {
    body = region.loops(
        {root.shape()[0], channels.groups, channels.out}, [&](const Index& rows) -> Block {
          const Symbol j = region.range("j", positions);
          const Stmt s =
              element(joined({rows[0], rows[1] * channels.out + rows[2]}, delinearize(j, extents)));
          return append(region.take_lets(), {loop(LoopKind::Parallel, j, positions, {s})});
        });
  }
  region.kernel().flops = root.shape().elements() * channels.in * conv_window(*conv).taps() * 2;
  std::string name(graph::info(conv->op()).text);
  if (root.node != conv) name += "_" + std::string(graph::info(root.op()).text);
  return region.finish(std::move(name), std::move(body));
}

}  // namespace tenon::lower
