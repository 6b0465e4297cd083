// Attention as online softmax over blocks of keys: the scores of a block are a local row, and what
// is carried from block to block is (max, sum, o). Scores never reach memory. A query goes through
// the blocks that it sees keys of; which keys of those it sees is a condition on the index.
#include <limits>

#include "lower/region.h"

namespace tenon::lower {

using namespace kernel;
using graph::Node;
using graph::Value;

namespace {

constexpr double kInf = std::numeric_limits<double>::infinity();

// Keys per step, anchored at key 0: part of the numerics class.
constexpr int64_t kKeyBlock = 64;

// Which query of which head.
struct Place {
  Dim batch, kv_head, head, query;
};

// One query of one head: builds the statements of its row.
class AttentionRow {
 public:
  AttentionRow(Region& region, const Place& at, bool turns)
      : region_(region),
        node_(*region.root().node),
        turns_(turns),
        b_(at.batch),
        h_(at.head),
        i_(at.query),
        kv_head_(at.kv_head) {}

  Block statements() {
    Block result = append(
        query(),
        {store(max_, 0, number(-kInf)), store(sum_, 0, number(0)),
         each("d.zero", padded_, [&](const Dim& d) { return store(o_, d, number(0)); }),
         loop(LoopKind::Serial, block_, blocks_seen(), window_ > 0 ? if_near() : block_step()),
         each("d.out", width_, [&](const Dim& d) {
           const ExprRef none = pointwise(Op::Equal, {scalar(sum_), number(0)});
           const ExprRef y = select(none, number(0), load(o_, f_, d) / scalar(sum_));
           return region_.store_result({b_, i_, h_ * width_ + d}, y);
         })});
    return append(region_.take_lets(), std::move(result));
  }

 private:
  // Scaled once, and kept close: every block of keys reads it.
  Block query() {
    const ExprRef scale = number(node_.attributes().number("scale"));
    const auto put = [&](const Dim& d, const ExprRef& value) {
      return store(query_, d, value * scale);
    };
    if (turns_) return turned_head(region_, *node_.operand(0).node, {b_, i_}, h_, put);
    return {each("d.query", width_, [&](const Dim& d) { return put(d, at_head(0, i_, h_, d)); })};
  }

  // Up to the block of the last key that the query sees.
  Dim blocks_seen() const { return ceildiv(causal_ ? max(last_ + 1, 0) : keys_, kKeyBlock); }

  // The step of a block, unless all of its keys lie before the window.
  Block if_near() {
    const Dim near = min(max(first_ + kKeyBlock - (last_ + 1 - window_), 0), 1);
    return {loop(LoopKind::Serial, column("near", 1), near, block_step())};
  }

  Block block_step() {
    const Symbol c_max = column("c.max", kKeyBlock), c_sum = column("c.sum", kKeyBlock);
    const ExprRef block_max = reduce(Op::ReduceMax, c_max, kKeyBlock, {score(c_max)});
    const ExprRef block_sum = reduce(Op::ReduceAdd, c_sum, kKeyBlock, {load(s_, f_, c_sum)});
    const ExprRef all_masked = pointwise(Op::Equal, {scalar(next_), number(-kInf)});
    return append(
        scores(),
        {store(next_, 0, pointwise(Op::Max, {scalar(max_), block_max})),
         store(base_, 0, select(all_masked, number(0), scalar(next_))),
         store(decay_, 0, pointwise(Op::Exp, {scalar(max_) - scalar(base_)})),
         store(max_, 0, scalar(next_)),
         each("c.exp", kKeyBlock,
              [&](const Dim& c) {
                return store(s_, c, pointwise(Op::Exp, {score(c) - scalar(base_)}));
              }),
         store(sum_, 0, fma(scalar(sum_), scalar(decay_), block_sum)), weighted_values()});
  }

  // s = q k^T; keys that the query does not see, and those past the end, start and stay at -inf. A
  // cap would bring them back: where there is one, they get it afterwards.
  Block scores() {
    const double cap = node_.attributes().number("softcap");
    Block block = {each("c.key", kKeyBlock, [&](const Dim& c) {
      const Symbol d = column("d.key", width_);
      const ExprRef key = guarded(at_head(1, first_ + c, kv_head_, d), {first_ + c, keys_});
      const ExprRef init = cap > 0 ? number(0) : select(is_seen(c), number(0), number(-kInf));
      return store(s_, c, reduce(Op::ReduceFma, d, width_, {load(query_, f_, d), key, init}));
    })};
    if (cap > 0) {
      block.push_back(each("c.cap", kKeyBlock, [&](const Dim& c) {
        const ExprRef capped =
            pointwise(Op::Tanh, {load(s_, f_, c) * number(1 / cap)}) * number(cap);
        return store(s_, c, select(is_seen(c), capped, number(-kInf)));
      }));
    }
    return block;
  }

  // Whether key `c` of the block exists and the query sees it.
  ExprRef is_seen(const Dim& c) const {
    if (!causal_) return in_range(first_ + c, keys_);
    return in_range(last_ - first_ - c, window_ > 0 ? Dim(window_) : keys_);
  }

  // With the mask, added to the finished score: a sum that starts at a large one would round to it.
  ExprRef score(const Dim& c) {
    ExprRef plain = load(s_, f_, c);
    if (node_.operand_count() <= 3) return plain;
    const Value mask = node_.operand(3);
    const Shape scores = {region_.root().shape()[0], node_.attributes().integer("heads"),
                          region_.root().shape()[1], keys_};
    const Index index = broadcast_index(mask.shape(), {b_, h_, i_, first_ + c}, scores);
    return plain + guarded(region_.at(mask, index), {first_ + c, keys_});
  }

  // o = o * decay + p v
  Stmt weighted_values() {
    const Dim present = min(keys_ - first_, kKeyBlock);
    const Symbol c = column("c.value", present);
    return each("d.value", padded_, [&](const Dim& d) {
      ExprRef value = at_head(2, first_ + c, kv_head_, d);
      if (padded_ != width_) value = guarded(value, {d, width_});
      const ExprRef start = load(o_, f_, d) * scalar(decay_);
      return store(o_, d, reduce(Op::ReduceFma, c, present, {load(s_, f_, c), value, start}));
    });
  }

  // Column d of a head, in row `row` of an operand.
  ExprRef at_head(int operand, const Dim& row, const Dim& head, const Dim& d) {
    return region_.at(node_.operand(operand), {b_, row, head * width_ + d});
  }
  Symbol column(const char* name, const Dim& extent) { return region_.range(name, extent); }
  Stmt each(const char* name, const Dim& extent, const std::function<Stmt(const Dim&)>& make) {
    const Symbol symbol = column(name, extent);
    return loop(LoopKind::Parallel, symbol, extent, {make(symbol)});
  }
  ExprRef number(double value) const { return constant(f_, value); }
  ExprRef scalar(int buffer) const { return load(buffer, f_, 0); }

  Region& region_;
  const Node& node_;
  const bool turns_;  // its queries, as it reads them
  Dim b_, h_, i_, kv_head_;
  const bool causal_ = node_.attributes().integer("causal") != 0;
  const int64_t window_ = node_.attributes().integer("window");
  const DType f_ = computed_in(node_.types()[0].dtype);
  const int64_t width_ = node_.attributes().integer("head_dim");
  const int64_t padded_ = (width_ + kLaneCount - 1) / kLaneCount * kLaneCount;  // fills vectors
  const Dim keys_ = node_.operand(1).shape()[1];
  const Dim last_ = i_ + keys_ - region_.root().shape()[1];  // causal: the last key that it sees
  const Symbol block_ = region_.range("kb", ceildiv(keys_, kKeyBlock));
  const Dim first_ = Dim(block_) * kKeyBlock;
  const int max_ = region_.local_scalar("max", f_), sum_ = region_.local_scalar("sum", f_),
            next_ = region_.local_scalar("next", f_), base_ = region_.local_scalar("base", f_),
            decay_ = region_.local_scalar("decay", f_);
  const int s_ = region_.local_row("s", f_, kKeyBlock), o_ = region_.local_row("o", f_, padded_),
            query_ = region_.local_row("query", f_, width_);
};

// How many keys all queries of a head see together.
Dim seen_keys(const graph::Attributes& attributes, const Dim& queries, const Dim& keys) {
  Dim seen = queries * keys;
  if (attributes.integer("causal") != 0) seen = max(seen - floordiv(queries * (queries - 1), 2), 0);
  const int64_t window = attributes.integer("window");
  return window > 0 ? min(seen, queries * window) : seen;
}

}  // namespace

Lowered lower_attention(Region& region, bool turns) {
  const Value root = region.root();
  const auto& attributes = root.node->attributes();
  const int64_t heads = attributes.integer("heads"), width = attributes.integer("head_dim");
  const Dim batch = root.shape()[0], queries = root.shape()[1];
  const Dim keys = root.node->operand(1).shape()[1];
  if (keys.is_const(0)) {  // as a row all of whose keys are masked
    return region.finish("attention",
                         region.loops(root.shape().dims(), [&](const Index& at) -> Block {
                           return {region.store_result(at, constant(computed_in(root.dtype()), 0))};
                         }));
  }
  // The heads that share keys are rows side by side: what is read for one serves them all.
  const int64_t kv_heads = attributes.integer("kv_heads"), shared_by = heads / kv_heads;
  Block body = region.loops({batch, kv_heads, queries * shared_by}, [&](const Index& at) {
    const Place place{at[0], at[1], at[1] * shared_by + mod(at[2], shared_by),
                      floordiv(at[2], shared_by)};
    return AttentionRow(region, place, turns).statements();
  });
  region.kernel().flops = batch * seen_keys(attributes, queries, keys) * (4 * heads * width);
  return region.finish("attention", std::move(body));
}

}  // namespace tenon::lower
