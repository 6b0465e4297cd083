// Importers of ONNX Runtime's fused transformer ops (domain com.microsoft), with the meaning its
// CPU kernels give them.
#include <algorithm>

#include "import/onnx/importers.h"

namespace tenon::onnx::importers {
namespace {

constexpr int64_t kMostKeys = 1 << 20;  // of a mask given as lengths

// 0, 1, 2, ... as i32[keys]: the first `keys` of a table as long as `keys` can get.
Value arange(Call& call, const Dim& keys) {
  const int64_t most = keys.bounds().hi;
  if (most > kMostKeys) {
    throw unsupported_error("a mask of lengths needs a bound on {} (dim_bounds)", keys.to_string());
  }
  auto numbers = std::make_shared<std::vector<int32_t>>(static_cast<size_t>(most));
  for (size_t i = 0; i < numbers->size(); ++i) (*numbers)[i] = static_cast<int32_t>(i);
  LoadedTensor table{{{Dim(most)}, DType::I32}, {std::as_bytes(std::span(*numbers)), numbers}};
  return first_rows(call.g, call.shared_leaf(std::move(table), fmt::format("arange_{}", most)),
                    keys);
}

// What is added to the scores, broadcast to [batch, heads, queries, keys]: `filter` where a key is
// masked.
Value additive_mask(Call& call, Value mask, const Dim& batch, const Dim& keys, DType dtype,
                    double filter) {
  graph::Graph& g = call.g;
  const Shape& shape = mask.shape();
  if (!is_integer(mask.dtype())) throw user_error("the mask must be of integers");
  Value valid;
  if (shape.rank() == 1) {
    if (prove_equal(shape[0], batch) == Proof::No) {
      throw unsupported_error("a mask of start and end positions is not supported");
    }
    Value lengths = g.reshape(mask, {batch, 1, 1, 1});
    if (mask.dtype() != DType::I32) lengths = g.cast(lengths, DType::I32);
    valid = g.binary(Op::Less, arange(call, keys), lengths);
  } else if (shape.rank() == 2 || shape.rank() == 3) {
    const Dim queries = shape.rank() == 3 ? shape[1] : Dim(1);
    Value raw = g.reshape(mask, {shape[0], 1, queries, shape[shape.rank() - 1]});
    valid = g.binary(Op::Less, g.scalar(mask.dtype(), 0), raw);
  } else {
    throw unsupported_error("a mask of type {} is not supported", mask.type().to_string());
  }
  return g.apply(Op::Where, {valid, g.scalar(dtype, 0.0), g.scalar(dtype, filter)});
}

int64_t constant_extent(const Dim& dim, std::string_view what) {
  if (!dim.is_const())
    throw unsupported_error("{} must be constant, not {}", what, dim.to_string());
  return dim.const_value();
}

}  // namespace

// Keys at or past mask_index[row], or where the raw mask is 0, get mask_filter_value added to their
// scores.
Results attention(Call& call) {
  graph::Graph& g = call.g;
  Value x = call.in(0), weights = call.in(1);
  call.reject_input(4, "past");
  call.reject_input(6, "past_sequence_length");
  call.reject_output(1, "present");
  for (std::string_view name : {"unidirectional", "do_rotary", "past_present_share_buffer"}) {
    if (call.flag(name, false)) throw unsupported_error("{}=1 is not supported", name);
  }
  call.integer("rotary_embedding_dim", 0);
  if (x.shape().rank() != 3 || weights.shape().rank() != 2) {
    throw user_error(
        "operands must be [batch, seq, hidden] and [hidden, 3 * hidden], not {} and {}",
        x.type().to_string(), weights.type().to_string());
  }
  const int64_t width = constant_extent(weights.shape()[1], "the width of the weights");
  std::vector<int64_t> sizes =
      call.integers("qkv_hidden_sizes").value_or(std::vector<int64_t>(3, width / 3));
  if (sizes.size() != 3 || sizes[0] != sizes[1] || sizes[0] != sizes[2] || sizes[0] * 3 != width) {
    throw unsupported_error("q, k and v of sizes [{}] from weights of width {}",
                            fmt::join(sizes, ", "), width);
  }
  const int64_t heads = call.integer("num_heads");
  if (heads < 1 || sizes[0] % heads != 0) {
    throw user_error("num_heads {} does not divide the hidden size {}", heads, sizes[0]);
  }
  Value packed = g.matmul(x, weights);
  if (Value bias = call.maybe(2)) packed = g.add(packed, bias);
  std::vector<Value> qkv = g.split(packed, 2, {sizes[0], sizes[1], sizes[2]});
  graph::AttentionOptions options{.heads = heads, .head_dim = sizes[0] / heads};
  options.scale = call.number("scale", 0);
  const double filter = call.number("mask_filter_value", -10000.0);
  const Dim batch = x.shape()[0], keys = x.shape()[1];
  if (Value mask = call.maybe(3)) {
    options.mask = additive_mask(call, mask, batch, keys, x.dtype(), filter);
  }
  if (Value bias = call.maybe(5)) options.mask = options.mask ? g.add(options.mask, bias) : bias;
  return {g.attention(qkv[0], qkv[1], qkv[2], options), {}};
}

// The sum is built as matmul + bias + residual, which is what fusion looks for.
Results skip_layer_normalization(Call& call) {
  graph::Graph& g = call.g;
  call.reject_output(1, "mean");
  call.reject_output(2, "inverse standard deviation");
  Value sum = call.in(0), scale = call.in(2), shift = call.maybe(3);
  if (Value bias = call.maybe(4)) sum = g.add(sum, bias);
  sum = g.add(sum, call.in(1));
  if (!shift) shift = call.zeros_like_vector(scale);
  return {g.layer_norm(sum, scale, shift, call.number("epsilon", 1e-12f)), {}, {}, sum};
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
