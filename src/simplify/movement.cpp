// The table of identities with attributes. Each function looks at one node and its operands' nodes
// and gives what the node is equal to, or nothing.
#include "simplify/movement.h"

#include <algorithm>
#include <cmath>
#include <numeric>

#include "base/error.h"
#include "graph/infer.h"
#include "simplify/simplify.h"

namespace tenon::simplify {

using graph::Attributes;
using graph::Graph;
using graph::Node;
using graph::Op;
using graph::Value;

namespace {

bool is(const Value& value, Op op) { return value.op() == op; }

Value same_type(Graph&, const Node& node) {  // reshape, expand or cast to what it is already
  return node.operand(0).type() == node.types()[0] ? node.operand(0) : Value();
}

Value transpose_identity(Graph&, const Node& node) {
  const std::vector<int64_t>& perm = node.attributes().integers("perm");
  return std::ranges::is_sorted(perm) ? node.operand(0) : Value();
}

Value transpose_of_transpose(Graph& g, const Node& node) {
  const Value inner = node.operand(0);
  if (!is(inner, Op::Transpose)) return {};
  std::vector<int64_t> perm;
  for (const int64_t axis : node.attributes().integers("perm")) {
    perm.push_back(inner.node->attributes().integers("perm")[static_cast<size_t>(axis)]);
  }
  return g.transpose(inner.node->operand(0), std::move(perm));
}

Value reshape_of_reshape(Graph& g, const Node& node) {
  const Value inner = node.operand(0);
  if (!is(inner, Op::Reshape)) return {};
  return g.reshape(inner.node->operand(0), node.attributes().dims("shape"));
}

Value expand_of_expand(Graph& g, const Node& node) {
  const Value inner = node.operand(0);
  if (!is(inner, Op::Expand)) return {};
  return g.expand(inner.node->operand(0), node.attributes().dims("shape"));
}

// f64 is the promotion of i64 too, but does not hold all of it.
bool holds_all_of(DType wide, DType narrow) {
  if (is_integer(narrow) && info(narrow).bits == 64) return false;
  return wide != narrow && promote(wide, narrow) == wide;
}

Value cast_there_and_back(Graph&, const Node& node) {
  const Value inner = node.operand(0);
  if (!is(inner, Op::Cast)) return {};
  const Value x = inner.node->operand(0);
  const bool lossless =
      x.dtype() == node.types()[0].dtype && holds_all_of(inner.dtype(), x.dtype());
  return lossless ? x : Value();
}

Value slice_whole(Graph&, const Node& node) {
  const auto& starts = node.attributes().dims("starts");
  const auto& steps = node.attributes().integers("steps");
  const bool from_zero = std::ranges::all_of(starts, [](const Dim& d) { return d.is_const(0); });
  const bool by_one = std::ranges::all_of(steps, [](int64_t s) { return s == 1; });
  return from_zero && by_one && node.types()[0] == node.operand(0).type() ? node.operand(0)
                                                                          : Value();
}

Value slice_of_slice(Graph& g, const Node& node) {
  const Value inner = node.operand(0);
  if (!is(inner, Op::Slice)) return {};
  const Attributes &outer_list = node.attributes(), &inner_list = inner.node->attributes();
  std::vector<Dim> starts;
  std::vector<int64_t> steps;
  for (size_t i = 0; i < outer_list.integers("steps").size(); ++i) {
    const int64_t step = inner_list.integers("steps")[i];
    int64_t product = 0;
    if (__builtin_mul_overflow(step, outer_list.integers("steps")[i], &product)) return {};
    if (std::abs(product) > (int64_t{1} << 40)) return {};
    starts.push_back(inner_list.dims("starts")[i] + outer_list.dims("starts")[i] * step);
    steps.push_back(product);
  }
  return g.slice(inner.node->operand(0), std::move(starts), outer_list.dims("extents"),
                 std::move(steps));
}

Value concat_of_one(Graph&, const Node& node) {
  return node.operand_count() == 1 ? node.operand(0) : Value();
}

// Groups of one element. A float sum starts at +0, which turns -0 into +0, so only the others are
// exact.
Value reduce_of_one(Graph&, const Node& node) {
  const bool exact =
      !is_float(node.types()[0].dtype) || node.op() == Op::ReduceMax || node.op() == Op::ReduceMin;
  return exact && node.types()[0] == node.operand(0).type() ? node.operand(0) : Value();
}

// x / 2^k is x * 2^-k, exactly, while 2^-k is a normal number of the type.
Value div_by_power_of_two(Graph& g, const Node& node) {
  const Value divisor = node.operand(1);
  if (!is_float(node.types()[0].dtype) || !is(divisor, Op::Constant)) return {};
  const auto size = static_cast<size_t>(size_of(divisor.dtype()));
  std::vector<std::byte> bytes(divisor.node->bytes().size());
  for (size_t at = 0; at < bytes.size(); at += size) {
    int exponent = 0;
    const double value = load_as_f64(divisor.dtype(), divisor.node->bytes().data() + at);
    if (std::fabs(std::frexp(value, &exponent)) != 0.5 || std::abs(exponent) > 12) return {};
    store_from_f64(divisor.dtype(), bytes.data() + at, 1 / value);
  }
  return g.mul(node.operand(0), g.constant(divisor.type(), {bytes, nullptr}));
}

// An elementwise op broadcasts by itself: an expanded operand is used as it was, where that changes
// no type.
Value expand_into_elementwise(Graph& g, const Node& node) {
  std::vector<Value> operands(node.operands().begin(), node.operands().end());
  bool changed = false;
  for (Value& operand : operands) {
    if (!is(operand, Op::Expand)) continue;
    const Value kept = operand;
    operand = operand.node->operand(0);
    graph::Inference inference(node.op(), operands, node.attributes());
    graph::infer(inference);
    const bool same = inference.results()[0] == node.types()[0] && inference.constraints().empty();
    if (same) changed = true;
    if (!same) operand = kept;
  }
  return changed ? g.apply(node.op(), operands, node.attributes()) : Value();
}

struct Identity {
  std::string_view name;
  bool (*applies)(Op);
  Value (*rewrite)(Graph&, const Node&);
};

template <Op op>
bool to(Op candidate) {
  return candidate == op;
}

bool to_elementwise(Op op) {
  return graph::has(op, graph::kElementwise) && graph::info(op).least >= 2;
}
bool to_reduction(Op op) { return graph::has(op, graph::kReduction); }

constexpr Identity kIdentities[] = {
    {"reshape-to-same", to<Op::Reshape>, same_type},
    {"expand-to-same", to<Op::Expand>, same_type},
    {"cast-to-same", to<Op::Cast>, same_type},
    {"transpose-identity", to<Op::Transpose>, transpose_identity},
    {"transpose-of-transpose", to<Op::Transpose>, transpose_of_transpose},
    {"reshape-of-reshape", to<Op::Reshape>, reshape_of_reshape},
    {"expand-of-expand", to<Op::Expand>, expand_of_expand},
    {"cast-there-and-back", to<Op::Cast>, cast_there_and_back},
    {"slice-whole", to<Op::Slice>, slice_whole},
    {"slice-of-slice", to<Op::Slice>, slice_of_slice},
    {"concat-of-one", to<Op::Concat>, concat_of_one},
    {"reduce-of-one", to_reduction, reduce_of_one},
    {"div-by-power-of-two", to<Op::Div>, div_by_power_of_two},
    {"expand-into-elementwise", to_elementwise, expand_into_elementwise},
};

}  // namespace

Value move_step(Graph& g, const Value& value) {
  for (const Identity& identity : kIdentities) {
    if (!identity.applies(value.op())) continue;
    if (const Value next = identity.rewrite(g, *value.node)) return next;
  }
  return {};
}

Value spread_like(Graph& g, const Value& value, const TensorType& type) {
  return value.shape() == type.shape ? value : g.expand(value, type.shape.dims());
}

std::vector<std::string_view> movement_names() {
  std::vector<std::string_view> names;
  for (const Identity& identity : kIdentities) names.push_back(identity.name);
  return names;
}

}  // namespace tenon::simplify
