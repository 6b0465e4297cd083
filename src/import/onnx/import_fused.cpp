// Importers of ONNX Runtime's Attention and EmbedLayerNormalization (domain com.microsoft), with
// the meaning its CPU kernels give them.
#include "import/onnx/importers.h"
#include "import/onnx/key_mask.h"

namespace tenon::onnx::importers {
namespace {

int64_t constant_extent(const Dim& dim, std::string_view what) {
  if (!dim.is_const())
    throw unsupported_error("{} must be constant, not {}", what, dim.to_string());
  return dim.const_value();
}

// past [2, batch, heads, length, width]: keys and values.
Value from_past(Call& call, Value past, int which) {
  const std::vector<Dim>& dims = past.shape().dims();
  Value part = call.g.slice(past, {which, 0, 0, 0, 0}, {1, dims[1], dims[2], dims[3], dims[4]},
                            {1, 1, 1, 1, 1});
  return call.g.reshape(part, {dims[1], dims[2], dims[3], dims[4]});
}

Value to_present(Call& call, Value k, Value v) {
  const auto stacked = [&](Value x) {
    std::vector<Dim> dims = x.shape().dims();
    dims.insert(dims.begin(), 1);
    return call.g.reshape(x, dims);
  };
  return call.g.concat({stacked(k), stacked(v)}, 0);
}

// Three products in one: the columns of the weights are those of q, k and v.
Qkv project(Call& call) {
  graph::Graph& g = call.g;
  Value x = call.in(0), weights = call.in(1);
  if (x.shape().rank() != 3 || weights.shape().rank() != 2) {
    throw user_error(
        "operands must be [batch, seq, hidden] and [hidden, 3 * hidden], not {} and {}",
        x.type().to_string(), weights.type().to_string());
  }
  const int64_t width = constant_extent(weights.shape()[1], "the width of the weights");
  const std::vector<int64_t> sizes =
      call.integers("qkv_hidden_sizes").value_or(std::vector<int64_t>(3, width / 3));
  if (sizes.size() != 3 || sizes[0] != sizes[1] || sizes[0] + sizes[1] + sizes[2] != width) {
    throw user_error("q, k and v of sizes [{}] from weights of width {}", fmt::join(sizes, ", "),
                     width);
  }
  const int64_t heads = call.integer("num_heads");
  Value packed = g.matmul(x, weights);
  if (Value bias = call.maybe(2)) packed = g.add(packed, bias);
  const std::vector<Value> parts = g.split(packed, 2, {sizes[0], sizes[1], sizes[2]});
  return {split_heads(call, parts[0], heads), split_heads(call, parts[1], heads),
          split_heads(call, parts[2], heads)};
}

}  // namespace

Results attention(Call& call) {
  call.reject_input(6, "past_sequence_length");
  for (std::string_view name : {"do_rotary", "past_present_share_buffer"}) {
    if (call.flag(name, false)) throw unsupported_error("{}=1 is not supported", name);
  }
  call.integer("rotary_embedding_dim", 0);
  auto [q, k, v] = project(call);
  KeyMask mask{.mask = call.maybe(3), .batch = q.shape()[0], .queries = q.shape()[2]};
  if (Value past = call.maybe(4)) {
    if (past.shape().rank() != 5) throw user_error("past must have five axes");
    mask.past = past.shape()[3];
    k = call.g.concat({from_past(call, past, 0), k}, 2);
    v = call.g.concat({from_past(call, past, 1), v}, 2);
  }
  mask.keys = k.shape()[2];
  mask.causal = call.flag("unidirectional", false);
  mask.filter = call.number("mask_filter_value", -10000.0);
  Attend a{.q = q, .k = k, .v = v, .scale = call.number("scale", 0)};
  a.bias = key_bias(call, mask, call.maybe(5), q.dtype());
  Value y = join_heads(call, attend(call, a).result);
  return {y, call.wants(1) ? to_present(call, k, v) : Value{}};
}

// mask_index is the number of ones in each row of the mask; without a mask, zeros.
Results embed_layer_normalization(Call& call) {
  graph::Graph& g = call.g;
  Value ids = call.in(0), segments = call.maybe(1), words = call.in(2), positions = call.in(3);
  if (ids.shape().rank() != 2 || positions.shape().rank() != 2) {
    throw user_error("ids and position embeddings must have two axes, not {} and {}",
                     ids.type().to_string(), positions.type().to_string());
  }
  call.integer("mask_index_type", 0);  // about the declared type only
  const Dim batch = ids.shape()[0], seq = ids.shape()[1];
  Value sum = g.gather(words, ids, 0);
  if (segments) sum = g.add(sum, g.gather(call.in(4), segments, 0));
  Value position_ids = call.maybe(8);
  sum = g.add(sum,
              position_ids ? g.gather(positions, position_ids, 0) : first_rows(g, positions, seq));
  Value count;
  if (Value mask = call.maybe(7)) {
    Value ones = g.binary(Op::Equal, mask, g.scalar(mask.dtype(), 1));
    if (mask.shape().rank() != 2) throw user_error("the mask must have two axes");
    count = g.reshape(g.reduce(Op::ReduceSum, g.cast(ones, DType::I32), {1}), {batch});
  } else if (call.wants(1)) {
    count = g.expand(g.scalar(DType::I32, 0), {batch});
  }
  const double epsilon = call.number("epsilon", 1e-12f);
  return {g.layer_norm(sum, call.in(5), call.in(6), epsilon), count, sum};
}

}  // namespace tenon::onnx::importers
