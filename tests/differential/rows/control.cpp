// Rows of branches and loops, with small bodies of their own.
#include "tests/differential/rows/operands.h"

namespace tenon::differential {

using graph::Graph;
using graph::Op;
using graph::Value;

namespace {

// What a body does with its values.
Value body_value(GraphWriter& w, Graph& body, Value x, Value y) {
  const int64_t kind = w.number(0, 3);
  if (kind == 0) return body.add(x, y);
  if (kind == 1) return body.mul(x, body.scalar(x.dtype(), 2));
  if (kind == 2) return body.binary(Op::Max, body.sub(y, x), x);
  if (x.shape().rank() == 0) return body.unary(Op::Neg, x);
  return body.sub(x, body.reduce(Op::ReduceMax, y, {x.shape().rank() - 1}));
}

graph::Subgraph finished(Graph body, std::vector<Value> values) {
  std::vector<graph::Output> outputs;
  for (const Value& value : values)
    outputs.push_back({"y" + std::to_string(outputs.size()), value});
  body.set_outputs(std::move(outputs));
  return graph::Subgraph(std::move(body));
}

// A condition that only a run knows.
Value condition(GraphWriter& w) {
  if (w.chance(60)) return w.input(DType::Bool, {});
  return w.g().binary(Op::Less, w.input(DType::I64, {}), w.g().scalar(DType::I64, 1));
}

Value branch(GraphWriter& w) {
  const Value x = w.any(is_signed);
  if (!x) return x;
  const Value y = w.input(x.dtype(), x.shape().dims());
  const bool shorter = x.shape().rank() > 0 && w.chance(30);
  std::vector<graph::Subgraph> bodies;
  for (int i = 0; i < 2; ++i) {
    Graph body = w.g().nested();
    const Value a = body.input("a", x.type()), b = body.input("b", y.type());
    Value result = body_value(w, body, a, b);
    if (shorter && i == 1) {  // one branch has fewer rows
      std::vector<Dim> starts(a.shape().dims().size(), 0), extents = a.shape().dims();
      extents[0] = floordiv(extents[0], 2);
      result = body.slice(result, starts, extents, Axes(starts.size(), 1));
    }
    bodies.push_back(finished(std::move(body), {result}));
  }
  std::vector<Dim> extents = x.shape().dims();
  if (shorter) extents[0] = w.fresh_symbol("branch");
  return w.g().apply_all(Op::If, {condition(w), x, y, x, y},
                         {{"then", bodies[0]}, {"else", bodies[1]}, {"extents", extents}})[0];
}

// Carries a value; each iteration's own is scanned. It may end early.
Value repeated(GraphWriter& w) {
  const Value x = w.any(is_signed);
  if (!x) return x;
  const Value y = w.input(x.dtype(), x.shape().dims());
  Graph& g = w.g();
  const bool early = w.chance(40), known = !early && w.chance(50);
  const int64_t most = w.number(0, 4);
  Graph body = g.nested();
  const Value trip = body.input("trip", {{}, DType::I64});
  const Value going = body.input("going", {{}, DType::Bool});
  const Value carried = body.input("carried", x.type()), other = body.input("other", y.type());
  Value next = body_value(w, body, carried, other);
  if (is_float(x.dtype())) next = body.unary(Op::Tanh, next);
  const Value end = body.binary(Op::Less, trip, body.scalar(DType::I64, 2));
  const Value scanned = w.chance(50) ? next : body.mul(next, body.cast(trip, x.dtype()));
  const graph::Subgraph finished_body =
      finished(std::move(body), {early ? end : going, next, scanned});
  std::vector<Dim> extents = x.shape().dims();
  extents.push_back(known ? Dim(most) : Dim(w.fresh_symbol("trips")));
  extents.insert(extents.end(), x.shape().begin(), x.shape().end());
  const Value trips = known ? g.dims({most}, true) : run_time_integer(w, 0, most);
  const std::byte one{1};
  const Value start =
      w.chance(70) ? g.constant({{}, DType::Bool}, {std::span(&one, 1), nullptr}) : condition(w);
  if (known && start.op() != Op::Constant) return {};
  return g.apply_all(Op::Loop, {trips, start, x, y},
                     {{"body", finished_body},
                      {"carried", int64_t{1}},
                      {"extents", extents}})[w.chance(60) ? 0 : 1];
}

constexpr OpRow kRows[] = {
    {"if", 2, branch},
    {"loop", 2, repeated},
};

}  // namespace

std::span<const OpRow> control_rows() { return kRows; }

}  // namespace tenon::differential
