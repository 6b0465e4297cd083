// Inference of linear attention.
#include "graph/infer.h"

namespace tenon::graph::rules {

namespace {

void check_shape(Inference& op, int operand, const std::vector<Dim>& wanted,
                 std::string_view what) {
  const Shape& shape = op.operand(operand).shape;
  for (int i = 0; i < 4; ++i) op.same(shape[i], wanted[static_cast<size_t>(i)], what);
}

}  // namespace

void linear_attention(Inference& op) {
  for (int i = 0; i < op.operand_count(); ++i) {
    if (op.operand(i).shape.rank() != 4) throw op.fail("operands need four axes");
    if (!is_float(op.operand(i).dtype)) throw op.fail("needs floating-point operands");
    if (op.operand(i).dtype != op.operand(0).dtype) throw op.fail("operands differ in dtype");
  }
  const int64_t delta = op.attributes().integer("delta");
  if (delta != 0 && delta != 1) throw op.fail("delta must be 0 or 1");
  const Shape &q = op.operand(0).shape, &v = op.operand(2).shape;
  const Dim &batch = q[0], &heads = q[1], &time = q[2], &key = q[3], &states = v[1], &value = v[3];
  if (!heads.is_const() || !states.is_const()) throw op.unsupported("heads must be constants");
  if (states.is_const(0) || heads.const_value() % states.const_value() != 0) {
    throw op.fail("the heads are no multiple of the states");
  }
  check_shape(op, 1, {batch, states, time, key}, "extents of query and key");
  check_shape(op, 2, {batch, states, time, value}, "extents of query and value");
  check_shape(op, 3, {batch, states, key, value}, "extents of the state");
  check_shape(op, 4, {batch, states, time, key}, "extents of the decay");
  check_shape(op, 5, {batch, states, time, 1}, "extents of the rate");
  op.result({batch, heads, time, value}, op.operand(0).dtype);
  op.result(op.operand(3).shape, op.operand(0).dtype);
}

}  // namespace tenon::graph::rules
