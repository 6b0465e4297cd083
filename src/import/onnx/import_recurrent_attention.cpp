// Importers of what linear-attention models are made of: linear attention and gated activations.
#include "import/onnx/compute.h"
#include "import/onnx/heads.h"
#include "import/onnx/ops/transformer.h"

namespace tenon::onnx::importers {
namespace {

struct Rule {
  std::string_view name;
  bool gated, delta;
};
constexpr Rule kRules[] = {
    {"linear", false, false},
    {"gated", true, false},
    {"delta", false, true},
    {"gated_delta", true, true},
};

Rule rule_of(Call& call) {
  const std::string_view name = call.text("update_rule", "gated_delta");
  for (const Rule& rule : kRules) {
    if (rule.name == name) return rule;
  }
  throw user_error("update_rule '{}' is unknown", name);
}

void check_given(const Rule& rule, Value input, bool wanted, std::string_view what) {
  if (!input == !wanted) return;
  throw user_error("update_rule '{}' {} {}", rule.name, wanted ? "needs" : "has no", what);
}

// [batch, time, n * states] with its states apart, spread to `dims`. Of fewer than the states there
// is one for all.
Value gate(Call& call, Value x, const Dim& states, std::vector<Dim> dims) {
  if (x.shape().rank() != 3) throw user_error("{} must have three axes", x.type().to_string());
  const bool shared = prove_lt(x.shape()[2], states) == Proof::Yes;
  const int64_t heads = shared || x.shape()[2].is_const(1) ? 1 : states.const_value();
  return call.g.expand(split_heads(call, as(call, x, DType::F32), heads), std::move(dims));
}

Value swish_of(Call& call, Value x, double alpha) {
  graph::Graph& g = call.g;
  if (alpha == 1) return g.unary(Op::Silu, x);
  Value precise = widened(call, x);
  Value inner = g.mul(precise, g.scalar(precise.dtype(), alpha));
  return as(call, g.mul(precise, g.unary(Op::Sigmoid, inner)), x.dtype());
}

}  // namespace

Results linear_attention(Call& call) {
  graph::Graph& g = call.g;
  const Rule rule = rule_of(call);
  Value past = call.maybe(3), decay = call.maybe(4), rate = call.maybe(5);
  check_given(rule, decay, rule.gated, "a decay");
  check_given(rule, rate, rule.delta, "a beta");
  call.integer("chunk_size", 64);  // about speed only
  const int64_t heads = call.integer("q_num_heads"), states = call.integer("kv_num_heads");
  Value q = split_heads(call, as(call, call.in(0), DType::F32), heads);
  Value k = split_heads(call, as(call, call.in(1), DType::F32), states);
  Value v = split_heads(call, as(call, call.in(2), DType::F32), states);
  const Dim batch = q.shape()[0], time = q.shape()[2], key = q.shape()[3];
  const double scale = call.number("scale", 0);
  const DType kept = past ? past.dtype() : call.in(0).dtype();
  const std::vector<Dim> wide = {batch, states, time, key}, thin = {batch, states, time, 1};
  past = past ? as(call, past, DType::F32)
              : filled(call, DType::F32, 0, {batch, states, key, v.shape()[3]});
  decay = decay ? gate(call, decay, states, wide) : filled(call, DType::F32, 0, wide);
  rate = rate ? gate(call, rate, states, thin) : filled(call, DType::F32, 1, thin);
  q = g.mul(
      q, scale != 0 ? g.scalar(DType::F32, scale) : as(call, inverse_root(call, key), DType::F32));
  const std::vector<Value> results = g.apply_all(Op::LinearAttention, {q, k, v, past, decay, rate},
                                                 {{"delta", int64_t{rule.delta}}});
  return {as(call, join_heads(call, results[0]), call.in(0).dtype()), as(call, results[1], kept)};
}

Results swiglu(Call& call) {
  Value gate = call.in(0), x = call.in(1);
  if (gate.shape().rank() != x.shape().rank()) {
    throw user_error("gate and value differ: {} and {}", gate.type().to_string(),
                     x.type().to_string());
  }
  return {call.g.mul(swish_of(call, gate, call.number("alpha", 1.0)), x)};
}

// The first half of the last axis times gelu of the second.
Results bias_split_gelu(Call& call) {
  Value sum = call.g.add(call.in(0), call.in(1));
  const int64_t last = sum.shape().rank() - 1;
  const Dim half = quotient({sum.shape()[static_cast<int>(last)]}, {2});
  const std::vector<Value> parts = call.g.split(sum, last, {half, half});
  return {call.g.mul(parts[0], call.g.gelu(parts[1]))};
}

}  // namespace tenon::onnx::importers
