// See over_time.h.
#include "legalize/over_time.h"

#include <fmt/format.h>

namespace tenon::legalize::decompositions {

using graph::Op;

namespace {

constexpr int64_t kUnrolled = 4;

// The shape without its first axis.
std::vector<Dim> inner_dims(Value x) { return {x.shape().begin() + 1, x.shape().end()}; }

std::vector<Dim> with_first(Dim first, Value x) {
  std::vector<Dim> dims = x.shape().dims();
  dims.insert(dims.begin(), std::move(first));
  return dims;
}

StepOutputs unrolled(Graph& g, const Recurrence& r, const Step& step) {
  StepOutputs last{r.states, {}};
  std::vector<std::vector<Value>> results;
  for (int64_t i = 0; i < r.time.const_value(); ++i) {
    StepInputs inputs{g, number(g, i), {}, r.fixed, last.states};
    for (const Value& x : r.sequences) {
      std::vector<Dim> starts(x.shape().dims().size(), 0), extents = x.shape().dims();
      starts[0] = i;
      extents[0] = 1;
      const Value row = g.slice(x, starts, extents, std::vector<int64_t>(starts.size(), 1));
      inputs.elements.push_back(g.reshape(row, inner_dims(x)));
    }
    last = step(inputs);
    results.resize(last.results.size());
    for (size_t k = 0; k < results.size(); ++k) {
      const Value result = last.results[k];
      results[k].push_back(g.reshape(result, with_first(1, result)));
    }
  }
  last.results.clear();
  for (std::vector<Value>& parts : results) {
    last.results.push_back(parts.size() == 1 ? parts[0] : g.concat(std::move(parts), 0));
  }
  return last;
}

Value yes(Graph& g) {
  const std::byte one{1};
  return g.constant({{}, DType::Bool}, {std::span(&one, 1), nullptr});
}

}  // namespace

StepOutputs over_time(Graph& g, const Recurrence& r, const Step& step) {
  if (r.time.is_const() && r.time.const_value() > 0 && r.time.const_value() <= kUnrolled) {
    return unrolled(g, r, step);
  }
  Graph body = g.nested();
  int inputs = 0;
  const auto input = [&](const TensorType& type) {
    return body.input(fmt::format("in{}", inputs++), type);
  };
  const Value iteration = input({{}, DType::I64}), going = input({{}, DType::Bool});
  std::vector<Value> operands{integer(g, r.time), yes(g)};
  StepInputs inside{body, Term(body, iteration), {}, {}, {}};
  const auto take = [&](const std::vector<Value>& outside, std::vector<Value>& to) {
    for (const Value& value : outside) to.push_back(input(value.type()));
    operands.insert(operands.end(), outside.begin(), outside.end());
  };
  take(r.states, inside.states);
  take(r.sequences, inside.elements);
  take(r.fixed, inside.fixed);
  for (Value& element : inside.elements) element = body.gather(element, iteration, 0);
  const StepOutputs outputs = step(inside);
  std::vector<graph::Output> named{{"out0", going}};
  std::vector<Dim> extents;
  for (const Value& state : outputs.states) {
    named.push_back({fmt::format("out{}", named.size()), state});
  }
  for (const Value& state : r.states) {
    extents.insert(extents.end(), state.shape().begin(), state.shape().end());
  }
  for (const Value& result : outputs.results) {
    named.push_back({fmt::format("out{}", named.size()), result});
    const std::vector<Dim> dims = with_first(r.time, result);
    extents.insert(extents.end(), dims.begin(), dims.end());
  }
  body.set_outputs(std::move(named));
  std::vector<Value> all = g.apply_all(Op::Loop, std::move(operands),
                                       {{"body", graph::Subgraph(std::move(body))},
                                        {"carried", static_cast<int64_t>(r.states.size())},
                                        {"extents", std::move(extents)}});
  const auto states = static_cast<ptrdiff_t>(r.states.size());
  return {{all.begin(), all.begin() + states}, {all.begin() + states, all.end()}};
}

}  // namespace tenon::legalize::decompositions
