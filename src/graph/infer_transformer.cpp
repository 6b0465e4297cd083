// Inference of rotary positions and of linear attention.
#include "graph/infer_checks.h"

namespace tenon::graph::rules {

namespace {

void check_shape(Inference& op, int operand, const std::vector<Dim>& wanted,
                 std::string_view what) {
  const Shape& shape = op.operand(operand).shape;
  for (int i = 0; i < 4; ++i) op.same(shape[i], wanted[static_cast<size_t>(i)], what);
}

}  // namespace

void rotary(Inference& op) {
  check_float(op, 0);
  check_dtypes(op, 3);
  checked_integer(op, "interleaved", kFlag);
  const int64_t heads = checked_integer(op, "heads", {1, int64_t{1} << 31});
  const Shape& x = op.operand(0).shape;
  if (x.rank() != 3) throw op.fail("x needs three axes");
  if (!x[2].is_const()) throw op.unsupported("the last extent of x must be a constant");
  const int64_t width = x[2].const_value();
  if (width % heads != 0) {
    throw op.fail(fmt::format("the last extent of x is no multiple of {} heads", heads));
  }
  for (int i = 1; i < 3; ++i) {
    const Shape& angles = op.operand(i).shape;
    const int rank = angles.rank();
    if (rank != 2 && rank != 3) throw op.fail("cos and sin need two or three axes");
    if (rank != op.operand(1).shape.rank()) throw op.fail("cos and sin differ in rank");
    if (!angles[rank - 1].is_const())
      throw op.unsupported("the count of angles must be a constant");
    op.same(angles[rank - 1], op.operand(1).shape[rank - 1], "angles of cos and sin");
    op.same(angles[rank - 2], x[1], "lengths of x and of cos and sin");
    if (rank == 3) op.same(angles[0], x[0], "batches of x and of cos and sin");
    if (2 * angles[rank - 1].const_value() > width / heads) {
      throw op.fail("there are more angles than pairs of elements in a head");
    }
  }
  op.result(x, op.operand(0).dtype);
}

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
