// See exact.h.
#include "tools/replay/exact.h"

#include <algorithm>

namespace tenon::replay {

using graph::Node;
using graph::Op;

namespace {

// Whatever the dtype: results are elements of operands, or rounded once from them.
constexpr Op kChoosing[] = {
    Op::Neg,       Op::Abs,       Op::Relu,      Op::Min,       Op::Max,       Op::Where,
    Op::Cast,      Op::BitCast,   Op::Sign,      Op::Floor,     Op::Ceil,      Op::Round,
    Op::Gather,    Op::ReduceMax, Op::ReduceMin, Op::GatherND,  Op::ArgMax,    Op::ArgMin,
    Op::TopK,      Op::Unique,    Op::NonZero,   Op::MaxPool,   Op::MaxUnpool, Op::Frames,
    Op::SliceTo,   Op::Pad,       Op::ExpandTo,  Op::ReshapeTo, Op::Define,    Op::GatherElements,
    Op::CountGrams};
// f32 and f64 as IEEE has them. (Floats of 16 bits are rounded where they are stored only.)
constexpr Op kRounding[] = {Op::Add, Op::Sub, Op::Mul, Op::Div, Op::Sqrt, Op::Reciprocal};
// Which write elements as they are, unless they combine them.
constexpr Op kScattering[] = {Op::ScatterElements, Op::ScatterND};

template <size_t n>
bool is_one_of(Op op, const Op (&list)[n]) {
  return std::ranges::find(list, op) != std::end(list);
}

bool keeps_bits(const Node& node) {
  const Op op = node.op();
  if (has(op, graph::kLeaf) || has(op, graph::kMovement) || has(op, graph::kCompare)) return true;
  if (is_one_of(op, kChoosing)) return true;
  if (is_one_of(op, kScattering) && node.attributes().text("reduction") == "none") return true;
  return std::ranges::none_of(node.types(), [&](const TensorType& type) {
    const bool rounds_once = type.dtype == DType::F32 || type.dtype == DType::F64;
    return is_float(type.dtype) && !(rounds_once && is_one_of(op, kRounding));
  });
}

}  // namespace

bool Exactness::operator()(graph::Value value) {
  if (const auto found = known_.find(value.node); found != known_.end()) return found->second;
  bool exact = keeps_bits(*value.node);
  for (const graph::Value& operand : value.node->operands()) exact = (*this)(operand) && exact;
  return known_[value.node] = exact;
}

}  // namespace tenon::replay
