// Importers of rotary position embeddings, of the standard and of ONNX Runtime.
#include "import/onnx/heads.h"
#include "import/onnx/ops/transformer.h"
#include "import/onnx/rotary.h"

namespace tenon::onnx {
namespace {

// Elements first, first + step, ... of the last axis.
Value part(Call& call, Value x, const Dim& first, const Dim& count, int64_t step) {
  const auto rank = static_cast<size_t>(x.shape().rank());
  std::vector<Dim> starts(rank, 0), extents = x.shape().dims();
  std::vector<int64_t> steps(rank, 1);
  starts.back() = first;
  extents.back() = count;
  steps.back() = step;
  return call.g.slice(x, starts, extents, steps);
}

Value woven(Call& call, Value even, Value odd) {
  std::vector<Dim> dims = even.shape().dims(), apart = dims;
  apart.emplace_back(1);
  Value pairs = call.g.concat({call.g.reshape(even, apart), call.g.reshape(odd, apart)},
                              static_cast<int64_t>(dims.size()));
  dims.back() = dims.back() * 2;
  return call.g.reshape(pairs, std::move(dims));
}

}  // namespace

Value rotated(Call& call, Value x, Value cosines, Value sines, bool interleaved) {
  graph::Graph& g = call.g;
  const int last = x.shape().rank() - 1;
  const Dim half = cosines.shape()[cosines.shape().rank() - 1], width = x.shape()[last];
  const Dim second = interleaved ? Dim(1) : half;
  const int64_t step = interleaved ? 2 : 1;
  Value a = part(call, x, 0, half, step), b = part(call, x, second, half, step);
  Value real = g.sub(g.mul(cosines, a), g.mul(sines, b));
  Value imaginary = g.add(g.mul(sines, a), g.mul(cosines, b));
  Value turned = interleaved ? woven(call, real, imaginary) : g.concat({real, imaginary}, last);
  if (width == half * 2) return turned;
  return g.concat({turned, part(call, x, half * 2, width - half * 2, 1)}, last);
}

namespace importers {
namespace {

// x with its heads on an axis of their own, and where they stand: behind or before the sequence.
struct Layout {
  Value x;
  bool heads_first;
  const Dim& batch() const { return x.shape()[0]; }
  const Dim& length() const { return x.shape()[heads_first ? 2 : 1]; }
  // cosines [batch or 1, length, n] with an axis for the heads
  Value spread(Call& call, Value table) const {
    const Shape& s = table.shape();
    if (heads_first) return call.g.reshape(table, {s[0], 1, s[1], s[2]});
    return call.g.reshape(table, {s[0], s[1], 1, s[2]});
  }
};

Layout layout_of(Value x) {
  if (x.shape().rank() != 3 && x.shape().rank() != 4) {
    throw user_error("the input must have three or four axes, not {}", x.type().to_string());
  }
  return {x, x.shape().rank() == 4};
}

Value apart(Call& call, Value x, const Dim& heads) {
  const Shape& s = x.shape();
  return call.g.reshape(x, {s[0], s[1], heads, quotient({s[2]}, {heads})});
}

void check_rotary_width(Value table, int64_t rotary) {
  const Dim& half = table.shape()[table.shape().rank() - 1];
  if (rotary != 0 && prove_equal(half * 2, rotary) == Proof::No) {
    throw user_error("rotary_embedding_dim is {}, but the tables are {}", rotary,
                     table.type().to_string());
  }
}

}  // namespace

Results rotary_embedding(Call& call) {
  graph::Graph& g = call.g;
  Layout at = layout_of(call.in(0));
  const int64_t heads = call.integer("num_heads", 0);
  if (!at.heads_first) {
    if (heads < 1) throw user_error("num_heads is needed for an input of three axes");
    at.x = apart(call, at.x, heads);
  }
  Value cosines = call.in(1), sines = call.in(2);
  if (Value ids = call.maybe(3)) {
    cosines = g.gather(cosines, ids, 0);
    sines = g.gather(sines, ids, 0);
  }
  if (cosines.shape().rank() != 3 || sines.shape().rank() != 3) {
    throw user_error("cosines and sines must be [batch, length, n], not {} and {}",
                     cosines.type().to_string(), sines.type().to_string());
  }
  check_rotary_width(cosines, call.integer("rotary_embedding_dim", 0));
  Value y = rotated(call, at.x, at.spread(call, cosines), at.spread(call, sines),
                    call.flag("interleaved", false));
  return {g.reshape(y, call.in(0).shape().dims())};
}

// Position ids are [batch, length], or one offset for all. Without num_heads, a head is as wide as
// the tables say.
Results fused_rotary_embedding(Call& call) {
  graph::Graph& g = call.g;
  Layout at = layout_of(call.in(0));
  Value ids = call.in(1), cosines = call.in(2), sines = call.in(3);
  if (cosines.shape().rank() != 2) throw user_error("cosines must have two axes");
  const int64_t heads = call.integer("num_heads", 0);
  const int64_t rotary = call.integer("rotary_embedding_dim", 0);
  call.number("scale", 1.0);               // ONNX Runtime's CPU kernel has no use for it
  call.flag("is_packed_batching", false);  // about strides only
  if (!at.heads_first) {
    const Dim width = at.x.shape()[2];
    if (rotary > 0 && heads < 1) throw user_error("rotary_embedding_dim needs num_heads");
    at.x = apart(call, at.x, heads > 0 ? Dim(heads) : quotient({width}, {cosines.shape()[1] * 2}));
  }
  check_rotary_width(cosines, rotary);
  if (ids.shape().rank() == 1) {
    Value all = g.cast(positions(call, at.length()), ids.dtype());
    ids = g.reshape(g.add(all, ids), {1, at.length()});
  }
  Value y = rotated(call, at.x, at.spread(call, g.gather(cosines, ids, 0)),
                    at.spread(call, g.gather(sines, ids, 0)), call.flag("interleaved", false));
  return {g.reshape(y, call.in(0).shape().dims())};
}

}  // namespace importers
}  // namespace tenon::onnx
