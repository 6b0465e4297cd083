// The importer of Scan: a loop over slices. Before opset 9 every value has a batch axis in front,
// and the whole is a loop over the batch around a loop over the sequence.
#include "import/onnx/body.h"
#include "import/onnx/call.h"
#include "import/onnx/ops/control.h"

namespace tenon::onnx::importers {
namespace {

struct Way {
  int64_t axis = 0;
  bool backward = false;
};

// What a scan goes over, in the graph of the scope it is built in.
struct ScanSource {
  const GraphProto& body;
  std::string label;
  std::vector<Value> states, inputs;
  std::vector<Way> input_ways, output_ways;
};

// The common extent of the axes that are scanned.
Dim scan_length(graph::Graph& g, const ScanSource& source) {
  const auto length = [&](size_t i) {
    return source.inputs[i].shape()[static_cast<int>(source.input_ways[i].axis)];
  };
  for (size_t i = 1; i < source.inputs.size(); ++i) {
    g.add_constraint({Constraint::Kind::Equal, length(0), length(i), "[scan] lengths of inputs"});
  }
  return length(0);
}

Value reversed(graph::Graph& g, Value x) {
  std::vector<Dim> starts(x.shape().dims().size(), 0);
  std::vector<int64_t> steps(starts.size(), 1);
  starts[0] = x.shape()[0] - 1;
  steps[0] = -1;
  return g.slice(x, std::move(starts), x.shape().dims(), std::move(steps));
}

Value move_first_axis(graph::Graph& g, Value x, int64_t to) {
  if (to == 0) return x;
  std::vector<int64_t> perm;
  for (int64_t i = 1; i < x.shape().rank(); ++i) perm.push_back(i);
  perm.insert(perm.begin() + to, 0);
  return g.transpose(x, std::move(perm));
}

Results build_scan(Scope& scope, const ScanSource& source) {
  graph::Graph& g = scope.frame().g;
  const Dim length = scan_length(g, source);
  const auto iteration = [&](BodyBuilder& body, Value number, Value condition,
                             const std::vector<Value>& states) {
    std::vector<Value> inputs = states;
    for (size_t i = 0; i < source.inputs.size(); ++i) {
      const Way& way = source.input_ways[i];
      const Value last = body.g().dims({length - 1}, true);
      inputs.push_back(body.g().gather(body.frame().capture(source.inputs[i]),
                                       way.backward ? body.g().sub(last, number) : number,
                                       way.axis));
    }
    Results outputs = body.scope().import_graph(source.body, inputs);
    outputs.insert(outputs.begin(), condition);
    return outputs;
  };
  Results results = build_loop(
      scope, {source.label, g.dims({length}, true), true_scalar(g), source.states}, iteration);
  const size_t states = source.states.size(), scanned = results.size() - states;
  if (!source.output_ways.empty() && source.output_ways.size() != scanned) {
    throw user_error("{} directions or axes for {} scanned outputs", source.output_ways.size(),
                     scanned);
  }
  for (size_t i = 0; i < source.output_ways.size(); ++i) {
    Value& result = results[states + i];
    if (source.output_ways[i].backward) result = reversed(g, result);
    const int64_t axis = Call::axis_of(source.output_ways[i].axis, result.shape().rank());
    result = move_first_axis(g, result, axis);
  }
  return results;
}

// Directions and axes, as two attributes with an entry per input or output; none: all as they are.
std::vector<Way> ways(Call& call, const char* directions, const char* axes, size_t count) {
  std::vector<Way> result(count);
  const auto check = [&](const std::vector<int64_t>& list, const char* name) {
    if (result.empty()) result.resize(list.size());
    if (list.size() == result.size()) return;
    throw user_error("attribute '{}' has {} entries for {}", name, list.size(), result.size());
  };
  if (const auto list = call.integers(directions)) {
    check(*list, directions);
    for (size_t i = 0; i < list->size(); ++i) {
      if ((*list)[i] != 0 && (*list)[i] != 1) {
        throw user_error("attribute '{}' has the entry {}", directions, (*list)[i]);
      }
      result[i].backward = (*list)[i] == 1;
    }
  }
  if (!axes) return result;
  if (const auto list = call.integers(axes)) {
    check(*list, axes);
    for (size_t i = 0; i < list->size(); ++i) result[i].axis = (*list)[i];
  }
  return result;
}

int64_t scan_count(Call& call, int first) {
  const int64_t scanned = call.integer("num_scan_inputs");
  if (scanned < 1 || scanned > call.inputs() - first) {
    throw user_error("num_scan_inputs is {} of {} inputs", scanned, call.inputs() - first);
  }
  return scanned;
}

void split_inputs(Call& call, int first, int64_t scanned, ScanSource& source) {
  for (int i = first; i < call.inputs(); ++i) {
    (i < call.inputs() - scanned ? source.states : source.inputs).push_back(call.in(i));
  }
}

// Opset 8: [batch, ...] everywhere, sequences along axis 1.
Results batched_scan(Call& call) {
  call.reject_input(0, "sequence_lens");
  const int64_t scanned = scan_count(call, 1);
  ScanSource whole{call.graph("body"), call.label() + "/", {}, {}, {}, {}};
  split_inputs(call, 1, scanned, whole);
  whole.input_ways = ways(call, "directions", nullptr, static_cast<size_t>(scanned));
  for (const Value& input : whole.inputs) {
    if (input.shape().rank() < 2)
      throw user_error("a scanned input is {}", input.type().to_string());
  }
  const auto iteration = [&](BodyBuilder& body, Value number, Value condition,
                             const std::vector<Value>&) {
    ScanSource one = whole;
    for (Value& state : one.states) {
      state = body.g().gather(body.frame().capture(state), number, 0);
    }
    for (Value& input : one.inputs) {
      input = body.g().gather(body.frame().capture(input), number, 0);
    }
    Results outputs = build_scan(body.scope(), one);
    outputs.insert(outputs.begin(), condition);
    return outputs;
  };
  const Dim batch = whole.inputs[0].shape()[0];
  return build_loop(call.scope(),
                    {whole.label, call.g.dims({batch}, true), true_scalar(call.g), {}}, iteration);
}

}  // namespace

Results scan(Call& call) {
  if (call.opset() < 9) return batched_scan(call);
  const int64_t scanned = scan_count(call, 0);
  ScanSource source{call.graph("body"), call.label() + "/", {}, {}, {}, {}};
  split_inputs(call, 0, scanned, source);
  source.input_ways =
      ways(call, "scan_input_directions", "scan_input_axes", static_cast<size_t>(scanned));
  for (size_t i = 0; i < source.inputs.size(); ++i) {
    source.input_ways[i].axis =
        Call::axis_of(source.input_ways[i].axis, source.inputs[i].shape().rank());
  }
  source.output_ways = ways(call, "scan_output_directions", "scan_output_axes", 0);
  return build_scan(call.scope(), source);
}

}  // namespace tenon::onnx::importers
