// Expressions: each node becomes a variable. A value that does not depend on the lane stays a
// scalar and is spread only where it meets a vector.
#include <cmath>

#include "base/error.h"
#include "codegen/c/emitter.h"

namespace tenon::codegen::c {

using kernel::kLaneCount;
using kernel::Op;

namespace {

enum Kinds : unsigned {
  kBool = 1u << static_cast<int>(DTypeKind::Bool),
  kUnsigned = 1u << static_cast<int>(DTypeKind::Unsigned),
  kSigned = 1u << static_cast<int>(DTypeKind::Signed),
  kFloat = 1u << static_cast<int>(DTypeKind::Float),
  kInteger = kUnsigned | kSigned,
  kNumber = kInteger | kFloat,
};

// How an op is written in C for operands of these kinds. {0}, {1}, {2}: the operands; {t}: the C
// type of the first one, as the functions of the prelude are named; {s}: of its elements; {last}:
// their highest bit.
struct OpRow {
  Op op;
  unsigned kinds;
  const char* scalar;
  const char* vector;
};
constexpr OpRow kRows[] = {
    {Op::Neg, kNumber, "-{0}", "-{0}"},
    {Op::Abs, kNumber, "abs_{t}({0})", "abs_{t}({0})"},
    {Op::Sqrt, kFloat, "sqrt_{t}({0})", "sqrt_{t}({0})"},
    {Op::Round, kFloat, "round_{t}({0})", "round_{t}({0})"},
    {Op::Floor, kFloat, "floor_{t}({0})", "floor_{t}({0})"},
    {Op::Pow2, kFloat, "pow2_{t}({0})", "pow2_{t}({0})"},
    {Op::Exponent, kFloat, "exponent_{t}({0})", "exponent_{t}({0})"},
    {Op::Mantissa, kFloat, "mantissa_{t}({0})", "mantissa_{t}({0})"},
    {Op::Not, kBool, "!{0}", "~{0}"},
    {Op::Add, kNumber, "{0} + {1}", "{0} + {1}"},
    {Op::Sub, kNumber, "{0} - {1}", "{0} - {1}"},
    {Op::Mul, kNumber, "{0} * {1}", "{0} * {1}"},
    {Op::Scale, kFloat, "scale_{t}({0}, {1})", "scale_{t}({0}, {1})"},
    {Op::Div, kFloat, "{0} / {1}", "{0} / {1}"},
    {Op::Div, kInteger, "div_{t}({0}, {1})", "div_{t}({0}, {1})"},
    {Op::Min, kNumber, "min_{t}({0}, {1})", "min_{t}({0}, {1})"},
    {Op::Max, kNumber, "max_{t}({0}, {1})", "max_{t}({0}, {1})"},
    {Op::Min, kBool, "{0} & {1}", "{0} & {1}"},
    {Op::Max, kBool, "{0} | {1}", "{0} | {1}"},
    {Op::Equal, kNumber | kBool, "{0} == {1}", "MASK({0} == {1})"},
    {Op::Less, kNumber, "{0} < {1}", "MASK({0} < {1})"},
    {Op::LessEqual, kNumber, "{0} <= {1}", "MASK({0} <= {1})"},
    {Op::Less, kBool, "{0} < {1}", "~{0} & {1}"},
    {Op::LessEqual, kBool, "{0} <= {1}", "~{0} | {1}"},
    {Op::And, kBool, "{0} & {1}", "{0} & {1}"},
    {Op::Or, kBool, "{0} | {1}", "{0} | {1}"},
    {Op::BitAnd, kInteger, "{0} & {1}", "{0} & {1}"},
    {Op::BitOr, kInteger, "{0} | {1}", "{0} | {1}"},
    {Op::BitXor, kInteger, "{0} ^ {1}", "{0} ^ {1}"},
    {Op::ShiftLeft, kInteger, "{0} << ({1} & {last})", "{0} << ({1} & splat_{s}({last}))"},
    {Op::ShiftRight, kInteger, "{0} >> ({1} & {last})", "{0} >> ({1} & splat_{s}({last}))"},
    {Op::Fma, kFloat, "fma_{t}({0}, {1}, {2})", "fma_{t}({0}, {1}, {2})"},
    {Op::Fma, kInteger, "{0} * {1} + {2}", "{0} * {1} + {2}"},
};

const OpRow* find_row(Op op, DType dtype) {
  for (const OpRow& row : kRows) {
    if (row.op == op && (row.kinds >> static_cast<int>(info(dtype).kind) & 1)) return &row;
  }
  return nullptr;
}

template <typename T>
std::string float_text(T value, const char* suffix) {
  if (std::isnan(value)) return fmt::format("__builtin_nan{}(\"\")", suffix);
  if (std::isinf(value)) return fmt::format("({}__builtin_inf{}())", value < 0 ? "-" : "", suffix);
  const std::string text = fmt::format("{:a}{}", value, suffix);
  return std::signbit(value) ? "(" + text + ")" : text;
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

Value Emitter::emit_constant(DType dtype, double value) {
  if (dtype == DType::F32) return {dtype, false, {float_text(static_cast<float>(value), "f")}};
  if (dtype == DType::F64) return {dtype, false, {float_text(value, "")}};
  uint64_t bits = 0;
  if (dtype == DType::U64) {
    bits = static_cast<uint64_t>(value);  // beyond the range of i64, too
  } else {
    store_from_f64(dtype, &bits, value);
  }
  return {dtype, false, {fmt::format("(({}){}u)", scalar_type(dtype), bits)}};
}

Value Emitter::emit_expr(const kernel::ExprRef& ref) {
  const kernel::Expr& expr = *ref;
  if (const auto it = memo_.find(&expr); it != memo_.end()) return it->second;
  Value result;
  switch (expr.op) {
    case Op::Const:
      result = emit_constant(expr.dtype, expr.value);
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
  const char* pattern = nullptr;
  DType dtype = expr.args[0]->dtype;
  if (expr.op == Op::Select) {
    pattern = vector ? "select_{t}({0}, {1}, {2})" : "{0} ? {1} : {2}";
    dtype = expr.dtype;
  } else if (const OpRow* row = find_row(expr.op, dtype)) {
    pattern = vector ? row->vector : row->scalar;
  } else {
    throw internal_error("kernel {}: no C for {} of {}", kernel_.name, kernel::info(expr.op).text,
                         to_string(dtype));
  }
  const std::string type = vector ? vector_type(dtype) : scalar_type(dtype);
  std::vector<std::string> parts;
  for (size_t i = 0; i < x[0].parts.size(); ++i) {
    const auto operand = [&](size_t n) {
      return n < x.size() ? std::string_view(x[n].parts[i]) : std::string_view();
    };
    parts.push_back(fmt::format(fmt::runtime(pattern), operand(0), operand(1), operand(2),
                                fmt::arg("t", type), fmt::arg("s", scalar_type(dtype)),
                                fmt::arg("last", info(dtype).bits - 1)));
  }
  return variable(expr.dtype, vector, parts);
}

}  // namespace tenon::codegen::c
