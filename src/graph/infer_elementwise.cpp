// Inference of elementwise ops: one dtype for all operands, shapes broadcast as NumPy does. No
// dtype is converted silently: a mixed operation is an error that names cast.
#include "graph/infer.h"

namespace tenon::graph::rules {

namespace {

// What the traits ask of the operands' dtype.
void check_dtype(const Inference& op, DType dtype) {
  if (has(op.op(), kFloatOnly) && !is_float(dtype)) throw op.fail("needs a floating-point operand");
  if (has(op.op(), kBoolOnly)) {
    if (dtype != DType::Bool) throw op.fail("needs bool operands");
  } else if (dtype == DType::Bool && op.op() != Op::Equal) {
    throw op.fail("has no meaning for bool");
  }
}

void check_same_dtype(const Inference& op, int a, int b) {
  const DType left = op.operand(a).dtype, right = op.operand(b).dtype;
  if (left != right) {
    throw op.fail(fmt::format("operands have different dtypes, {} and {} (cast one of them)",
                              to_string(left), to_string(right)));
  }
}

}  // namespace

void unary(Inference& op) {
  const TensorType& x = op.operand(0);
  check_dtype(op, x.dtype);
  op.result(x.shape, x.dtype);
}

void cast(Inference& op) { op.result(op.operand(0).shape, op.attributes().dtype("dtype")); }

void binary(Inference& op) {
  const TensorType &a = op.operand(0), &b = op.operand(1);
  check_same_dtype(op, 0, 1);
  check_dtype(op, a.dtype);
  op.result(op.broadcast(a.shape.dims(), b.shape.dims()),
            has(op.op(), kCompare) ? DType::Bool : a.dtype);
}

void where(Inference& op) {
  if (op.operand(0).dtype != DType::Bool) throw op.fail("the condition must be bool");
  check_same_dtype(op, 1, 2);
  const Shape values = op.broadcast(op.operand(1).shape.dims(), op.operand(2).shape.dims());
  op.result(op.broadcast(op.operand(0).shape.dims(), values.dims()), op.operand(1).dtype);
}

void reduce(Inference& op) {
  const TensorType& x = op.operand(0);
  check_dtype(op, x.dtype);
  std::vector<Dim> dims = x.shape.dims();
  for (const int64_t axis : op.attributes().integers("axes")) dims[static_cast<size_t>(axis)] = 1;
  op.result(Shape(std::move(dims)), x.dtype);
}

void softmax(Inference& op) {
  check_dtype(op, op.operand(0).dtype);
  op.result(op.operand(0).shape, op.operand(0).dtype);
}

}  // namespace tenon::graph::rules
