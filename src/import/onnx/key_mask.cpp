// Each form of a mask becomes a condition, the condition a bias.
#include "import/onnx/key_mask.h"

#include <limits>

namespace tenon::onnx {
namespace {

bool same(const Dim& a, const Dim& b) { return prove_equal(a, b) == Proof::Yes; }

// Lengths, or ends and starts.
Value by_position(Call& call, const KeyMask& m) {
  graph::Graph& g = call.g;
  const Dim& given = m.mask.shape()[0];
  const bool has_more = same(given, m.batch * 2) || same(given, m.batch * 3 + 2);
  const auto part = [&](const Dim& first) {  // of another length otherwise: an error of the run
    Value rows = has_more ? g.slice(m.mask, {first}, {m.batch}, {1}) : m.mask;
    return to_i32(call, g.reshape(rows, {m.batch, 1, 1, 1}));
  };
  Value key = positions(call, m.keys);
  Value valid = g.binary(Op::Less, key, part(0));
  if (!same(m.mask.shape()[0], m.batch * 2)) return valid;
  return both(call, valid, g.binary(Op::LessEqual, part(m.batch), key));
}

Value by_square(Call& call, const KeyMask& m) {
  const Shape& s = m.mask.shape();
  if (m.past_length) throw unsupported_error("a square mask with past_sequence_length");
  return call.g.slice(m.mask, {0, 0, m.past, 0}, {s[0], s[1], m.queries, m.keys}, {1, 1, 1, 1});
}

// A mask or bias for the keys of a buffer that are used may be shorter than the buffer.
Value of_all_keys(Call& call, const KeyMask& m, Value mask) {
  return m.used && mask ? lengthened(call, mask, m.keys, 0) : mask;
}

Value condition(Call& call, const KeyMask& m) {
  graph::Graph& g = call.g;
  const Shape& s = m.mask.shape();
  if (!is_integer(m.mask.dtype())) throw user_error("the mask must be of integers");
  Value raw;
  if (s.rank() == 1) {
    const bool known = same(s[0], m.batch) || same(s[0], m.batch * 2) ||
                       same(s[0], m.batch * 3 + 2) || prove_equal(s[0], m.batch) == Proof::Unknown;
    if (!known)
      throw user_error("a mask {} for a batch of {}", m.mask.type().to_string(),
                       m.batch.to_string());
    return by_position(call, m);
  }
  if (s.rank() == 2) {
    if (s[1].is_const(1) && !m.keys.is_const(1)) return {};
    raw = g.reshape(of_all_keys(call, m, m.mask), {s[0], 1, 1, m.used ? m.keys : s[1]});
  } else if (s.rank() == 3) {
    raw = g.reshape(of_all_keys(call, m, m.mask), {s[0], 1, s[1], m.used ? m.keys : s[2]});
  } else if (s.rank() == 4) {
    raw = by_square(call, m);
  } else {
    throw user_error("a mask of type {}", m.mask.type().to_string());
  }
  return g.binary(Op::Less, g.scalar(m.mask.dtype(), 0), raw);
}

}  // namespace

Value key_bias(Call& call, const KeyMask& m, Value bias, DType dtype) {
  graph::Graph& g = call.g;
  Value valid = m.mask ? condition(call, m) : Value{};
  bias = bias_of(call, valid, of_all_keys(call, m, bias), dtype, m.filter);
  Value reached = m.used;
  if (m.causal && !m.queries.is_const(1)) {
    Value query = g.reshape(positions(call, m.queries), {m.queries, 1});
    query = g.add(query, m.past_length ? m.past_length : to_i32(call, g.dims({m.past})));
    reached = both(call, reached, g.binary(Op::LessEqual, positions(call, m.keys), query));
  }
  if (!reached) return bias;
  Value future = g.scalar(dtype, -std::numeric_limits<double>::infinity());
  if (!bias) bias = g.scalar(dtype, 0.0);
  return g.apply(Op::Where, {reached, bias, future});
}

}  // namespace tenon::onnx
