// Rotary embedding: the tables of angles, where they are not given.
#include <cmath>

#include "base/error.h"
#include "hir/lowering.h"

namespace tenon::hir {

using graph::Op;
using graph::Value;

namespace {

// How many elements of a head turn.
int64_t turned(Value x, const RotaryOptions& options) {
  if (x.shape().rank() != 3 || !x.shape()[2].is_const())
    throw user_error("x needs three axes, the last of a constant extent: {}", x.type().to_string());
  const int64_t width = x.shape()[2].const_value();
  if (options.heads < 1 || width % options.heads != 0)
    throw user_error("{} heads do not divide a width of {}", options.heads, width);
  const int64_t head_dim = width / options.heads;
  const int64_t dim = options.dim == 0 ? head_dim : options.dim;
  if (dim < 2 || dim > head_dim || dim % 2 != 0)
    throw user_error("dim = {} is not even, or no part of a head of {}", dim, head_dim);
  return dim;
}

// Of tables: f64 for x of f64, else f32.
DType table_dtype(Value x) { return x.dtype() == DType::F64 ? DType::F64 : DType::F32; }

template <typename T>
Value vector_of(graph::Graph& g, DType dtype, const std::vector<double>& numbers) {
  auto data = std::make_shared<std::vector<T>>();
  for (const double number : numbers) data->push_back(static_cast<T>(number));
  const auto count = static_cast<int64_t>(numbers.size());
  return g.constant({{count}, dtype}, {std::as_bytes(std::span(*data)), data});
}

// 1 / theta^(2i / dim)
Value frequencies(graph::Graph& g, int64_t dim, double theta, DType dtype) {
  if (!(theta > 0)) throw user_error("theta = {} is not allowed", theta);
  std::vector<double> numbers;
  for (int64_t i = 0; i < dim; i += 2) {
    const double power = static_cast<double>(i) / static_cast<double>(dim);
    numbers.push_back(std::pow(theta, -power));
  }
  return dtype == DType::F64 ? vector_of<double>(g, dtype, numbers)
                             : vector_of<float>(g, dtype, numbers);
}

// position * frequency: [seq, dim/2], or [batch, seq, dim/2] where positions are given.
Value angles(Lowering& to, Value x, const RotaryOptions& options, const Dim& first) {
  Value positions = to[options.positions];
  if (positions && (!is_integer(positions.dtype()) || positions.shape().rank() != 2))
    throw user_error("positions must be integers [batch, seq]: {}", positions.type().to_string());
  const int64_t dim = turned(x, options);
  if (!positions) positions = to.positions(first, x.shape()[1]);
  std::vector<Dim> shape = positions.shape().dims();
  shape.emplace_back(1);
  const DType dtype = table_dtype(x);
  const Value real = to.g.reshape(to.g.cast(positions, dtype), std::move(shape));
  return to.g.mul(real, frequencies(to.g, dim, options.theta, dtype));
}

}  // namespace

Value Lowering::rotary(Value x, const RotaryOptions& options, const Dim& first) {
  Value cos = (*this)[options.cos], sin = (*this)[options.sin];
  if (static_cast<bool>(cos) != static_cast<bool>(sin))
    throw user_error("cos and sin are given together, or both are left out");
  if (cos && (options.positions || options.dim != 0))
    throw user_error("cos and sin say which elements turn and how: dim and positions have no use");
  if (!cos) {
    const Value angle = angles(*this, x, options, first);
    const auto like_x = [&](Value table) {
      return x.dtype() == table.dtype() ? table : g.cast(table, x.dtype());
    };
    cos = like_x(g.unary(Op::Cos, angle));
    sin = like_x(g.unary(Op::Sin, angle));
  }
  return g.rotary(x, cos, sin, {.heads = options.heads, .interleaved = options.interleaved});
}

Results lower_block(Lowering& to, const Rotary& block) {
  return {to.rotary(to[block.x], block.options)};
}

}  // namespace tenon::hir
