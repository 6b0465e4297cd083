// Evaluation of recurrent layers: simple, gated and long short-term cells, step by step for each
// sequence of the batch. States stay in f64 from step to step; results are rounded once.
#include <algorithm>
#include <cmath>

#include "base/error.h"
#include "graph/evaluate.h"
#include "graph/gate_activation.h"

namespace tenon::graph::evaluators {

namespace {

using Numbers = std::vector<double>;

struct Gate {
  const GateActivation* activation;
  double alpha, beta, clip;
  double operator()(double x) const {
    if (clip > 0) x = std::clamp(x, -clip, clip);
    return activation->function(x, alpha, beta);
  }
};

struct Layer {
  size_t time, batch, in, hidden, gates;
  Numbers x, w, r, bias, peepholes;
  std::vector<Gate> functions;  // of all directions
  bool linear_before_reset, input_forget;
};

struct State {
  Numbers h, c;
};

// What one direction needs at one step.
struct Step {
  const Layer& l;
  size_t direction;
  std::span<const double> x;

  const Gate& function(size_t i) const {
    return l
        .functions[direction * (l.functions.size() / (l.bias.size() / (2 * l.gates * l.hidden))) +
                   i];
  }
  double bias(size_t gate, size_t unit, bool recurrence) const {
    const size_t row = 2 * direction + (recurrence ? 1 : 0);
    return l.bias[(row * l.gates + gate) * l.hidden + unit];
  }
  double peephole(size_t gate, size_t unit) const {
    return l.peepholes[(direction * 3 + gate) * l.hidden + unit];
  }
  // The row of the gate's weights for `unit`, times the input or a state.
  double from_input(size_t gate, size_t unit) const {
    return dot(l.w, (direction * l.gates + gate) * l.hidden + unit, x) + bias(gate, unit, false);
  }
  double from_state(size_t gate, size_t unit, std::span<const double> h) const {
    return dot(l.r, (direction * l.gates + gate) * l.hidden + unit, h);
  }
  static double dot(const Numbers& weights, size_t row, std::span<const double> v) {
    double sum = 0;
    for (size_t i = 0; i < v.size(); ++i) sum += weights[row * v.size() + i] * v[i];
    return sum;
  }
};

void rnn_step(const Step& s, State& state) {
  Numbers next(s.l.hidden);
  for (size_t u = 0; u < s.l.hidden; ++u) {
    next[u] = s.function(0)(s.from_input(0, u) + s.from_state(0, u, state.h) + s.bias(0, u, true));
  }
  state.h = std::move(next);
}

// Gates: update, reset, hidden.
void gru_step(const Step& s, State& state) {
  const size_t hidden = s.l.hidden;
  Numbers update(hidden), reset(hidden), gated(hidden), next(hidden);
  for (size_t u = 0; u < hidden; ++u) {
    update[u] =
        s.function(0)(s.from_input(0, u) + s.from_state(0, u, state.h) + s.bias(0, u, true));
    reset[u] = s.function(0)(s.from_input(1, u) + s.from_state(1, u, state.h) + s.bias(1, u, true));
    gated[u] = reset[u] * state.h[u];
  }
  for (size_t u = 0; u < hidden; ++u) {
    const double recurrence = s.l.linear_before_reset
                                  ? reset[u] * (s.from_state(2, u, state.h) + s.bias(2, u, true))
                                  : s.from_state(2, u, gated) + s.bias(2, u, true);
    const double candidate = s.function(1)(s.from_input(2, u) + recurrence);
    next[u] = (1 - update[u]) * candidate + update[u] * state.h[u];
  }
  state.h = std::move(next);
}

// Gates: input, output, forget, cell; peepholes of the first three.
void lstm_step(const Step& s, State& state) {
  Numbers h(s.l.hidden), c(s.l.hidden);
  for (size_t u = 0; u < s.l.hidden; ++u) {
    const auto sum = [&](size_t gate) {
      return s.from_input(gate, u) + s.from_state(gate, u, state.h) + s.bias(gate, u, true);
    };
    const double input = s.function(0)(sum(0) + s.peephole(0, u) * state.c[u]);
    const double forget =
        s.l.input_forget ? 1 - input : s.function(0)(sum(2) + s.peephole(2, u) * state.c[u]);
    c[u] = forget * state.c[u] + input * s.function(1)(sum(3));
    const double output = s.function(0)(sum(1) + s.peephole(1, u) * c[u]);
    h[u] = output * s.function(2)(c[u]);
  }
  state = {std::move(h), std::move(c)};
}

struct Cell {
  std::string_view name;
  size_t gates, functions;
  void (*step)(const Step&, State&);
};
constexpr Cell kCells[] = {
    {"rnn", 1, 1, rnn_step}, {"gru", 3, 2, gru_step}, {"lstm", 4, 3, lstm_step}};

std::vector<Gate> functions_of(const Attributes& a) {
  std::vector<Gate> gates;
  std::string_view names = a.text("activations");
  while (!names.empty()) {
    const size_t end = std::min(names.find(','), names.size());
    const size_t i = gates.size();
    gates.push_back({find_gate_activation(names.substr(0, end)), a.numbers("alpha")[i],
                     a.numbers("beta")[i], a.number("clip", 0)});
    names.remove_prefix(std::min(end + 1, names.size()));
  }
  return gates;
}

Layer layer_of(const Evaluation& e, const Cell& cell) {
  const Tensor& x = e.operand(0);
  const Attributes& a = e.attributes();
  return {static_cast<size_t>(x.shape[0]),
          static_cast<size_t>(x.shape[1]),
          static_cast<size_t>(x.shape[2]),
          static_cast<size_t>(e.operand(2).shape[2]),
          cell.gates,
          to_doubles(x),
          to_doubles(e.operand(1)),
          to_doubles(e.operand(2)),
          to_doubles(e.operand(3)),
          e.operands.size() > 7 ? to_doubles(e.operand(7)) : Numbers{},
          functions_of(a),
          a.integer("linear_before_reset", 0) != 0,
          a.integer("input_forget", 0) != 0};
}

void check_shapes(const Evaluation& e, int64_t directions, int64_t gates) {
  const Extents& x = e.operand(0).shape;
  const int64_t hidden = e.operand(2).shape[2];
  const Extents state{directions, x[1], hidden};
  const Extents expected[] = {x,
                              {directions, gates * hidden, x[2]},
                              {directions, gates * hidden, hidden},
                              {directions, 2 * gates * hidden},
                              {x[1]},
                              state,
                              state,
                              {directions, 3 * hidden}};
  for (size_t i = 0; i < e.operands.size(); ++i) {
    if (e.operands[i]->shape == expected[i]) continue;
    throw user_error("[recurrent] operand {} is [{}], not [{}]", i,
                     fmt::join(e.operands[i]->shape, ", "), fmt::join(expected[i], ", "));
  }
}

}  // namespace

Results recurrent(const Evaluation& e) {
  const Attributes& a = e.attributes();
  const Cell& cell = *std::ranges::find(kCells, a.text("cell"), &Cell::name);
  const size_t directions = a.text("direction") == "bidirectional" ? 2 : 1;
  check_shapes(e, static_cast<int64_t>(directions), static_cast<int64_t>(cell.gates));
  const Layer l = layer_of(e, cell);
  const std::vector<int64_t> lengths = to_integers(e.operand(4));
  Numbers h = to_doubles(e.operand(5)), c(h.size()), all(l.time * directions * l.batch * l.hidden);
  if (e.operands.size() > 6) c = to_doubles(e.operand(6));
  for (size_t row = 0; row < directions * l.batch; ++row) {
    const size_t direction = row / l.batch, b = row % l.batch, first = row * l.hidden;
    if (lengths[b] < 0 || lengths[b] > static_cast<int64_t>(l.time)) {
      throw user_error("[recurrent] a sequence of {} steps has the length {}", l.time, lengths[b]);
    }
    const bool backward = direction == 1 || a.text("direction") == "reverse";
    const auto length = static_cast<size_t>(lengths[b]);
    State state{{h.data() + first, h.data() + first + l.hidden},
                {c.data() + first, c.data() + first + l.hidden}};
    for (size_t i = 0; i < length; ++i) {
      const size_t t = backward ? length - 1 - i : i;
      cell.step({l, direction, std::span(l.x).subspan((t * l.batch + b) * l.in, l.in)}, state);
      std::ranges::copy(state.h,
                        all.data() + ((t * directions + direction) * l.batch + b) * l.hidden);
    }
    std::ranges::copy(state.h, h.data() + first);
    std::ranges::copy(state.c, c.data() + first);
  }
  const DType dtype = e.dtype();
  const Extents& last = e.operand(5).shape;
  Results results;
  results.push_back(from_doubles(dtype, {e.operand(0).shape[0], last[0], last[1], last[2]}, all));
  results.push_back(from_doubles(dtype, last, h));
  if (e.operands.size() > 6) results.push_back(from_doubles(dtype, last, c));
  return results;
}

}  // namespace tenon::graph::evaluators
