// Local identities. Those that attributes do not matter for are rules, one line each; the domain
// says for which element types a rule keeps every bit: floats have NaN, infinities and -0, integers
// wrap.
#include <algorithm>
#include <cmath>

#include "rewrite/match.h"
#include "simplify/movement.h"
#include "simplify/simplify.h"

namespace tenon::simplify {

using graph::Graph;
using graph::Node;
using graph::Op;
using graph::Value;

namespace {

using rewrite::kBool, rewrite::kFloat, rewrite::kInt;
using rewrite::Number, rewrite::OpId, rewrite::Pattern, rewrite::Rule;
using rewrite::x, rewrite::y, rewrite::z, rewrite::min, rewrite::max;

template <typename... Args>
constexpr Pattern of(Op op, const Args&... args) {
  return rewrite::op(static_cast<OpId>(op), args...);
}

constexpr rewrite::Domain kNumber = kInt | kFloat;
constexpr rewrite::Domain kAll = kInt | kFloat | kBool;

// clang-format off
constexpr Rule kRules[] = {
    // name            domain   from                                  to
    {"mul-one",        kNumber, x * 1,                                x},
    {"add-zero",       kInt,    x + 0,                                x},  // floats: -0 + 0 is +0
    {"sub-zero",       kNumber, x - 0,                                x},  // 0 never matches -0
    {"div-one",        kNumber, x / 1,                                x},
    {"mul-zero",       kInt,    x * 0,                                0},  // floats: NaN, signs
    {"sub-self",       kInt,    x - x,                                0},  // NOLINT
    {"neg-neg",        kNumber, -(-x),                                x},
    {"mul-minus-one",  kFloat,  x * -1,                               -x},
    {"add-neg",        kNumber, x + (-y),                             x - y},
    {"sub-neg",        kNumber, x - (-y),                             x + y},
    {"neg-sub",        kInt,    -(x - y),                             y - x},  // floats: -0
    {"min-self",       kNumber, min(x, x),                            x},
    {"max-self",       kNumber, max(x, x),                            x},
    {"min-absorb",     kInt,    min(x, max(x, y)),                    x},  // floats: NaN in y
    {"max-absorb",     kInt,    max(x, min(x, y)),                    x},
    {"pow-one",        kNumber, of(Op::Pow, x, 1),                    x},
    {"pow-two",        kNumber, of(Op::Pow, x, 2),                    x * x},
    {"abs-abs",        kNumber, of(Op::Abs, of(Op::Abs, x)),          of(Op::Abs, x)},
    {"abs-neg",        kFloat,  of(Op::Abs, -x),                      of(Op::Abs, x)},  // u8: wraps
    {"relu-relu",      kNumber, of(Op::Relu, of(Op::Relu, x)),        of(Op::Relu, x)},
    {"not-not",        kBool,   of(Op::Not, of(Op::Not, x)),          x},
    {"and-self",       kBool,   of(Op::And, x, x),                    x},
    {"or-self",        kBool,   of(Op::Or, x, x),                     x},
    {"and-true",       kBool,   of(Op::And, x, 1),                    x},
    {"or-false",       kBool,   of(Op::Or, x, 0),                     x},
    {"where-same",     kAll,    of(Op::Where, x, y, y),               y},
    {"where-true",     kAll,    of(Op::Where, 1, y, z),               y},
    {"where-false",    kAll,    of(Op::Where, 0, y, z),               z},
    {"where-not",      kAll,    of(Op::Where, of(Op::Not, x), y, z),  of(Op::Where, x, z, y)},
};
// clang-format on
static_assert(rewrite::valid(kRules));

rewrite::Domain domain_of(DType dtype) {
  if (dtype == DType::Bool) return kBool;
  return is_float(dtype) ? kFloat : kInt;
}

// The one number that all elements of a constant are. -0 is none: no rule may take it for 0.
std::optional<Number> splat(const Value& value) {
  if (value.op() != Op::Constant || value.node->bytes().empty()) return std::nullopt;
  const std::span<const std::byte> bytes = value.node->bytes();
  const auto size = static_cast<size_t>(size_of(value.dtype()));
  for (size_t at = size; at < bytes.size(); at += size) {
    if (!std::ranges::equal(bytes.subspan(at, size), bytes.first(size))) return std::nullopt;
  }
  if (!is_float(value.dtype())) return Number(load_as_i64(value.dtype(), bytes.data()));
  const double real = load_as_f64(value.dtype(), bytes.data());
  if (real == 0 && std::signbit(real)) return std::nullopt;
  return Number(real);
}

// The graph as the matcher sees it.
struct Adaptor {
  using Term = Value;
  Graph& graph;

  OpId op(const Term& term) const { return static_cast<OpId>(term.op()); }
  int arity(const Term& term) const { return term.node->operand_count(); }
  Term arg(const Term& term, int i) const { return term.node->operand(i); }
  std::optional<Number> constant(const Term& term) const { return splat(term); }
  bool same(const Term& a, const Term& b) const { return a == b; }
  bool is_commutative(OpId op) const {
    return op < graph::kOpCount && graph::has(static_cast<Op>(op), graph::kCommutative);
  }
  OpId resolve(OpId verb) const {
    switch (verb) {
      case rewrite::kAdd:
        return static_cast<OpId>(Op::Add);
      case rewrite::kSub:
        return static_cast<OpId>(Op::Sub);
      case rewrite::kMul:
        return static_cast<OpId>(Op::Mul);
      case rewrite::kDiv:
        return static_cast<OpId>(Op::Div);
      case rewrite::kNeg:
        return static_cast<OpId>(Op::Neg);
      case rewrite::kMin:
        return static_cast<OpId>(Op::Min);
      case rewrite::kMax:
        return static_cast<OpId>(Op::Max);
      default:
        return verb;
    }
  }
  Term make(OpId op, std::span<const Term> args, const Term&) const {
    return graph.apply(static_cast<Op>(op), {args.begin(), args.end()});
  }
  Term make_constant(const Number& number, const Term& like) const {
    return graph.scalar(like.dtype(), number.real);
  }
};

// One step on one value; empty where nothing applies.
Value step(Graph& g, const Value& value) {
  if (value.node->result_count() != 1) return {};
  if (graph::has(value.op(), graph::kElementwise)) {
    Adaptor adaptor{g};
    if (const auto applied =
            rewrite::apply_first(kRules, domain_of(value.dtype()), adaptor, value)) {
      return spread_like(g, applied->term, value.type());
    }
  }
  return move_step(g, value);
}

}  // namespace

std::span<const Rule> algebra_rules() { return kRules; }

Graph algebra(const Graph& source) {
  return graph::rebuild(source, [](Graph& g, const Node& node, std::span<const Value> operands) {
    std::vector<Value> none;
    if (graph::has(node.op(), graph::kLeaf) || node.result_count() != 1) return none;
    constexpr int kSteps = 32;  // a rule's result may match another rule
    const bool same = std::ranges::equal(operands, node.operands());
    Value value = same ? Value{&node}
                       : g.apply(node.op(), {operands.begin(), operands.end()}, node.attributes());
    for (int i = 0; i < kSteps; ++i) {
      const Value next = step(g, value);
      if (!next) break;
      value = next;
    }
    return std::vector{value};
  });
}

}  // namespace tenon::simplify
