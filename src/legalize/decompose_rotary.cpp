// Rotary positions as slices, arithmetic and a concatenation.
#include "legalize/decompose_fused.h"
#include "legalize/term.h"

namespace tenon::legalize::fused {

using decompositions::Term;
using graph::Value;

namespace {

// `count` elements of the last axis.
Term columns(const Term& x, int64_t first, int64_t count, int64_t step = 1) {
  std::vector<Dim> starts(4, 0), extents = x.shape().dims();
  starts.back() = first;
  extents.back() = count;
  return {x.g(), x.g().slice(x, std::move(starts), std::move(extents), {1, 1, 1, step})};
}

Term with_last(const Term& x, std::vector<Dim> last) {
  std::vector<Dim> dims = x.shape().dims();
  dims.pop_back();
  dims.insert(dims.end(), last.begin(), last.end());
  return x.reshape(std::move(dims));
}

}  // namespace

Value rotary(graph::Graph& g, const graph::Node& node, std::span<const Value> operands) {
  const bool interleaved = node.attributes().integer("interleaved") != 0;
  const int64_t heads = node.attributes().integer("heads");
  const Shape &packed = operands[0].shape(), &angles = operands[1].shape();
  const int64_t width = packed[2].const_value() / heads;
  const int64_t pairs = angles[angles.rank() - 1].const_value();

  const Term x = Term(g, operands[0]).reshape({packed[0], packed[1], heads, width});
  const Term cos = with_last(Term(g, operands[1]), {1, pairs});  // the same for all heads
  const Term sin = with_last(Term(g, operands[2]), {1, pairs});
  const Term a = columns(x, 0, pairs, interleaved ? 2 : 1);
  const Term b = columns(x, interleaved ? 1 : pairs, pairs, interleaved ? 2 : 1);
  Term left = a * cos - b * sin, right = b * cos + a * sin;
  std::vector<Value> parts = {left, right};
  if (interleaved) {  // side by side: a last axis of two
    const Value both = g.concat({with_last(left, {pairs, 1}), with_last(right, {pairs, 1})}, 4);
    parts = {g.reshape(both, {packed[0], packed[1], heads, 2 * pairs})};
  }
  if (2 * pairs < width) parts.push_back(columns(x, 2 * pairs, width - 2 * pairs));
  const Value turned = parts.size() == 1 ? parts[0] : g.concat(parts, 3);
  return g.reshape(turned, packed.dims());
}

}  // namespace tenon::legalize::fused
