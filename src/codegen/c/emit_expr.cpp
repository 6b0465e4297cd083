// Expressions: each node becomes a variable. A value that does not depend on the lane stays a
// scalar and is spread only where it meets a vector.
#include "base/error.h"
#include "codegen/c/emitter.h"
#include "codegen/text/scalar_ops.h"

namespace tenon::codegen::c {

using kernel::kLaneCount;
using kernel::Op;

namespace {

// How an op is written for vectors of these kinds of elements. {0}, {1}, {2}: the operands; {t}:
// the type of the first one, as the functions of the prelude are named; {s}: of its elements;
// {last}: their highest bit.
struct OpRow {
  Op op;
  unsigned kinds;
  const char* text;
};
constexpr OpRow kRows[] = {
    {Op::Neg, kNumberKind, "-{0}"},
    {Op::Abs, kNumberKind, "abs_{t}({0})"},
    {Op::Sqrt, kFloatKind, "sqrt_{t}({0})"},
    {Op::Round, kFloatKind, "round_{t}({0})"},
    {Op::Floor, kFloatKind, "floor_{t}({0})"},
    {Op::Pow2, kFloatKind, "pow2_{t}({0})"},
    {Op::Exponent, kFloatKind, "exponent_{t}({0})"},
    {Op::Mantissa, kFloatKind, "mantissa_{t}({0})"},
    {Op::Not, kBoolKind, "~{0}"},
    {Op::Add, kNumberKind, "{0} + {1}"},
    {Op::Sub, kNumberKind, "{0} - {1}"},
    {Op::Mul, kNumberKind, "{0} * {1}"},
    {Op::Scale, kFloatKind, "scale_{t}({0}, {1})"},
    {Op::Div, kFloatKind, "{0} / {1}"},
    {Op::Div, kIntegerKind, "div_{t}({0}, {1})"},
    {Op::Min, kNumberKind, "min_{t}({0}, {1})"},
    {Op::Max, kNumberKind, "max_{t}({0}, {1})"},
    {Op::Min, kBoolKind, "{0} & {1}"},
    {Op::Max, kBoolKind, "{0} | {1}"},
    {Op::Equal, kNumberKind | kBoolKind, "MASK({0} == {1})"},
    {Op::Less, kNumberKind, "MASK({0} < {1})"},
    {Op::LessEqual, kNumberKind, "MASK({0} <= {1})"},
    {Op::Less, kBoolKind, "~{0} & {1}"},
    {Op::LessEqual, kBoolKind, "~{0} | {1}"},
    {Op::And, kBoolKind, "{0} & {1}"},
    {Op::Or, kBoolKind, "{0} | {1}"},
    {Op::BitAnd, kIntegerKind, "{0} & {1}"},
    {Op::BitOr, kIntegerKind, "{0} | {1}"},
    {Op::BitXor, kIntegerKind, "{0} ^ {1}"},
    {Op::ShiftLeft, kIntegerKind, "{0} << ({1} & splat_{s}({last}))"},
    {Op::ShiftRight, kIntegerKind, "{0} >> ({1} & splat_{s}({last}))"},
    {Op::Fma, kFloatKind, "fma_{t}({0}, {1}, {2})"},
    {Op::Fma, kIntegerKind, "{0} * {1} + {2}"},
    {Op::Dot2, kFloatKind, "dot2_{t}({0}, {1}, {2})"},
    {Op::Dot4, kIntegerKind, "dot4_{t}({0}, {1}, {2})"},
    {Op::Select, kNumberKind | kBoolKind, "select_{t}({0}, {1}, {2})"},
};

std::string vector_op_text(Op op, DType dtype, std::span<const std::string> operands) {
  const auto operand = [&](size_t n) {
    return n < operands.size() ? std::string_view(operands[n]) : std::string_view();
  };
  for (const OpRow& row : kRows) {
    if (row.op != op || (row.kinds >> static_cast<int>(info(dtype).kind) & 1) == 0) continue;
    return fmt::format(fmt::runtime(row.text), operand(0), operand(1), operand(2),
                       fmt::arg("t", vector_type(dtype)), fmt::arg("s", scalar_type(dtype)),
                       fmt::arg("last", info(dtype).bits - 1));
  }
  return {};
}

}  // namespace

Value Emitter::variable(DType dtype, bool vector, const std::vector<std::string>& text) {
  Value result{dtype, vector, {}};
  const std::string type = vector ? vector_type(dtype) : scalar_type(dtype);
  for (const std::string& part : text) {
    result.parts.push_back(fresh("t"));
    line("const {} {} = {};", type, result.parts.back(), part);
  }
  return result;
}

Value Emitter::emit_expr(const kernel::ExprRef& ref) {
  const kernel::Expr& expr = *ref;
  if (const auto it = memo_.find(&expr); it != memo_.end()) return it->second;
  Value result;
  switch (expr.op) {
    case Op::Const:
      result = {expr.dtype, false, {constant_text(expr.dtype, expr.value)}};
      break;
    case Op::Load:
      result = emit_load(expr);
      break;
    case Op::InRange:
      result = emit_in_range(expr);
      break;
    case Op::Index:
      result = emit_index(expr);
      break;
    default:
      result = has(expr.op, kernel::kLanes) ? emit_lanes(expr) : emit_pointwise(expr);
  }
  return memo_[&expr] = result;
}

Value Emitter::emit_index(const kernel::Expr& expr) {
  const Dim index = known(expr.index);
  if (!is_lane_varying(index))
    return emit_cast(variable(DType::I64, false, {dim(index)}), expr.dtype);
  std::vector<std::string> lanes;
  for (int64_t lane = 0; lane < kLaneCount; ++lane) lanes.push_back(dim_at(index, lane));
  return emit_cast(list_of_lanes(DType::I64, lanes), expr.dtype);
}

Value Emitter::emit_cast(const Value& x, DType to) {
  const DType from = x.dtype;
  if (from == to) return x;
  TENON_CHECK(kernel::is_plain_cast(from, to), "kernel {}: no C for a cast of {} to {}",
              kernel_.name, to_string(from), to_string(to));
  const std::string source = x.vector ? vector_type(from) : scalar_type(from);
  const std::string target = x.vector ? vector_type(to) : scalar_type(to);
  std::vector<std::string> parts;
  for (const std::string& part : x.parts) {
    if (to == DType::Bool) {
      parts.push_back(x.vector ? fmt::format("MASK({} != ({}){{}})", part, source)
                               : fmt::format("{} != 0", part));
    } else if (from == DType::Bool) {
      parts.push_back(x.vector ? fmt::format("CONVERT(-{}, {})", part, target) : part);
    } else if (from == DType::F16 || to == DType::F16) {
      parts.push_back(
          fmt::format("{}_of_{}{}({})", to_string(to), to_string(from), x.vector ? "v" : "", part));
    } else if (is_float(from) && is_integer(to)) {
      parts.push_back(fmt::format("{}_of_{}({})", scalar_type(to), source, part));
    } else {
      parts.push_back(x.vector ? fmt::format("CONVERT({}, {})", part, target)
                               : fmt::format("({}){}", target, part));
    }
  }
  return variable(to, x.vector, parts);
}

Value Emitter::emit_bit_cast(const Value& x, DType to) {
  std::vector<std::string> parts;
  for (const std::string& part : x.parts) {
    parts.push_back(
        x.vector ? fmt::format("({}){}", vector_type(to), part)
                 : fmt::format("BITS({}, {}, {})", scalar_type(x.dtype), scalar_type(to), part));
  }
  return variable(to, x.vector, parts);
}

Value Emitter::emit_pointwise(const kernel::Expr& expr) {
  std::vector<Value> x;
  bool vector = false;
  for (const kernel::ExprRef& arg : expr.args) {
    x.push_back(emit_expr(arg));
    vector = vector || x.back().vector;
  }
  if (expr.op == Op::Cast) return emit_cast(x[0], expr.dtype);
  if (expr.op == Op::BitCast) return emit_bit_cast(x[0], expr.dtype);
  if (vector) {
    for (Value& value : x) value = splat(value);
  }
  const DType dtype = expr.args.back()->dtype;
  std::vector<std::string> parts;
  for (size_t i = 0; i < x[0].parts.size(); ++i) {
    std::vector<std::string> operands;
    for (const Value& value : x) operands.push_back(value.parts[i]);
    parts.push_back((vector ? vector_op_text : scalar_op_text)(expr.op, dtype, operands));
    TENON_CHECK(!parts.back().empty(), "kernel {}: no C for {} of {}", kernel_.name,
                kernel::info(expr.op).text, to_string(dtype));
  }
  return variable(expr.dtype, vector, parts);
}

}  // namespace tenon::codegen::c
