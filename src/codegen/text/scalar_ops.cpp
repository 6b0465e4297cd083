// See scalar_ops.h.
#include "codegen/text/scalar_ops.h"

#include <fmt/format.h>

#include "codegen/text/literals.h"

namespace tenon::codegen {

using kernel::Op;

namespace {

// {0}, {1}, {2}: the operands; {t}: their type; {w}: the unsigned one that integers are computed
// in, so that they wrap; {last}: their highest bit.
struct OpRow {
  Op op;
  unsigned kinds;
  const char* text;
};
constexpr OpRow kRows[] = {
    {Op::Neg, kFloatKind, "-{0}"},
    {Op::Neg, kIntegerKind, "({t})(0 - ({w}){0})"},
    {Op::Abs, kNumberKind, "abs_{t}({0})"},
    {Op::Sqrt, kFloatKind, "sqrt_{t}({0})"},
    {Op::Round, kFloatKind, "round_{t}({0})"},
    {Op::Floor, kFloatKind, "floor_{t}({0})"},
    {Op::Pow2, kFloatKind, "pow2_{t}({0})"},
    {Op::Exponent, kFloatKind, "exponent_{t}({0})"},
    {Op::Mantissa, kFloatKind, "mantissa_{t}({0})"},
    {Op::Not, kBoolKind, "!{0}"},
    {Op::Add, kFloatKind, "{0} + {1}"},
    {Op::Sub, kFloatKind, "{0} - {1}"},
    {Op::Mul, kFloatKind, "{0} * {1}"},
    {Op::Add, kIntegerKind, "({t})(({w}){0} + ({w}){1})"},
    {Op::Sub, kIntegerKind, "({t})(({w}){0} - ({w}){1})"},
    {Op::Mul, kIntegerKind, "({t})(({w}){0} * ({w}){1})"},
    {Op::Scale, kFloatKind, "scale_{t}({0}, {1})"},
    {Op::Div, kFloatKind, "{0} / {1}"},
    {Op::Div, kIntegerKind, "div_{t}({0}, {1})"},
    {Op::Min, kNumberKind, "min_{t}({0}, {1})"},
    {Op::Max, kNumberKind, "max_{t}({0}, {1})"},
    {Op::Min, kBoolKind, "{0} & {1}"},
    {Op::Max, kBoolKind, "{0} | {1}"},
    {Op::Equal, kNumberKind | kBoolKind, "{0} == {1}"},
    {Op::Less, kNumberKind | kBoolKind, "{0} < {1}"},
    {Op::LessEqual, kNumberKind | kBoolKind, "{0} <= {1}"},
    {Op::And, kBoolKind, "{0} & {1}"},
    {Op::Or, kBoolKind, "{0} | {1}"},
    {Op::BitAnd, kIntegerKind, "{0} & {1}"},
    {Op::BitOr, kIntegerKind, "{0} | {1}"},
    {Op::BitXor, kIntegerKind, "{0} ^ {1}"},
    {Op::ShiftLeft, kIntegerKind, "({t})(({w}){0} << ({1} & {last}))"},
    {Op::ShiftRight, kIntegerKind, "{0} >> ({1} & {last})"},
    {Op::Fma, kFloatKind, "fma_{t}({0}, {1}, {2})"},
    {Op::Fma, kIntegerKind, "({t})(({w}){0} * ({w}){1} + ({w}){2})"},
    {Op::Dot2, kFloatKind, "dot2_{t}({0}, {1}, {2})"},
    {Op::Dot4, kIntegerKind, "dot4_{t}({0}, {1}, {2})"},
    {Op::Select, kNumberKind | kBoolKind, "{0} ? {1} : {2}"},
};

}  // namespace

std::string scalar_op_text(Op op, DType dtype, std::span<const std::string> operands) {
  const auto operand = [&](size_t n) {
    return n < operands.size() ? std::string_view(operands[n]) : std::string_view();
  };
  for (const OpRow& row : kRows) {
    if (row.op != op || (row.kinds >> static_cast<int>(info(dtype).kind) & 1) == 0) continue;
    return fmt::format(fmt::runtime(row.text), operand(0), operand(1), operand(2),
                       fmt::arg("t", scalar_type(dtype)),
                       fmt::arg("w", size_of(dtype) == 8 ? "u64" : "u32"),
                       fmt::arg("last", info(dtype).bits - 1));
  }
  return {};
}

}  // namespace tenon::codegen
