// Recurrent layers: what the input contributes is one product for all steps; the rest is a
// recurrence over time for each direction. Backward is forward in the other order, and a step past
// the end of a sequence leaves its state alone, so that no sequence has to be turned by itself.
#include <algorithm>

#include "legalize/gates.h"
#include "legalize/over_time.h"

namespace tenon::legalize::decompositions {

using graph::Op;

namespace {

// One direction of a layer, at one step.
struct Direction {
  const Gates& gates;
  Dim hidden;
  bool linear_before_reset, input_forget;
};

struct Moment {
  Graph& g;
  Term input;                 // [batch, gates * hidden], with the biases that can be added before
  Value weights;              // [hidden, gates * hidden]
  Value bias, peepholes;      // of the recurrence's last gate (gru), of cells (lstm): [n * hidden]
  std::vector<Value> states;  // h, and c of lstm: [batch, hidden]
};

Term columns(Graph& g, Value x, const Dim& hidden, int64_t first, int64_t count = 1) {
  std::vector<Dim> starts(x.shape().dims().size(), 0), extents = x.shape().dims();
  starts.back() = hidden * first;
  extents.back() = hidden * count;
  return {g, g.slice(x, starts, extents, std::vector<int64_t>(starts.size(), 1))};
}

std::vector<Value> rnn_step(const Direction& d, const Moment& m) {
  return {d.gates.apply(0, m.input + m.g.matmul(m.states[0], m.weights))};
}

// Gates: update, reset, hidden.
std::vector<Value> gru_step(const Direction& d, const Moment& m) {
  const Term h(m.g, m.states[0]);
  const auto input = [&](int64_t gate) { return columns(m.g, m.input, d.hidden, gate); };
  const Value first = columns(m.g, m.weights, d.hidden, 0, 2);
  const Value third = columns(m.g, m.weights, d.hidden, 2);
  const Value both_gates = m.g.matmul(h, first);
  const Term update = d.gates.apply(0, input(0) + columns(m.g, both_gates, d.hidden, 0));
  const Term reset = d.gates.apply(0, input(1) + columns(m.g, both_gates, d.hidden, 1));
  const Term recurrence = d.linear_before_reset ? reset * (Term(m.g, m.g.matmul(h, third)) + m.bias)
                                                : Term(m.g, m.g.matmul(reset * h, third)) + m.bias;
  const Term candidate = d.gates.apply(1, input(2) + recurrence);
  return {candidate - update * candidate + update * h};
}

// Gates: input, output, forget, cell; peepholes of the first three.
std::vector<Value> lstm_step(const Direction& d, const Moment& m) {
  const Term h(m.g, m.states[0]), c(m.g, m.states[1]);
  const Term sums = m.input + m.g.matmul(h, m.weights);
  const auto sum = [&](int64_t gate) { return columns(m.g, sums, d.hidden, gate); };
  const auto peephole = [&](int64_t gate) { return columns(m.g, m.peepholes, d.hidden, gate); };
  const Term input = d.gates.apply(0, sum(0) + c * peephole(0));
  const Term forget = d.input_forget ? -(input - 1) : d.gates.apply(0, sum(2) + c * peephole(2));
  const Term cell = forget * c + input * d.gates.apply(1, sum(3));
  const Term output = d.gates.apply(0, sum(1) + cell * peephole(1));
  return {output * d.gates.apply(2, cell), cell};
}

struct Cell {
  std::string_view name;
  int64_t gates;
  std::vector<Value> (*step)(const Direction&, const Moment&);
};
constexpr Cell kCells[] = {{"rnn", 1, rnn_step}, {"gru", 3, gru_step}, {"lstm", 4, lstm_step}};

// All steps of one direction.
class Layer {
 public:
  Layer(Graph& g, const Node& node, std::span<const Value> operands)
      : g_(g),
        attributes_(node.attributes()),
        operands_(operands),
        cell_(*std::ranges::find(kCells, attributes_.text("cell"), &Cell::name)),
        time_(operands[0].shape()[0]),
        batch_(operands[0].shape()[1]),
        hidden_(operands[2].shape()[2]) {}

  // The states after all steps, and h of each as [time, batch, hidden].
  StepOutputs run(int64_t direction, int64_t directions, bool backward) const;
  // Whether sequences may be shorter than the time axis.
  bool has_lengths() const;

 private:
  Value part(size_t operand, int64_t direction) const;  // of one direction
  Value reversed(Value x) const;
  Value input_sums(int64_t direction) const;

  Graph& g_;
  const graph::Attributes& attributes_;
  std::span<const Value> operands_;
  const Cell& cell_;
  Dim time_, batch_, hidden_;
};

bool Layer::has_lengths() const {
  const auto is_all = [&](const Value& lengths) {
    const auto& known = lengths.shape_value();
    return known && std::ranges::all_of(*known, [&](const Dim& length) { return length == time_; });
  };
  const Node& lengths = *operands_[4].node;
  const bool spread = lengths.op() == Op::Expand && is_all(lengths.operand(0));
  return !spread && !is_all(operands_[4]);
}

Value Layer::part(size_t operand, int64_t direction) const {
  const Value x = operands_[operand];
  std::vector<Dim> starts(x.shape().dims().size(), 0), extents = x.shape().dims();
  starts[0] = direction;
  extents[0] = 1;
  const Value one = g_.slice(x, starts, extents, std::vector<int64_t>(starts.size(), 1));
  return g_.reshape(one, {extents.begin() + 1, extents.end()});
}

Value Layer::reversed(Value x) const {
  std::vector<Dim> starts(x.shape().dims().size(), 0);
  std::vector<int64_t> steps(starts.size(), 1);
  starts[0] = time_ - 1;
  steps[0] = -1;
  return g_.slice(x, std::move(starts), x.shape().dims(), std::move(steps));
}

// x * w and the biases; that of the recurrence's last gate stays out where a product comes first.
Value Layer::input_sums(int64_t direction) const {
  const int64_t gates = cell_.gates;
  const Value bias = part(3, direction);
  Term recurrent = columns(g_, bias, hidden_, gates, gates);
  if (gates == 3) {
    const Value none = g_.expand(g_.scalar(bias.dtype(), 0), {hidden_});
    recurrent = Term(g_, g_.concat({columns(g_, bias, hidden_, gates, 2), none}, 0));
  }
  const Term sums = recurrent + columns(g_, bias, hidden_, 0, gates);
  return Term(g_, g_.matmul(operands_[0], g_.transpose(part(1, direction), {1, 0}))) + sums;
}

StepOutputs Layer::run(int64_t direction, int64_t directions, bool backward) const {
  const bool lengths = has_lengths();
  const Value sums = input_sums(direction);
  Recurrence recurrence{time_,
                        {backward ? reversed(sums) : sums},
                        {g_.transpose(part(2, direction), {1, 0})},
                        {part(5, direction)}};
  const bool is_lstm = cell_.gates == 4, is_gru = cell_.gates == 3;
  if (is_gru) recurrence.fixed.push_back(columns(g_, part(3, direction), hidden_, 5));
  if (is_lstm) {
    recurrence.fixed.push_back(part(7, direction));
    recurrence.states.push_back(part(6, direction));
  }
  if (lengths) recurrence.fixed.push_back(integers_of(g_, operands_[4]));
  const Gates gates(attributes_, direction, directions);
  const Direction d{gates, hidden_, attributes_.integer("linear_before_reset", 0) != 0,
                    attributes_.integer("input_forget", 0) != 0};
  const auto step = [&](const StepInputs& in) -> StepOutputs {
    const Value extra = is_gru || is_lstm ? in.fixed[1] : Value();
    std::vector<Value> next =
        cell_.step(d, {in.g, Term(in.g, in.elements[0]), in.fixed[0], extra, extra, in.states});
    if (!lengths) return {next, {next[0]}};
    const Term at = backward ? number(in.g, time_ - 1) - in.number : in.number;
    const Term live = less(at, in.fixed.back()).reshape({batch_, 1});
    const Value h = choose(live, Term(in.g, next[0]), 0);
    for (size_t i = 0; i < next.size(); ++i) next[i] = choose(live, next[i], in.states[i]);
    return {next, {h}};
  };
  StepOutputs last = over_time(g_, recurrence, step);
  if (backward) last.results[0] = reversed(last.results[0]);
  return last;
}

}  // namespace

std::vector<Value> recurrent(Graph& g, const Node& node, std::span<const Value> operands) {
  const Layer layer(g, node, operands);
  const std::string& direction = node.attributes().text("direction");
  const int64_t directions = direction == "bidirectional" ? 2 : 1;
  const Dim time = operands[0].shape()[0], batch = operands[0].shape()[1];
  const Dim hidden = operands[2].shape()[2];
  std::vector<std::vector<Value>> parts(static_cast<size_t>(node.result_count()));
  for (int64_t i = 0; i < directions; ++i) {
    const StepOutputs last = layer.run(i, directions, i == 1 || direction == "reverse");
    parts[0].push_back(g.reshape(last.results[0], {time, 1, batch, hidden}));
    for (size_t k = 0; k < last.states.size(); ++k) {
      parts[k + 1].push_back(g.reshape(last.states[k], {1, batch, hidden}));
    }
  }
  std::vector<Value> results;
  for (size_t i = 0; i < parts.size(); ++i) {
    results.push_back(directions == 1 ? parts[i][0] : g.concat(parts[i], i == 0 ? 1 : 0));
  }
  if (!layer.has_lengths()) return results;
  const Term lengths = integers_of(g, operands[4]);
  const Term wrong = any_of(either(less(lengths, 0), more(lengths, time)));
  for (Value& result : results) result = checked(g, result, wrong, "wrong_length");
  return results;
}

}  // namespace tenon::legalize::decompositions
