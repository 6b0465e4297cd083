// Expressions, for the verifier: which ops the level has, how many operands of which dtypes they
// take, and that reductions bind their ranges.
#include <algorithm>
#include <unordered_map>

#include "kernel/verify_code.h"

namespace tenon::kernel {
namespace {

// What an op asks of the dtype of its operands.
enum class Domain : uint8_t { Any, Computed, Number, Integer, Float, Bool };

Domain domain_of(Op op) {
  switch (op) {
    case Op::Sqrt:
    case Op::Round:
    case Op::Floor:
    case Op::Pow2:
    case Op::Exponent:
    case Op::Mantissa:
    case Op::Scale:
      return Domain::Float;
    case Op::BitAnd:
    case Op::BitOr:
    case Op::BitXor:
    case Op::ShiftLeft:
    case Op::ShiftRight:
      return Domain::Integer;
    case Op::Not:
    case Op::And:
    case Op::Or:
      return Domain::Bool;
    case Op::Equal:
      return Domain::Computed;
    case Op::Select:
    case Op::Cast:
    case Op::BitCast:
      return Domain::Any;
    default:
      return has(op, kExpanded) ? Domain::Float : Domain::Number;
  }
}

bool in_domain(DType dtype, Domain domain) {
  if (domain == Domain::Any) return true;
  if (!is_computed(dtype)) return false;
  if (domain == Domain::Float) return is_float(dtype);
  if (domain == Domain::Integer) return is_integer(dtype);
  if (domain == Domain::Bool) return dtype == DType::Bool;
  return domain == Domain::Computed || dtype != DType::Bool;
}

class ExprVerifier {
 public:
  ExprVerifier(const Scope& outer, const ExprRef& root) : scope_(outer) { reach(root); }

 private:
  void reach(const ExprRef& root);
  void node(const Expr& expr) const;
  void leaf(const Expr& expr) const;
  void operands(const Expr& expr) const;

  Scope scope_;
};

// Inside of a reduction its range is bound, outside it is not; so nodes are looked at where they
// are reached, those that several reductions share once for each.
void ExprVerifier::reach(const ExprRef& root) {
  std::vector<const Expr*> stack{root.get()};
  std::vector<const Expr*> reductions;
  std::unordered_map<const Expr*, bool> seen;
  while (!stack.empty()) {
    const Expr* expr = stack.back();
    stack.pop_back();
    if (!seen.emplace(expr, true).second) continue;
    node(*expr);
    if (has(expr->op, kReduce)) {
      reductions.push_back(expr);
      continue;
    }
    for (const ExprRef& arg : expr->args) stack.push_back(arg.get());
  }
  for (const Expr* reduction : reductions) {
    const Scope outside = scope_;
    const bool has_init = is_contraction(reduction->op);
    if (has_init) reach(reduction->args[2]);
    scope_.bind({Binding::Kind::Range, reduction->range[0], reduction->bound});
    for (size_t i = 0; i < reduction->args.size() - (has_init ? 1 : 0); ++i) {
      reach(reduction->args[i]);
    }
    scope_.restore(outside);
  }
}

void ExprVerifier::node(const Expr& expr) const {
  const OpInfo& op = info(expr.op);
  const unsigned forbidden = rules_of(scope_.kernel().level).forbidden_traits;
  scope_.check((op.traits & forbidden) == 0, "{} is not an op of this level", op.text);
  scope_.check(!scope_.in_vector || (op.traits & (kLanes | kReduce)) == 0,
               "{} inside of a vector loop", op.text);
  scope_.check(static_cast<int>(expr.args.size()) == op.operands, "{} has {} operands, not {}",
               op.text, expr.args.size(), op.operands);
  scope_.check(std::find(expr.args.begin(), expr.args.end(), nullptr) == expr.args.end(),
               "{} has a null operand", op.text);
  if (expr.args.empty()) {
    leaf(expr);
  } else {
    operands(expr);
  }
  if (!has(expr.op, kReduce)) return;
  scope_.check(expr.range.size() == 1, "{} needs one range", op.text);
  scope_.check_bound(expr.bound, op.text);
}

void ExprVerifier::leaf(const Expr& expr) const {
  if (expr.op == Op::Index) scope_.check_bound(expr.index, "index");
  if (expr.op == Op::InRange) {
    scope_.check_bound(expr.index, "in_range");
    scope_.check_bound(expr.bound, "in_range");
    scope_.check(expr.dtype == DType::Bool, "in_range is {}", to_string(expr.dtype));
  }
  if (expr.op != Op::Load && !has(expr.op, kLanes)) return;
  const Buffer& buffer = scope_.buffer(expr.buffer);
  scope_.check(expr.dtype == buffer.dtype, "buffer {} of {} is read as {}", buffer.name,
               to_string(buffer.dtype), to_string(expr.dtype));
  if (expr.op == Op::Load) return verify_access(scope_, expr.buffer, expr.index, expr.guards);
  scope_.check(buffer.storage == Storage::Register && buffer.elements.is_const(kLaneCount),
               "{}: buffer {} is no register buffer of {} elements", info(expr.op).text,
               buffer.name, kLaneCount);
}

void ExprVerifier::operands(const Expr& expr) const {
  const std::string_view op = info(expr.op).text;
  if (takes_groups(expr.op)) {
    const DType sums = contracting(expr.op)->groups;
    const bool groups = expr.args[0]->dtype == DType::U32 && expr.args[1]->dtype == DType::U32;
    const bool sum = expr.args[2]->dtype == sums && expr.dtype == sums;
    return scope_.check(groups && sum, "{} of {}, {} and {}", op, to_string(expr.args[0]->dtype),
                        to_string(expr.args[1]->dtype), to_string(expr.args[2]->dtype));
  }
  const size_t first = expr.op == Op::Select ? 1 : 0;
  const DType dtype = expr.args[first]->dtype;
  if (first == 1) {
    scope_.check(expr.args[0]->dtype == DType::Bool, "select on {}, not bool",
                 to_string(expr.args[0]->dtype));
  }
  for (size_t i = first; i < expr.args.size(); ++i) {
    scope_.check(expr.args[i]->dtype == dtype, "{} of {} and {}", op, to_string(dtype),
                 to_string(expr.args[i]->dtype));
  }
  scope_.check(in_domain(dtype, domain_of(expr.op)), "{} of {}", op, to_string(dtype));
  if (expr.op == Op::Cast) {
    const bool on_gpu = scope_.kernel().level == Level::Gpu;
    auto* const is_plain = on_gpu ? is_plain_cast_on_gpu : is_plain_cast;
    const bool expanded = (rules_of(scope_.kernel().level).forbidden_traits & kExpanded) != 0;
    scope_.check(!expanded || is_plain(dtype, expr.dtype),
                 "a cast of {} to {} is not an op of this level", to_string(dtype),
                 to_string(expr.dtype));
    return;
  }
  if (expr.op == Op::BitCast) {
    const bool holds =
        dtype != DType::Bool && expr.dtype != DType::Bool && size_of(dtype) == size_of(expr.dtype);
    scope_.check(holds, "{} has not the bits of {}", to_string(dtype), to_string(expr.dtype));
    return;
  }
  const DType result = has(expr.op, kBoolResult) ? DType::Bool : dtype;
  scope_.check(expr.dtype == result, "{} of {} gives {}, not {}", op, to_string(dtype),
               to_string(result), to_string(expr.dtype));
}

}  // namespace

void verify_expr(const Scope& scope, const ExprRef& root) { ExprVerifier(scope, root); }

}  // namespace tenon::kernel
