// The rules of shape values, one table. Ops that move elements need no rule of their own: the
// interpreter moves the numbers 0, 1, 2, ... in place of the Dims, and the result says which Dim
// went where.
#include "graph/shape_value.h"

#include <algorithm>
#include <limits>
#include <numeric>

#include "base/error.h"
#include "graph/evaluate.h"
#include "graph/op_table.h"

namespace tenon::graph {

namespace {

using Elements = std::vector<Dim>;
using Found = std::vector<std::optional<Elements>>;
using Rule = Found (*)(const Node&);

bool carries(const TensorType& type) {
  if (type.dtype != DType::I64 && type.dtype != DType::I32 && type.dtype != DType::Bool)
    return false;
  if (!type.shape.is_static()) return false;
  int64_t count = 1;
  for (const Dim& extent : type.shape) {
    if (extent.const_value() > kShapeValueLimit) return false;
    count *= extent.const_value();
    if (count > kShapeValueLimit) return false;
  }
  return true;
}

Extents extents_of(const TensorType& type) {
  Extents extents;
  for (const Dim& dim : type.shape) extents.push_back(dim.const_value());
  return extents;
}

// A Dim is an i64 in all; where the tensor is narrower it must fit, or the model would see it wrap.
bool fits(DType dtype, const Dim& dim) {
  if (dtype == DType::I64) return true;
  const Bounds bounds = dim.bounds();
  const Bounds range = dtype == DType::Bool ? Bounds{0, 1}
                                            : Bounds{std::numeric_limits<int32_t>::min(),
                                                     std::numeric_limits<int32_t>::max()};
  return bounds.lo >= range.lo && bounds.hi <= range.hi;
}

Found found(const Node& node, Elements elements) {
  for (const Dim& element : elements) {
    if (!fits(node.types()[0].dtype, element)) return {};
  }
  return {std::move(elements)};
}

Found constant(const Node& node) {
  const auto size = static_cast<size_t>(size_of(node.types()[0].dtype));
  Elements elements;
  for (size_t at = 0; at < node.bytes().size(); at += size) {
    elements.emplace_back(load_as_i64(node.types()[0].dtype, node.bytes().data() + at));
  }
  return {std::move(elements)};
}

Found dims(const Node& node) { return {node.attributes().dims("values")}; }

Found cast(const Node& node) {
  const auto& from = node.operand(0).shape_value();
  if (!from) return {};
  if (node.types()[0].dtype != DType::Bool || node.operand(0).dtype() == DType::Bool) {
    return found(node, *from);
  }
  Elements elements;
  for (const Dim& element : *from) {
    const Proof zero = prove_equal(element, 0);
    if (zero == Proof::Unknown) return {};
    elements.emplace_back(zero == Proof::No ? 1 : 0);
  }
  return {std::move(elements)};
}

std::optional<Dim> decided(Proof proof) {
  if (proof == Proof::Unknown) return std::nullopt;
  return Dim(proof == Proof::Yes ? 1 : 0);
}

std::optional<Dim> combine(Op op, const Dim& a, const Dim& b) {
  switch (op) {
    case Op::Add:
      return a + b;
    case Op::Sub:
      return a - b;
    case Op::Mul:
      return a * b;
    case Op::Div:  // truncates, which is floordiv where nothing is negative
      if (a.bounds().lo < 0 || b.bounds().lo < 1) return std::nullopt;
      return floordiv(a, b);
    case Op::Remainder:
      if (a.bounds().lo < 0) return std::nullopt;
      [[fallthrough]];
    case Op::Mod:
      if (b.bounds().lo < 1) return std::nullopt;
      return mod(a, b);
    case Op::Min:
      return min(a, b);
    case Op::Max:
      return max(a, b);
    case Op::Equal:
      return decided(prove_equal(a, b));
    case Op::Less:
      return decided(prove_lt(a, b));
    case Op::LessEqual:
      return decided(prove_le(a, b));
    case Op::And:
      return min(a, b);
    case Op::Or:
      return max(a, b);
    default:
      return std::nullopt;
  }
}

Found binary(const Node& node) {
  const auto &a = node.operand(0).shape_value(), &b = node.operand(1).shape_value();
  if (!a || !b) return {};
  const Extents to = extents_of(node.types()[0]);
  const std::vector<int64_t> at_a = spread_offsets(extents_of(node.operand(0).type()), to);
  const std::vector<int64_t> at_b = spread_offsets(extents_of(node.operand(1).type()), to);
  Elements elements;
  for (size_t i = 0; i < at_a.size(); ++i) {
    const std::optional<Dim> element =
        combine(node.op(), (*a)[static_cast<size_t>(at_a[i])], (*b)[static_cast<size_t>(at_b[i])]);
    if (!element) return {};
    elements.push_back(*element);
  }
  return found(node, std::move(elements));
}

// Of a vector to one element.
Found reduced(const Node& node) {
  const auto& x = node.operand(0).shape_value();
  if (!x || node.operand(0).shape().rank() != 1) return {};
  if (node.attributes().integers("axes").empty()) return {};
  const bool product = node.op() == Op::ReduceProd;
  Dim result = product ? 1 : 0;
  for (const Dim& element : *x) result = product ? result * element : result + element;
  return found(node, {result});
}

Found unary(const Node& node) {
  const auto& x = node.operand(0).shape_value();
  if (!x) return {};
  Elements elements;
  for (const Dim& element : *x) {
    elements.push_back(node.op() == Op::Neg   ? 0 - element
                       : node.op() == Op::Not ? 1 - element
                                              : max(element, 0 - element));
  }
  return found(node, std::move(elements));
}

// `numbered` operands hold the Dims that move; the others (indices, a condition) must be constants.
Found moved_by(const Node& node, std::span<const int> numbered) {
  for (const TensorType& type : node.types()) {
    if (!carries(type)) return {};
  }
  std::vector<Tensor> tensors;
  Elements pool;
  for (int i = 0; i < node.operand_count(); ++i) {
    const auto& value = node.operand(i).shape_value();
    if (!value) return {};
    std::vector<int64_t> integers;
    const bool moves = std::ranges::find(numbered, i) != numbered.end();
    for (const Dim& element : *value) {
      if (!moves && !element.is_const()) return {};
      integers.push_back(moves ? static_cast<int64_t>(pool.size()) : element.const_value());
      if (moves) pool.push_back(element);
    }
    const DType dtype = moves ? DType::I64 : node.operand(i).dtype();
    tensors.push_back(from_integers(dtype, extents_of(node.operand(i).type()), integers));
  }
  for (const auto& [name, value] : node.attributes().items()) {
    if (const auto* list = std::get_if<Elements>(&value)) {
      for (const Dim& dim : *list) {
        if (!dim.is_const()) return {};
      }
    }
  }
  std::vector<const Tensor*> pointers;
  pointers.reserve(tensors.size());
  for (const Tensor& tensor : tensors) pointers.push_back(&tensor);
  Found results;
  for (const Tensor& result :
       evaluate(node, pointers, [](const Symbol&) { return std::nullopt; })) {
    Elements& elements = results.emplace_back(Elements()).value();
    for (const int64_t number : to_integers(result))
      elements.push_back(pool[static_cast<size_t>(number)]);
  }
  return results;
}

Found moved(const Node& node) {
  std::vector<int> all(static_cast<size_t>(node.operand_count()));
  std::iota(all.begin(), all.end(), 0);
  return moved_by(node, all);
}

Found gather(const Node& node) { return moved_by(node, std::array{0}); }

// As far as nothing is computed: the elements of a reduction are no moved ones.
Found scatter(const Node& node) {
  if (node.attributes().text("reduction") != "none") return {};
  return moved_by(node, std::array{0, 2});
}

// start + i * delta, however many there are.
Found range(const Node& node) {
  const auto &start = node.operand(0).shape_value(), &delta = node.operand(2).shape_value();
  if (!start || !delta) return {};
  Elements elements;
  for (int64_t i = 0; i < node.types()[0].shape[0].const_value(); ++i) {
    elements.push_back((*start)[0] + (*delta)[0] * i);
  }
  return found(node, std::move(elements));
}

// Elements that must be constants to say anything.
Found folded(const Node& node) {
  const auto& x = node.operand(0).shape_value();
  if (!x || !std::ranges::all_of(*x, [](const Dim& dim) { return dim.is_const(); })) return {};
  std::vector<int64_t> integers;
  for (const Dim& dim : *x) integers.push_back(dim.const_value());
  const Tensor operand =
      from_integers(node.operand(0).dtype(), extents_of(node.operand(0).type()), integers);
  const Tensor* const operands[] = {&operand};
  Elements elements;
  for (const int64_t number :
       to_integers(evaluate(node, operands, [](const Symbol&) { return std::nullopt; })[0])) {
    elements.emplace_back(number);
  }
  return found(node, std::move(elements));
}

Found where(const Node& node) { return moved_by(node, std::array{1, 2}); }

constexpr auto kRules = partial_op_table<Rule>({
    {Op::Constant, constant}, {Op::Dims, dims},          {Op::Cast, cast},
    {Op::Neg, unary},         {Op::Abs, unary},          {Op::Not, unary},
    {Op::Add, binary},        {Op::Sub, binary},         {Op::Mul, binary},
    {Op::Div, binary},        {Op::Min, binary},         {Op::Max, binary},
    {Op::Equal, binary},      {Op::Less, binary},        {Op::LessEqual, binary},
    {Op::And, binary},        {Op::Or, binary},          {Op::Where, where},
    {Op::Reshape, moved},     {Op::Transpose, moved},    {Op::Expand, moved},
    {Op::Slice, moved},       {Op::Concat, moved},       {Op::Split, gather},
    {Op::Gather, gather},     {Op::Mod, binary},         {Op::Remainder, binary},
    {Op::ReduceSum, reduced}, {Op::ReduceProd, reduced}, {Op::GatherElements, gather},
    {Op::GatherND, gather},   {Op::ScatterND, scatter},  {Op::ScatterElements, scatter},
    {Op::Range, range},       {Op::NonZero, folded},
});

}  // namespace

std::vector<std::optional<std::vector<Dim>>> compute_shape_values(const Node& node) {
  const Rule rule = kRules[static_cast<size_t>(node.op())];
  if (rule == nullptr) return {};
  if (!carries(node.types()[0]) && node.op() != Op::Dims) return {};
  try {
    return rule(node);
  } catch (const Error&) {  // arithmetic beyond i64, an index out of range: nothing is known at
                            // compile time
    return {};
  }
}

}  // namespace tenon::graph
