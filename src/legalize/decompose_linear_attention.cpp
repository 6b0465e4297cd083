// The recurrence of linear attention, one step after the other along the time axis.
#include "legalize/over_time.h"

namespace tenon::legalize::decompositions {

using graph::Op;

std::vector<Value> linear_attention(Graph& g, const Node& node, std::span<const Value> operands) {
  const bool delta = node.attributes().integer("delta") == 1;
  const Shape &q = operands[0].shape(), &s = operands[3].shape();
  const Dim batch = q[0], states = s[1], key = s[2], width = s[3];
  const Dim group = floordiv(q[1], states);
  const auto time_first = [&](Value x) { return g.transpose(x, {2, 0, 1, 3}); };
  Recurrence recurrence{q[2], {}, {}, {operands[3]}};
  for (const size_t i : {0, 1, 2, 4, 5}) recurrence.sequences.push_back(time_first(operands[i]));

  const auto step = [&](const StepInputs& in) -> StepOutputs {
    const auto term = [&](size_t i) { return Term(in.g, in.elements[i]); };
    const Term query = term(0).reshape({batch, states, group, key});
    const Term column = term(1).reshape({batch, states, key, 1});
    const Term decay = term(3).reshape({batch, states, key, 1}).unary(Op::Exp);
    Term change = term(2).reshape({batch, states, 1, width});
    Term state = Term(in.g, in.states[0]) * decay;
    if (delta) {
      const Term given = (state * column).reduce(Op::ReduceSum, 2);
      change = (change - given) * term(4).reshape({batch, states, 1, 1});
    }
    state = state + column * change;
    const Term seen(in.g, in.g.matmul(query, state));
    return {{state}, {seen.reshape({batch, q[1], width})}};
  };
  const StepOutputs last = over_time(g, recurrence, step);
  return {g.transpose(last.results[0], {1, 2, 0, 3}), last.states[0]};
}

}  // namespace tenon::legalize::decompositions
