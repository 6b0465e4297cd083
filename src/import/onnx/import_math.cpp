// Importers of casts, of ops on bits and truth values, and of those with any number of operands.
#include <limits>

#include "import/onnx/compute.h"
#include "import/onnx/importers.h"
#include "import/onnx/ops/math.h"

namespace tenon::onnx::importers {
namespace {

Results cast_to(Call& call, DType to) {
  const bool saturate = call.flag("saturate", true);
  const std::string_view rounding = call.text("round_mode", "up");
  Value x = call.in(0);
  if (x.dtype() == to) return {x};
  graph::Attributes attributes{{"dtype", to}};
  if (is_storage_only(to) && is_float(to)) {
    if (!saturate) attributes.set("saturate", int64_t{0});
    if (to == DType::F8E8M0 && rounding != "up") {
      attributes.set("rounding", std::string(rounding));
    }
  }
  return {call.g.apply(Op::Cast, {x}, std::move(attributes))};
}

Value sum_of(Call& call, DType dtype) {
  Value result = as(call, call.in(0), dtype);
  for (int i = 1; i < call.inputs(); ++i) {
    result = call.g.add(result, as(call, call.in(i), dtype));
  }
  return result;
}

// All bits of an integer of this dtype set.
Value all_ones(Call& call, DType dtype) {
  auto bytes = std::make_shared<std::vector<std::byte>>(static_cast<size_t>(size_of(dtype)),
                                                        std::byte{0xff});
  return call.g.constant({Shape(), dtype}, {*bytes, bytes});
}

}  // namespace

Results cast(Call& call) { return cast_to(call, dtype_of(call.integer("to"), "attribute 'to'")); }
Results cast_like(Call& call) { return cast_to(call, call.in(1).dtype()); }

Results bit_cast(Call& call) {
  const DType to = dtype_of(call.integer("to"), "attribute 'to'");
  return {call.g.apply(Op::BitCast, {call.in(0)}, {{"dtype", to}})};
}

Results mod(Call& call) {
  const Op op = call.flag("fmod", false) ? Op::Remainder : Op::Mod;
  return {call.g.binary(op, call.in(0), call.in(1))};
}

Results bit_shift(Call& call) {
  const std::string_view direction = call.text("direction", "");
  if (direction != "LEFT" && direction != "RIGHT") {
    throw user_error("attribute 'direction' must be LEFT or RIGHT, not '{}'", direction);
  }
  const Op op = direction == "LEFT" ? Op::ShiftLeft : Op::ShiftRight;
  return {call.g.binary(op, call.in(0), call.in(1))};
}

Results bitwise_not(Call& call) {
  Value x = call.in(0);
  if (!is_integer(x.dtype())) throw user_error("{} has no bits", x.type().to_string());
  return {call.g.binary(Op::BitXor, x, all_ones(call, x.dtype()))};
}

Results logical_xor(Call& call) {
  return {call.g.unary(Op::Not, binary_op(call, Op::Equal).front())};
}

Results is_nan(Call& call) {
  Value x = call.in(0);
  if (is_storage_only(x.dtype())) x = call.g.cast(x, DType::F32);
  return {call.g.unary(Op::Not, call.g.binary(Op::Equal, x, x))};
}

Results is_inf(Call& call) {
  const bool negative = call.flag("detect_negative", true);
  const bool positive = call.flag("detect_positive", true);
  Value x = call.in(0);
  if (is_storage_only(x.dtype())) x = call.g.cast(x, DType::F32);
  if (!negative && !positive) {
    return {call.g.expand(call.g.scalar(DType::Bool, 0), x.shape().dims())};
  }
  if (negative && positive) x = call.g.unary(Op::Abs, x);
  constexpr double kInf = std::numeric_limits<double>::infinity();
  return {call.g.binary(Op::Equal, x, number_like(call, x, positive ? kInf : -kInf))};
}

// ONNX has it for integers too; in f32, where erf(4) is 1.
Results erf(Call& call) {
  Value x = call.in(0);
  const DType dtype = is_float(x.dtype()) ? x.dtype() : DType::F32;
  return {as(call, call.g.unary(Op::Erf, as(call, x, dtype)), x.dtype())};
}

Results sum(Call& call) {
  const DType dtype = call.in(0).dtype();
  return {as(call, sum_of(call, compute_dtype(dtype)), dtype)};
}

Results mean(Call& call) {
  const DType dtype = call.in(0).dtype();
  Value total = sum_of(call, compute_dtype(dtype));
  return {as(call, call.g.div(total, number_like(call, total, call.inputs())), dtype)};
}

}  // namespace tenon::onnx::importers
