// Importers of leaves, and of elementwise ops that every model has.
#include <algorithm>
#include <cstring>

#include "import/onnx/compute.h"
#include "import/onnx/importers.h"
#include "import/onnx/run_time_shapes.h"

namespace tenon::onnx::importers {
namespace {

// Before opset 7 the second operand is spread only where the model says so, and its axes meet those
// of the first from `axis` on (the last ones where that is absent).
Value old_broadcast(Call& call, Value a, Value b) {
  if (call.opset() >= 7 || !call.flag("broadcast", false)) return b;
  const int rank = a.shape().rank(), given = b.shape().rank();
  const int64_t axis = call.integer("axis", rank - given);
  const int64_t start = axis < 0 ? axis + rank : axis;
  if (start < 0 || start + given > rank) throw user_error("axis {} is out of range", axis);
  std::vector<Dim> dims = b.shape().dims();
  dims.insert(dims.end(), static_cast<size_t>(rank - start - given), 1);
  return call.g.reshape(b, std::move(dims));
}

template <typename T>
LoadedTensor literal(Shape shape, DType dtype, std::span<const T> values) {
  auto bytes = std::make_shared<std::vector<std::byte>>(values.size_bytes());
  if (!values.empty()) std::memcpy(bytes->data(), values.data(), values.size_bytes());
  return {{std::move(shape), dtype}, {*bytes, bytes}};
}

template <typename T>
LoadedTensor vector_literal(DType dtype, const std::vector<T>& values) {
  return literal<T>({Dim(static_cast<int64_t>(values.size()))}, dtype, values);
}

}  // namespace

Results constant(Call& call) {
  const std::string name = call.output_name(0);
  if (const AttributeProto* a = call.find("value")) {
    if (!a->t) throw user_error("attribute 'value' must be a tensor");
    return {call.leaf(*a->t, name)};
  }
  if (call.find("value_float")) {
    const float value[] = {static_cast<float>(call.number("value_float", 0))};
    return {call.leaf(literal<float>({}, DType::F32, value), name)};
  }
  if (call.find("value_int")) {
    const int64_t value[] = {call.integer("value_int")};
    return {call.leaf(literal<int64_t>({}, DType::I64, value), name)};
  }
  if (const AttributeProto* a = call.find("value_floats")) {
    return {call.leaf(vector_literal(DType::F32, a->floats), name)};
  }
  if (const auto values = call.integers("value_ints")) {
    return {call.leaf(vector_literal(DType::I64, *values), name)};
  }
  for (std::string_view kind : {"value_string", "value_strings", "sparse_value"}) {
    if (call.find(kind)) throw unsupported_error("constants of kind '{}' are not supported", kind);
  }
  throw user_error("it has no value");
}

Results constant_of_shape(Call& call) {
  Value value = call.g.scalar(DType::F32, 0.0);
  if (const AttributeProto* a = call.find("value")) {
    if (!a->t) throw user_error("attribute 'value' must be a tensor");
    value = call.leaf(*a->t, call.output_name(0));
    if (!value.shape().elements().is_const(1)) {
      throw user_error("attribute 'value' must have one element, not {}", value.type().to_string());
    }
    value = call.g.reshape(value, {});
  }
  return {expand_to(call.g, value, call.in(0))};
}

Results identity(Call& call) { return {call.in(0)}; }

// Half-open, negative from the end, clamped: the `start` and `end` of opset 15.
Results shape(Call& call) {
  const Shape& shape = call.in(0).shape();
  const int64_t rank = shape.rank();
  const auto clamp = [&](int64_t at) {
    return std::clamp(at < 0 ? at + rank : at, int64_t{0}, rank);
  };
  const int64_t start = clamp(call.integer("start", 0));
  const int64_t end = std::max(start, clamp(call.integer("end", rank)));
  return {call.g.dims({shape.begin() + start, shape.begin() + end})};
}

Results binary_op(Call& call, Op op) {
  Value a = call.in(0), b = old_broadcast(call, a, call.in(1));
  return {call.g.binary(op, a, b)};
}

Results swapped_op(Call& call, Op op) {
  Value a = call.in(0), b = old_broadcast(call, a, call.in(1));
  return {call.g.binary(op, b, a)};
}

// The result has the dtype of the base. Where the exponent has another one, both go to one that
// holds them; a constant exponent of a float base is rounded to it, which keeps x^2 easy to see.
Results pow(Call& call) {
  Value base = call.in(0), exponent = old_broadcast(call, base, call.in(1));
  const DType dtype = base.dtype();
  if (exponent.dtype() == dtype) return {call.g.binary(Op::Pow, base, exponent)};
  if (is_float(dtype) && exponent.op() == Op::Constant) {
    return {call.g.binary(Op::Pow, base, call.g.cast(exponent, dtype))};
  }
  const DType wide = promote(dtype, exponent.dtype());
  return {as(call, call.g.binary(Op::Pow, as(call, base, wide), as(call, exponent, wide)), dtype)};
}

Results where(Call& call) {
  return {call.g.apply(Op::Where, {call.in(0), call.in(1), call.in(2)})};
}

Results gelu(Call& call) {
  const std::string_view approximate = call.text("approximate", "none");
  if (approximate == "none") return {call.g.gelu(call.in(0))};
  if (approximate == "tanh") return {call.g.unary(Op::GeluTanh, call.in(0))};
  throw user_error("attribute 'approximate' must be 'none' or 'tanh', not '{}'", approximate);
}

Results bias_gelu(Call& call) { return {call.g.gelu(call.g.add(call.in(0), call.in(1)))}; }

Results fast_gelu(Call& call) {
  Value x = call.in(0);
  if (Value bias = call.maybe(1)) x = call.g.add(x, bias);
  return {call.g.unary(Op::GeluTanh, x)};
}

Results erf_gelu(Call& call) { return {call.g.gelu(call.in(0))}; }

}  // namespace tenon::onnx::importers
