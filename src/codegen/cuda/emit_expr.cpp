// Expressions: each node becomes a variable, or one per lane where it differs by lane.
#include "base/error.h"
#include "codegen/cuda/emitter.h"
#include "codegen/text/scalar_ops.h"

namespace tenon::codegen::cuda {

using kernel::Op;

Value Emitter::variable(DType dtype, const std::vector<std::string>& lanes) {
  Value result{dtype, {}};
  for (const std::string& text : lanes) {
    result.lanes.push_back(fresh("t"));
    line("const {} {} = {};", scalar_type(dtype), result.lanes.back(), text);
  }
  return result;
}

Value Emitter::emit_expr(const kernel::ExprRef& ref) {
  const kernel::Expr& expr = *ref;
  if (const auto it = memo_.find(&expr); it != memo_.end()) return it->second;
  Value result;
  switch (expr.op) {
    case Op::Const:
      result = {expr.dtype, {constant_text(expr.dtype, expr.value)}};
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
      result = emit_pointwise(expr);
  }
  return memo_[&expr] = result;
}

Value Emitter::emit_index(const kernel::Expr& expr) {
  std::vector<std::string> lanes;
  bool wide = false;
  for (int64_t lane = 0; lane < lanes_of(is_varying(expr.index)); ++lane) {
    const IndexText text = index(expr.index, lane);
    lanes.push_back(text.text);
    wide = wide || text.wide;
  }
  return emit_cast(variable(wide ? DType::I64 : DType::I32, lanes), expr.dtype);
}

Value Emitter::emit_in_range(const kernel::Expr& expr) {
  std::vector<std::string> lanes;
  const bool differs = is_varying(expr.index) || is_varying(expr.bound);
  for (int64_t lane = 0; lane < lanes_of(differs); ++lane)
    lanes.push_back(in_range(expr.index, expr.bound, lane));
  return variable(DType::Bool, lanes);
}

Value Emitter::emit_cast(const Value& x, DType to) {
  const DType from = x.dtype;
  if (from == to) return x;
  TENON_CHECK(kernel::is_plain_cast_on_gpu(from, to), "kernel {}: no CUDA for a cast of {} to {}",
              kernel_.name, to_string(from), to_string(to));
  const bool by_function =
      (is_float(from) && is_integer(to)) || !kernel::is_computed(from) || !kernel::is_computed(to);
  std::vector<std::string> lanes;
  for (const std::string& lane : x.lanes) {
    if (to == DType::Bool) {
      lanes.push_back(fmt::format("{} != 0", lane));
    } else if (by_function) {
      lanes.push_back(fmt::format("{}_of_{}({})", to_string(to), to_string(from), lane));
    } else {
      lanes.push_back(fmt::format("({}){}", scalar_type(to), lane));
    }
  }
  return variable(to, lanes);
}

Value Emitter::emit_pointwise(const kernel::Expr& expr) {
  std::vector<Value> x;
  bool differs = false;
  for (const kernel::ExprRef& arg : expr.args) {
    x.push_back(emit_expr(arg));
    differs = differs || x.back().varies();
  }
  if (expr.op == Op::Cast) return emit_cast(x[0], expr.dtype);
  const DType dtype = expr.args.back()->dtype;
  std::vector<std::string> lanes;
  for (int64_t lane = 0; lane < lanes_of(differs); ++lane) {
    std::vector<std::string> operands;
    for (const Value& value : x) operands.push_back(value.at(lane));
    if (expr.op == Op::BitCast) {
      lanes.push_back(fmt::format("bits_as<{}>({})", scalar_type(expr.dtype), operands[0]));
      continue;
    }
    lanes.push_back(scalar_op_text(expr.op, dtype, operands));
    TENON_CHECK(!lanes.back().empty(), "kernel {}: no CUDA for {} of {}", kernel_.name,
                kernel::info(expr.op).text, to_string(dtype));
  }
  return variable(expr.dtype, lanes);
}

}  // namespace tenon::codegen::cuda
