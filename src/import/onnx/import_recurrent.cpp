// Importers of recurrent layers: one op of the graph for all three, with every operand given.
// Batches that come first (layout 1) are moved to the second axis and back.
#include <algorithm>
#include <cctype>

#include "graph/gate_activation.h"
#include "import/onnx/compute.h"
#include "import/onnx/ops/microsoft.h"
#include "import/onnx/ops/sequence.h"
#include "import/onnx/quantized.h"
#include "import/onnx/window_attributes.h"

namespace tenon::onnx::importers {
namespace {

struct Cell {
  std::string name;
  int64_t gates;
  std::vector<std::string> functions;  // by default, of one direction
};

std::vector<std::string> function_names(Call& call, const Cell& cell, int64_t directions) {
  std::vector<std::string> names;
  if (const AttributeProto* given = call.find("activations"); given && !given->strings.empty()) {
    for (const std::string_view name : given->strings) {
      std::string& lower = names.emplace_back(name);
      std::ranges::transform(lower, lower.begin(),
                             [](unsigned char c) { return static_cast<char>(std::tolower(c)); });
    }
    // Some exporters name those of both directions for one.
    if (names.size() > cell.functions.size() && directions == 1) {
      names.resize(cell.functions.size());
    }
    return names;
  }
  for (int64_t i = 0; i < directions; ++i) {
    names.insert(names.end(), cell.functions.begin(), cell.functions.end());
  }
  return names;
}

// Parameters are listed in the order of the functions that have some.
std::vector<double> parameters(Call& call, std::string_view attribute,
                               const std::vector<std::string>& names, bool second) {
  const AttributeProto* given = call.find(attribute);
  std::vector<double> values;
  size_t next = 0;
  for (const std::string& name : names) {
    const graph::GateActivation* function = graph::find_gate_activation(name);
    if (!function) throw unsupported_error("the activation '{}' is not supported", name);
    double value = second ? function->beta : function->alpha;
    if (given && function->parameters > (second ? 1 : 0) && next < given->floats.size()) {
      value = given->floats[next++];
    }
    values.push_back(value);
  }
  return values;
}

std::string joined(const std::vector<std::string>& names) {
  return fmt::format("{}", fmt::join(names, ","));
}

// An optional operand, or zeros of its shape.
Value or_zeros(Call& call, int operand, DType dtype, std::vector<Dim> shape) {
  Value value = call.maybe(operand);
  return value ? value : filled(call, dtype, 0, std::move(shape));
}

graph::Attributes attributes_of(Call& call, const Cell& cell, int64_t directions) {
  const std::vector<std::string> names = function_names(call, cell, directions);
  graph::Attributes attributes{{"cell", cell.name},
                               {"direction", std::string(call.text("direction", "forward"))},
                               {"activations", joined(names)},
                               {"alpha", parameters(call, "activation_alpha", names, false)},
                               {"beta", parameters(call, "activation_beta", names, true)}};
  if (call.find("clip")) attributes.set("clip", call.number("clip", 0));
  if (call.flag("linear_before_reset", false)) attributes.set("linear_before_reset", int64_t{1});
  if (call.flag("input_forget", false)) attributes.set("input_forget", int64_t{1});
  call.integer("output_sequence", 0);
  return attributes;
}

Value lengths_of(Call& call, Value x) {
  if (Value lengths = call.maybe(4)) return as(call, lengths, DType::I64);
  return call.g.expand(call.g.dims({x.shape()[0]}), {x.shape()[1]});
}

void check_hidden_size(Call& call, Value r) {
  if (!call.find("hidden_size")) return;
  const int64_t given = call.integer("hidden_size");
  if (prove_equal(r.shape()[2], given) == Proof::No) {
    throw user_error("attribute 'hidden_size' is {}, but the weights of the state are {}", given,
                     r.type().to_string());
  }
  call.g.add_constraint({Constraint::Kind::Equal, r.shape()[2], given,
                         "[recurrent] extents of the state and hidden_size"});
}

// w [directions, gates * hidden, input] and r [directions, gates * hidden, hidden].
Results recurrent(Call& call, const Cell& cell, Value w, Value r) {
  graph::Graph& g = call.g;
  const bool batch_first = call.flag("layout", false);
  const auto turned = [&](Value v) { return batch_first ? g.transpose(v, {1, 0, 2}) : v; };
  if (call.in(0).shape().rank() != 3 || r.shape().rank() != 3) {
    throw user_error("{} is no sequence", call.in(0).type().to_string());
  }
  Value x = turned(call.in(0));
  const int64_t directions = call.text("direction", "forward") == "bidirectional" ? 2 : 1;
  const Dim batch = x.shape()[1], hidden = r.shape()[2];
  check_hidden_size(call, r);
  const auto state = [&](int operand) {
    if (Value given = call.maybe(operand)) return turned(given);
    return filled(call, x.dtype(), 0, {directions, batch, hidden});
  };
  std::vector<Value> operands{x,
                              w,
                              r,
                              or_zeros(call, 3, x.dtype(), {directions, hidden * (2 * cell.gates)}),
                              lengths_of(call, x),
                              state(5)};
  if (cell.name == "lstm") {
    operands.push_back(state(6));
    operands.push_back(or_zeros(call, 7, x.dtype(), {directions, hidden * 3}));
  }
  Results results =
      g.apply_all(Op::Recurrent, std::move(operands), attributes_of(call, cell, directions));
  if (!batch_first) return results;
  results[0] = g.transpose(results[0], {2, 0, 1, 3});
  for (size_t i = 1; i < results.size(); ++i) results[i] = turned(results[i]);
  return results;
}

// Quantized weights [directions, n, gates * hidden] as real ones with the last two axes turned.
// Their scales and zero points are one for each direction, or one for each of its columns.
Value real_weights(Call& call, int stored, int scale) {
  Value codes = call.in(stored);
  if (codes.shape().rank() != 3) throw user_error("weights {}", codes.type().to_string());
  const auto parameter = [&](int i) {
    Value given = call.in(i);
    const Shape& s = given.shape();
    if (s.rank() != 1 && s.rank() != 2) throw user_error("a scale {}", given.type().to_string());
    return call.g.reshape(given, {s[0], 1, s.rank() == 2 ? s[1] : Dim(1)});
  };
  Value real = dequantized(call, codes, parameter(scale), parameter(scale + 1));
  return call.g.transpose(real, {0, 2, 1});
}

const Cell kLstm = {"lstm", 4, {"sigmoid", "tanh", "tanh"}};

}  // namespace

Results rnn(Call& call) { return recurrent(call, {"rnn", 1, {"tanh"}}, call.in(1), call.in(2)); }
Results gru(Call& call) {
  return recurrent(call, {"gru", 3, {"sigmoid", "tanh"}}, call.in(1), call.in(2));
}
Results lstm(Call& call) { return recurrent(call, kLstm, call.in(1), call.in(2)); }

// ONNX Runtime quantizes inputs and states on the way too, for speed; that error is not made here.
Results dynamic_quantize_lstm(Call& call) {
  return recurrent(call, kLstm, real_weights(call, 1, 8), real_weights(call, 2, 10));
}

}  // namespace tenon::onnx::importers
