// Attention as two matmuls with a softmax between them, on heads split off and joined again. What
// causal attention does not see is a mask first.
#include <limits>

#include "legalize/decompose_fused.h"
#include "legalize/term.h"

namespace tenon::legalize::fused {

using decompositions::Term;
using graph::Op;
using graph::Value;

namespace {

constexpr double kInf = std::numeric_limits<double>::infinity();

// bool[queries, keys]: key j is at most as late as query i, and inside its window.
Term visible(graph::Graph& g, const Dim& queries, const Dim& keys, int64_t window) {
  const Term key = Term(g, decompositions::iota(g, keys)).along(1, 2);
  const Term last = Term(g, decompositions::iota(g, queries)).along(0, 2) + (keys - queries);
  const Term seen = at_most(key, last);
  return window == 0 ? seen : both(seen, less(last - window, key));
}

// The same attention with a mask instead of causal and window.
Value masked(graph::Graph& g, const graph::Node& node, std::span<const Value> operands) {
  const Term seen = visible(g, operands[0].shape()[1], operands[1].shape()[1],
                            node.attributes().integer("window"));
  const Value none = g.scalar(operands[0].dtype(), 0);
  const Value mask = choose(seen, operands.size() == 4 ? operands[3] : none, -kInf);
  graph::Attributes attributes = node.attributes();
  attributes.set("causal", int64_t{0});
  attributes.set("window", int64_t{0});
  return g.apply(Op::Attention, {operands[0], operands[1], operands[2], mask}, attributes);
}

// [batch, length, heads * width] -> [batch, heads, length, width]
Term split_heads(const Term& x, int64_t heads, int64_t width) {
  const Dim batch = x.shape()[0], length = x.shape()[1];
  const Term split = x.reshape({batch, length, heads, width});
  return {x.g(), x.g().transpose(split, {0, 2, 1, 3})};
}

// Each head `times` times in a row.
Term repeated(const Term& heads, int64_t times) {
  if (times == 1) return heads;
  const Dim batch = heads.shape()[0], count = heads.shape()[1], length = heads.shape()[2],
            width = heads.shape()[3];
  const Term single = heads.reshape({batch, count, 1, length, width});
  const Term copies(heads.g(), heads.g().expand(single, {batch, count, times, length, width}));
  return copies.reshape({batch, count * times, length, width});
}

}  // namespace

Value attention(graph::Graph& g, const graph::Node& node, std::span<const Value> operands) {
  const graph::Attributes& attributes = node.attributes();
  if (attributes.integer("causal") != 0) return masked(g, node, operands);
  const int64_t heads = attributes.integer("heads"), kv_heads = attributes.integer("kv_heads");
  const int64_t width = attributes.integer("head_dim");
  const double softcap = attributes.number("softcap");
  const auto shared = [&](Value x) {
    return repeated(split_heads(Term(g, x), kv_heads, width), heads / kv_heads);
  };
  // Queries are scaled, not scores: those might be too large for 16 bits.
  const Term q = split_heads(Term(g, operands[0]), heads, width) * attributes.number("scale");
  const Term k = shared(operands[1]), v = shared(operands[2]);
  Term scores(g, g.matmul(q, g.transpose(k, {0, 1, 3, 2})));
  if (softcap != 0) scores = (scores / softcap).unary(Op::Tanh) * softcap;
  if (operands.size() == 4) scores = scores + operands[3];
  Term weights(g, g.softmax(scores, 3));
  if (operands.size() == 4) {  // a row that sees no key is zeros
    weights = choose(equal(scores.reduce(Op::ReduceMax, 3), -kInf), 0.0, weights);
  }
  const Value joined = g.transpose(g.matmul(weights, v), {0, 2, 1, 3});
  return g.reshape(joined, operands[0].shape().dims());
}

}  // namespace tenon::legalize::fused
