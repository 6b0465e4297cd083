// A mixture of experts, grouped: each expert gathers the rows that chose it and runs once over
// them, so the work is that of top_k experts per row, however many there are. How many rows chose
// an expert is an extent that the run defines. Results of all experts lie one after the other; each
// row gathers its own from there, at (where the expert's begin) + (how many rows before it chose
// the expert).
#include "base/error.h"
#include "hir/lowering.h"

namespace tenon::hir {

using graph::Op;
using graph::Value;

namespace {

struct Routing {
  Value weights;  // [rows, top_k]
  Value experts;  // i64 [rows, top_k]
  Value chosen;   // i64 [rows, experts]: 1 where a row chose the expert
};

Routing route(Lowering& to, Value rows, Value router, const MoeOptions& options) {
  graph::Graph& g = to.g;
  const Dim count = rows.shape()[0], experts = router.shape()[1], top_k = options.top_k;
  const Value likes = g.softmax(g.matmul(rows, router), 1);
  const Results best = g.apply_all(
      Op::TopK, {likes, g.dims({top_k}, true)},
      {{"axis", int64_t{1}}, {"largest", int64_t{1}}, {"count", std::vector<Dim>{top_k}}});
  Routing result{.weights = best[0], .experts = best[1], .chosen = {}};
  if (options.renormalize)
    result.weights = g.div(result.weights, g.reduce(Op::ReduceSum, result.weights, {1}));
  const Value same = g.binary(Op::Equal, g.reshape(result.experts, {count, top_k, 1}),
                              g.reshape(to.positions(0, experts), {1, 1, experts}));
  const Value counted = g.reduce(Op::ReduceSum, g.cast(same, DType::I64), {1});
  result.chosen = g.reshape(counted, {count, experts});
  return result;
}

// The indices of the rows that chose an expert: i64 [how many].
Value rows_of(Lowering& to, Value chosen, int64_t expert) {
  graph::Graph& g = to.g;
  const Dim rows = chosen.shape()[0];
  const Dim count = g.fresh_symbol("expert", {0, rows.bounds().hi});
  const Value column = g.reshape(to.part(chosen, 1, expert, 1), {rows});
  const Value places = g.apply(Op::NonZero, {column}, {{"count", std::vector<Dim>{count}}});
  return g.reshape(places, {count});
}

Value matrix_of(Lowering& to, Value weights, int64_t expert) {
  const Shape& shape = weights.shape();
  return to.g.reshape(to.part(weights, 0, expert, 1), {shape[1], shape[2]});
}

void check(Value x, Value router, std::initializer_list<Value> weights, const MoeOptions& options) {
  if (x.shape().rank() < 2) throw user_error("x needs two axes: {}", x.type().to_string());
  if (router.shape().rank() != 2 || !router.shape()[1].is_const())
    throw user_error("the router must be [k, experts]: {}", router.type().to_string());
  const int64_t experts = router.shape()[1].const_value();
  if (options.top_k < 1 || options.top_k > experts)
    throw user_error("top_k = {} of {} experts", options.top_k, experts);
  for (const Value& weight : weights) {
    if (weight.shape().rank() != 3 || !weight.shape()[0].is_const(experts)) {
      throw user_error("weights of {} experts must have three axes, theirs first: {}", experts,
                       weight.type().to_string());
    }
  }
}

}  // namespace

Results lower_block(Lowering& to, const Moe& block) {
  graph::Graph& g = to.g;
  const Value x = to[block.x], router = to[block.weights.router];
  const Value gate = to[block.weights.gate], up = to[block.weights.up];
  const Value down = to[block.weights.down];
  check(x, router, {gate, up, down}, block.options);

  const Dim width = x.shape()[x.shape().rank() - 1];
  const Dim count = floordiv(x.shape().elements(), width), top_k = block.options.top_k;
  const Value rows = g.reshape(x, {count, width});
  const Routing routing = route(to, rows, router, block.options);
  Results parts;
  std::vector<Dim> starts = {0};
  for (int64_t expert = 0; expert < router.shape()[1].const_value(); ++expert) {
    const Value mine = g.gather(rows, rows_of(to, routing.chosen, expert), 0);
    const Value inner = g.gated_linear(mine, matrix_of(to, gate, expert), matrix_of(to, up, expert),
                                       activation_of(block.options.activation));
    parts.push_back(g.matmul(inner, matrix_of(to, down, expert)));
    starts.push_back(starts.back() + mine.shape()[0]);
  }
  starts.pop_back();
  const Value earlier =
      g.apply(Op::CumSum, {routing.chosen}, {{"axis", int64_t{0}}, {"exclusive", int64_t{1}}});
  const Value place = g.apply(Op::GatherElements, {g.add(earlier, g.dims(starts)), routing.experts},
                              {{"axis", int64_t{1}}});
  const Value back = g.gather(g.concat(parts, 0), place, 0);  // [rows, top_k, width]
  const Value weighted = g.mul(back, g.reshape(routing.weights, {count, top_k, 1}));
  return {g.reshape(g.reduce(Op::ReduceSum, weighted, {1}), x.shape().dims())};
}

}  // namespace tenon::hir
