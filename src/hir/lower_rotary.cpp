// Rotary embedding: the tables of angles, and the turning.
#include <cmath>

#include "base/error.h"
#include "hir/lowering.h"

namespace tenon::hir {

using graph::Op;
using graph::Value;

namespace {

// 1 / theta^(2i / dim), as f32.
Value frequencies(Lowering& to, int64_t dim, double theta) {
  auto numbers = std::make_shared<std::vector<float>>();
  for (int64_t i = 0; i < dim; i += 2) {
    const double power = static_cast<double>(i) / static_cast<double>(dim);
    numbers->push_back(static_cast<float>(std::pow(theta, -power)));
  }
  return to.g.constant({{dim / 2}, DType::F32}, {std::as_bytes(std::span(*numbers)), numbers});
}

// position * frequency: [seq, dim/2], or [batch, seq, dim/2] where positions are given.
Value angles(Lowering& to, Value x, int64_t dim, const RotaryOptions& options) {
  Value positions = to[options.positions];
  if (positions && (!is_integer(positions.dtype()) || positions.shape().rank() != 2))
    throw user_error("positions must be integers [batch, seq]: {}", positions.type().to_string());
  if (!positions) positions = to.positions(x.shape()[1]);
  std::vector<Dim> shape = positions.shape().dims();
  shape.push_back(1);
  const Value real = to.g.reshape(to.g.cast(positions, DType::F32), std::move(shape));
  return to.g.mul(real, frequencies(to, dim, options.theta));
}

}  // namespace

Value Lowering::rotary(Value x, Value cos, Value sin, int64_t heads, bool interleaved) {
  const Dim batch = x.shape()[0], length = x.shape()[1], width = x.shape()[2];
  const Dim head_dim = floordiv(width, heads), half = cos.shape()[cos.shape().rank() - 1];
  const Dim table_batch = cos.shape().rank() == 3 ? batch : Dim(1);
  cos = g.reshape(cos, {table_batch, length, 1, half});
  sin = g.reshape(sin, {table_batch, length, 1, half});
  const Value split = g.reshape(x, {batch, length, heads, head_dim});
  Value a, b;
  if (interleaved) {
    const Value pairs = g.reshape(part(split, 3, 0, half + half), {batch, length, heads, half, 2});
    a = g.reshape(part(pairs, 4, 0, 1), {batch, length, heads, half});
    b = g.reshape(part(pairs, 4, 1, 1), {batch, length, heads, half});
  } else {
    a = part(split, 3, 0, half);
    b = part(split, 3, half, half);
  }
  Value turned_a = g.sub(g.mul(a, cos), g.mul(b, sin));
  Value turned_b = g.add(g.mul(b, cos), g.mul(a, sin));
  if (interleaved) {
    turned_a = g.reshape(turned_a, {batch, length, heads, half, 1});
    turned_b = g.reshape(turned_b, {batch, length, heads, half, 1});
  }
  Value turned = g.concat({turned_a, turned_b}, interleaved ? 4 : 3);
  if (interleaved) turned = g.reshape(turned, {batch, length, heads, half + half});
  const Dim rest = head_dim - half - half;
  if (!rest.is_const(0)) turned = g.concat({turned, part(split, 3, half + half, rest)}, 3);
  return g.reshape(turned, {batch, length, width});
}

Value rotate(Lowering& to, Value x, const RotaryOptions& options) {
  if (x.shape().rank() != 3 || !x.shape()[2].is_const())
    throw user_error("x needs three axes, the last of a constant extent: {}", x.type().to_string());
  const int64_t width = x.shape()[2].const_value();
  if (options.heads < 1 || width % options.heads != 0)
    throw user_error("{} heads do not divide a width of {}", options.heads, width);
  Value cos = to[options.cos], sin = to[options.sin];
  if (static_cast<bool>(cos) != static_cast<bool>(sin))
    throw user_error("cos and sin are given together, or both are left out");
  if (cos && options.positions) throw user_error("cos and sin are given: positions have no use");
  const int64_t head_dim = width / options.heads;
  const int64_t dim = options.dim == 0 ? head_dim : options.dim;
  if (dim < 2 || dim > head_dim || dim % 2 != 0)
    throw user_error("dim = {} is not even, or no part of a head of {}", dim, head_dim);
  for (const Value& table : {cos, sin}) {
    const int rank = table ? table.shape().rank() : 0;
    if (table && (rank < 2 || rank > 3 || !table.shape()[rank - 1].is_const(dim / 2))) {
      throw user_error("cos and sin must be [seq, {0}] or [batch, seq, {0}]: {1}", dim / 2,
                       table.type().to_string());
    }
  }
  if (!cos) {
    if (!(options.theta > 0)) throw user_error("theta = {} is not allowed", options.theta);
    const Value angle = angles(to, x, dim, options);
    const auto as_x = [&](Value table) {
      return x.dtype() == DType::F32 ? table : to.g.cast(table, x.dtype());
    };
    cos = as_x(to.g.unary(Op::Cos, angle));
    sin = as_x(to.g.unary(Op::Sin, angle));
  }
  return to.rotary(x, cos, sin, options.heads, options.interleaved);
}

Results lower_block(Lowering& to, const Rotary& block) {
  return {rotate(to, to[block.x], block.options)};
}

}  // namespace tenon::hir
