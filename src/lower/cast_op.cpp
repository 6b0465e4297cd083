// Conversions between dtypes. Values come and go in the dtype that they are computed in, so a cast
// to a 16-bit float rounds to it and stays f32.
#include "graph/cast_rounding.h"
#include "lower/region.h"

namespace tenon::lower {

using namespace kernel;

ExprRef cast_op(const graph::Node& node, const ExprRef& x) {
  const DType to = node.types()[0].dtype;
  const bool narrow_float = is_storage_only(to) && is_float(to);
  if (!narrow_float) return cast(cast(x, to), computed_in(to));
  // What is narrow itself is a number first.
  const ExprRef wide = is_computed(x->dtype) ? x : cast(x, DType::F32);
  return encode_narrow(wide, to, graph::cast_rounding(node.attributes()));
}

ExprRef bit_cast_op(const graph::Node& node, const ExprRef& x) {
  const DType from = node.operand(0).dtype(), to = node.types()[0].dtype;
  const ExprRef bits = from == DType::Bool ? cast(x, DType::U8) : cast(x, from);
  if (to == DType::Bool) return cast(bit_cast(bits, DType::U8), to);
  return cast(bit_cast(bits, to), computed_in(to));
}

}  // namespace tenon::lower
