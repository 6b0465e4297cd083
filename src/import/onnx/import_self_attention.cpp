// Importers of ONNX Runtime's Attention and its quantized form (domain com.microsoft): the
// projection to q, k and v, rotary positions, a cache that grows or one with room, masks of many
// forms.
#include <cmath>

#include "import/onnx/compute.h"
#include "import/onnx/importers.h"
#include "import/onnx/key_buffer.h"
#include "import/onnx/key_mask.h"
#include "import/onnx/ops/microsoft.h"
#include "import/onnx/quantized.h"
#include "import/onnx/rotary.h"

namespace tenon::onnx::importers {
namespace {

int64_t constant_extent(const Dim& dim, std::string_view what) {
  if (!dim.is_const())
    throw unsupported_error("{} must be constant, not {}", what, dim.to_string());
  return dim.const_value();
}

void check_projection(Value x, Value weights) {
  if (x.shape().rank() == 3 && weights.shape().rank() == 2) return;
  throw user_error("operands must be [batch, seq, hidden] and [hidden, 3 * hidden], not {} and {}",
                   x.type().to_string(), weights.type().to_string());
}

// [batch, seq, q + k + v], where the columns are those of q, k and v.
Qkv split_projected(Call& call, Value packed) {
  const int64_t width = constant_extent(packed.shape()[2], "the width of the weights");
  const std::vector<int64_t> sizes =
      call.integers("qkv_hidden_sizes").value_or(std::vector<int64_t>(3, width / 3));
  bool fits = sizes.size() == 3 && sizes[0] == sizes[1] && sizes[0] > 0 && sizes[2] > 0;
  fits = fits && sizes[0] <= width && width - sizes[0] - sizes[1] == sizes[2];
  if (!fits) {
    throw user_error("q, k and v of sizes [{}] from weights of width {}", fmt::join(sizes, ", "),
                     width);
  }
  const int64_t heads = call.integer("num_heads");
  const std::vector<Value> parts = call.g.split(packed, 2, {sizes[0], sizes[1], sizes[2]});
  return {split_heads(call, parts[0], heads), split_heads(call, parts[1], heads),
          split_heads(call, parts[2], heads)};
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

// Angle i of position p is p / 10000 ^ (2 i / width).
Value angles(Call& call, Value position, int64_t width) {
  graph::Graph& g = call.g;
  std::vector<float> frequencies;
  for (int64_t i = 0; i < width; i += 2) {
    const double exponent = static_cast<double>(i) / static_cast<double>(width);
    frequencies.push_back(static_cast<float>(std::pow(10000.0, -exponent)));
  }
  const Dim count = position.shape()[0];
  Value row =
      g.constant({{width / 2}, DType::F32}, {std::as_bytes(std::span(frequencies)), nullptr});
  return g.mul(g.reshape(g.cast(position, DType::F32), {count, 1}), row);
}

// q and k turned by their positions, the first of which is `before`.
void rotate(Call& call, Qkv& p, Value before) {
  graph::Graph& g = call.g;
  const int64_t head = constant_extent(p.q.shape()[3], "the width of a head");
  const int64_t given = call.integer("rotary_embedding_dim", 0);
  const int64_t width = given == 0 ? head : given;
  if (width < 2 || width % 2 != 0 || width > head || width > 1024) {
    throw user_error("rotary_embedding_dim {} of heads {} wide", width, head);
  }
  Value turn = angles(call, g.add(positions(call, p.q.shape()[2]), before), width);
  const DType dtype = p.q.dtype();
  Value cosines = as(call, g.unary(Op::Cos, turn), dtype);
  Value sines = as(call, g.unary(Op::Sin, turn), dtype);
  p.q = rotated(call, p.q, cosines, sines, false);
  p.k = rotated(call, p.k, cosines, sines, false);
}

struct Rest {
  Value mask, past, bias, past_length;
};

// What follows the projection.
Results attend_with_past(Call& call, Qkv p, const Rest& rest) {
  graph::Graph& g = call.g;
  const bool shares = call.flag("past_present_share_buffer", false);
  if (shares != (rest.past && rest.past_length)) {
    throw user_error("past_present_share_buffer, past and past_sequence_length come together");
  }
  if (rest.past && rest.past.shape().rank() != 5) throw user_error("past must have five axes");
  KeyMask mask{.mask = rest.mask, .batch = p.q.shape()[0], .queries = p.q.shape()[2]};
  Value past_key = rest.past ? from_past(call, rest.past, 0) : Value{};
  Value past_value = rest.past ? from_past(call, rest.past, 1) : Value{};
  std::optional<KeyBuffer> buffer;
  if (shares) {
    buffer = key_buffer(call, past_key, rest.past_length, mask.queries);
    mask.past_length = buffer->before;
  } else if (rest.past) {
    mask.past = rest.past.shape()[3];
  }
  call.integer("rotary_embedding_dim", 0);
  if (call.flag("do_rotary", false)) {
    rotate(call, p, shares ? buffer->before : to_i32(call, g.dims({mask.past})));
  }
  const auto extended = [&](Value past, Value fresh) {
    if (buffer) return buffer->written(call, past, fresh);
    return past ? g.concat({past, fresh}, 2) : fresh;
  };
  Value k = extended(past_key, p.k), v = extended(past_value, p.v);
  mask.keys = k.shape()[2];
  mask.causal = call.flag("unidirectional", false);
  mask.filter = call.number("mask_filter_value", -10000.0);
  Attend a{.q = p.q, .k = k, .v = v, .scale = call.number("scale", 0)};
  if (buffer) {
    mask.used = buffer->used(call);
    a.k = buffer->cleared(call, k);
    a.v = buffer->cleared(call, v);
  }
  a.bias = key_bias(call, mask, rest.bias, p.q.dtype());
  Value y = join_heads(call, attend(call, a).result);
  return {y, call.wants(1) ? to_present(call, k, v) : Value{}};
}

}  // namespace

Results attention(Call& call) {
  check_projection(call.in(0), call.in(1));
  Value packed = call.g.matmul(call.in(0), call.in(1));
  if (Value bias = call.maybe(2)) packed = call.g.add(packed, bias);
  return attend_with_past(call, split_projected(call, packed),
                          {call.maybe(3), call.maybe(4), call.maybe(5), call.maybe(6)});
}

// Input and weights are quantized: their product is one of integers.
Results quantized_attention(Call& call) {
  graph::Graph& g = call.g;
  Value x = call.in(0), weights = call.in(1);
  check_projection(x, weights);
  const auto parameter = [&](int i) {
    Value given = call.maybe(i);
    return given && given.shape().elements().is_const(1) ? g.reshape(given, {}) : given;
  };
  Value sum =
      g.matmul(without_zero(call, x, parameter(6)), without_zero(call, weights, parameter(7)));
  Value scale = g.mul(parameter(3), parameter(4));
  Value packed = g.mul(g.cast(sum, scale.dtype()), scale);
  packed = g.add(packed, call.in(2));
  return attend_with_past(call, split_projected(call, packed),
                          {call.maybe(5), call.maybe(8), {}, {}});
}

}  // namespace tenon::onnx::importers
