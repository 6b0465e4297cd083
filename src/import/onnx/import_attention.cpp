// Attention of the default domain (opset 23 and newer): masks, causal and window limits, key-value
// caches, and the scores as an output.
#include <limits>

#include "import/onnx/heads.h"
#include "import/onnx/ops/transformer.h"

namespace tenon::onnx::importers {
namespace {

constexpr double kMinusInf = -std::numeric_limits<double>::infinity();

struct Inputs {
  bool packed;    // three axes each
  Value q, k, v;  // with heads apart; k and v with what was cached
  Dim past = 0;   // keys that were cached
};

Value with_past(Call& call, Value past, Value fresh) {
  return past ? call.g.concat({past, fresh}, 2) : fresh;
}

Inputs read_inputs(Call& call) {
  Inputs in;
  in.q = call.in(0);
  in.k = call.in(1);
  in.v = call.in(2);
  const int rank = in.q.shape().rank();
  if ((rank != 3 && rank != 4) || in.k.shape().rank() != rank || in.v.shape().rank() != rank) {
    throw user_error("q, k and v must all have three or four axes: {}, {}, {}",
                     in.q.type().to_string(), in.k.type().to_string(), in.v.type().to_string());
  }
  in.packed = rank == 3;
  const int64_t heads = call.integer("q_num_heads", 0), pairs = call.integer("kv_num_heads", 0);
  if (in.packed) {
    in.q = split_heads(call, in.q, heads);
    in.k = split_heads(call, in.k, pairs);
    in.v = split_heads(call, in.v, pairs);
  }
  Value past_key = call.maybe(4), past_value = call.maybe(5);
  if (!past_key != !past_value) throw user_error("past_key and past_value come together");
  if (past_key) {
    if (past_key.shape().rank() != 4) throw user_error("past_key must have four axes");
    in.past = past_key.shape()[2];
  }
  in.k = with_past(call, past_key, in.k);
  in.v = with_past(call, past_value, in.v);
  return in;
}

// What each query may see by its position, that of query i being i + offset; null: everything.
Value visible(Call& call, const Inputs& in, Value lengths) {
  graph::Graph& g = call.g;
  const int64_t left = call.integer("left_window_size", -1);
  const int64_t right = call.integer("right_window_size", -1);
  if (left < -1 || right < -1) throw user_error("a window size is below -1");
  const bool causal = call.flag("is_causal", false);
  const Dim queries = in.q.shape()[2], keys = in.k.shape()[2];
  Value allowed;
  if (lengths) allowed = g.binary(Op::Less, positions(call, keys), lengths);
  if (!causal && left < 0 && right < 0) return allowed;
  Value offset = to_i32(call, g.dims({in.past}));
  if (lengths) offset = g.sub(lengths, to_i32(call, g.dims({queries})));
  Value query = g.add(g.reshape(positions(call, queries), {queries, 1}), offset);
  Value key = positions(call, keys);
  const auto limit = [&](Value less, Value more) {
    allowed = both(call, allowed, g.binary(Op::LessEqual, less, more));
  };
  const auto far = [&](int64_t size) {
    return g.scalar(DType::I32, static_cast<double>(std::min<int64_t>(size, 1 << 30)));
  };
  if (causal) limit(key, query);
  if (left >= 0) limit(g.sub(query, far(left)), key);
  if (right >= 0) limit(key, g.add(query, far(right)));
  return allowed;
}

// The bias of the scores, and which queries it leaves without a key.
void add_masks(Call& call, const Inputs& in, Attend& a) {
  graph::Graph& g = call.g;
  const DType dtype = in.q.dtype();
  const Dim batch = in.q.shape()[0], keys = in.k.shape()[2];
  Value lengths = call.maybe(6);
  if (lengths) {
    if (call.maybe(4)) throw user_error("nonpad_kv_seqlen and past_key exclude each other");
    lengths = to_i32(call, g.reshape(lengths, {batch, 1, 1, 1}));
  }
  Value allowed = visible(call, in, lengths);
  if (Value mask = call.maybe(3)) {
    if (mask.dtype() != DType::Bool && mask.dtype() != dtype) mask = g.cast(mask, dtype);
    if (mask.shape().rank() == 0) throw user_error("the mask is a scalar");
    mask = lengthened(call, mask, keys, mask.dtype() == DType::Bool ? 0 : kMinusInf);
    if (mask.dtype() == DType::Bool) {
      allowed = both(call, allowed, mask);
    } else {
      a.bias = allowed ? g.apply(Op::Where, {allowed, mask, g.scalar(dtype, kMinusInf)}) : mask;
    }
  }
  if (allowed && !a.bias) a.bias = bias_of(call, allowed, {}, dtype, kMinusInf);
  if (!a.bias) return;
  const int last = a.bias.shape().rank() - 1;
  a.empty =
      g.binary(Op::Equal, g.reduce(Op::ReduceMax, a.bias, {last}), g.scalar(dtype, kMinusInf));
}

}  // namespace

Results scaled_dot_product_attention(Call& call) {
  const Inputs in = read_inputs(call);
  Attend a{.q = in.q, .k = in.k, .v = in.v};
  a.scale = call.number("scale", 0);
  a.softcap = call.number("softcap", 0);
  const int64_t mode = call.integer("qk_matmul_output_mode", 0);
  if (mode < 0 || mode > 3) throw user_error("qk_matmul_output_mode {} is unknown", mode);
  if (call.find("softmax_precision")) {
    a.softmax_dtype = dtype_of(call.integer("softmax_precision"), "softmax_precision");
  }
  a.keep_scores = call.wants(3);
  add_masks(call, in, a);
  const Attended r = attend(call, a);
  Value y = in.packed ? join_heads(call, r.result) : r.result;
  const Value scores[] = {r.product, r.capped, r.biased, r.weights};
  return {y, in.k, in.v, scores[mode]};
}

}  // namespace tenon::onnx::importers
