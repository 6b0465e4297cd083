// Writes functions and casts with the ops that every generator has, so that all generators and the
// interpreter give the same bits. A function that has no form for f32 is computed in f64, which
// makes it exact but for the last rounding.
#include "kernel/expand_math.h"

#include <algorithm>

#include "base/error.h"

namespace tenon::kernel {

namespace {

// In f64; `single` says that the operands are f32 and that the result will be rounded to one.
using InF64 = ExprRef (*)(const std::vector<ExprRef>& x, bool single);
using InF32 = ExprRef (*)(const ExprRef& x);

struct Row {
  Op op;
  InF64 in_f64;
  InF32 in_f32 = nullptr;
};

template <ExprRef (*function)(const ExprRef&)>
ExprRef plain(const std::vector<ExprRef>& x, bool) {
  return function(x[0]);
}
template <ExprRef (*function)(const ExprRef&, bool)>
ExprRef unary(const std::vector<ExprRef>& x, bool single) {
  return function(x[0], single);
}
template <ExprRef (*function)(const ExprRef&, const ExprRef&, bool)>
ExprRef binary(const std::vector<ExprRef>& x, bool single) {
  return function(x[0], x[1], single);
}

constexpr Row kRows[] = {
    {Op::Exp, plain<exp_f64>, exp_f32},
    {Op::Log, plain<log_f64>, log_f32},
    {Op::Erf, plain<erf_f64>, erf_f32},
    {Op::Tanh, plain<tanh_f64>, tanh_f32},
    {Op::Expm1, plain<expm1_f64>},
    {Op::Log1p, plain<log1p_f64>},
    {Op::Sin, unary<sin_f64>},
    {Op::Cos, unary<cos_f64>},
    {Op::Tan, unary<tan_f64>},
    {Op::Asin, plain<asin_f64>},
    {Op::Acos, plain<acos_f64>},
    {Op::Atan, plain<atan_f64>},
    {Op::Sinh, plain<sinh_f64>},
    {Op::Cosh, plain<cosh_f64>},
    {Op::Asinh, plain<asinh_f64>},
    {Op::Acosh, plain<acosh_f64>},
    {Op::Atanh, plain<atanh_f64>},
    {Op::Pow, binary<pow_f64>},
    {Op::Remainder, binary<remainder_f64>},
};

ExprRef expand(Op op, const std::vector<ExprRef>& operands) {
  const auto* row = std::ranges::find(kRows, op, &Row::op);
  TENON_CHECK(row != std::end(kRows), "no expansion of {}", info(op).text);
  const bool single = operands[0]->dtype == DType::F32;
  if (single && row->in_f32) return row->in_f32(operands[0]);
  std::vector<ExprRef> wide;
  for (const ExprRef& operand : operands) wide.push_back(cast(operand, DType::F64));
  return cast(row->in_f64(wide, single), operands[0]->dtype);
}

}  // namespace

namespace {

template <bool (*is_plain)(DType, DType)>
ExprRef expand_all(const ExprRef& root) {
  return transform(root, [](Expr& copy) -> ExprRef {
    if (copy.op == Op::Cast && !is_plain(copy.args[0]->dtype, copy.dtype)) {
      return expand_cast(copy.args[0], copy.dtype);
    }
    return has(copy.op, kExpanded) ? expand(copy.op, copy.args) : nullptr;
  });
}

}  // namespace

ExprRef expand_math(const ExprRef& root) { return expand_all<is_plain_cast>(root); }
ExprRef expand_math_for_gpu(const ExprRef& root) { return expand_all<is_plain_cast_on_gpu>(root); }

}  // namespace tenon::kernel
