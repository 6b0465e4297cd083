// Rotary positions: pairs of elements of each head, turned by the angle of their row. A kernel of
// its own, which may store to a state (a cache of keys), or what attention does as it reads its
// queries.
#include "lower/region.h"

namespace tenon::lower {

using namespace kernel;
using graph::Node;
using graph::Value;

// Both elements of a pair at once: each is read for both of the sums.
Block turned_head(Region& region, const Node& rotary, const Index& row, const Dim& head,
                  const HeadStore& put) {
  const Value x = rotary.operand(0);
  const int64_t width = x.shape()[2].const_value() / rotary.attributes().integer("heads");
  const bool interleaved = rotary.attributes().integer("interleaved") != 0;
  const Shape& angles = rotary.operand(1).shape();
  const int64_t pairs = angles[angles.rank() - 1].const_value();
  const auto element = [&](const Dim& d) {
    return region.at(x, {row[0], row[1], head * width + d});
  };

  const Symbol p = region.range("p.turn", pairs);
  const auto factor = [&](int operand) {
    const Index at = angles.rank() == 2 ? Index{row[1], p} : Index{row[0], row[1], p};
    return cast(region.at(rotary.operand(operand), at), computed_in(x.dtype()));
  };
  const Dim first = interleaved ? Dim(p) * 2 : Dim(p);
  const Dim second = first + (interleaved ? 1 : pairs);
  const ExprRef a = element(first), b = element(second), cos = factor(1), sin = factor(2);
  Block block = {loop(LoopKind::Parallel, p, pairs,
                      {put(first, a * cos - b * sin), put(second, b * cos + a * sin)})};
  if (2 * pairs < width) {
    const Symbol d = region.range("d.rest", width - 2 * pairs);
    const Dim at = Dim(d) + 2 * pairs;
    block.push_back(loop(LoopKind::Parallel, d, width - 2 * pairs, {put(at, element(at))}));
  }
  return block;
}

Lowered lower_rotary(Region& region) {
  const Node& root = *region.root().node;
  const bool updates = root.op() == graph::Op::Update;  // rows of a state, from `first` on
  const Dim first = updates ? root.attributes().dims("offset")[0] : Dim(0);
  const Node& rotary = updates ? *root.operand(1).node : root;
  const Shape& shape = rotary.types()[0].shape;
  const int64_t heads = rotary.attributes().integer("heads");
  const int64_t width = shape[2].const_value() / heads;
  // Positions innermost: work items are blocks of them.
  const std::vector<Dim> extents = {shape[0], heads, shape[1]};
  Block body = region.loops(extents, [&](const Index& at) -> Block {
    const Dim &batch = at[0], &head = at[1], &position = at[2];
    const auto put = [&](const Dim& d, const ExprRef& value) {
      return region.store_result({batch, position + first, head * width + d}, value);
    };
    Block elements = turned_head(region, rotary, {batch, position}, head, put);
    return append(region.take_lets(), std::move(elements));
  });
  return region.finish("rotary", std::move(body));
}

}  // namespace tenon::lower
