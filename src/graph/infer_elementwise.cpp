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

void cast(Inference& op) {
  const Attributes& attributes = op.attributes();
  const AttributeValue* rounding = attributes.find("rounding");
  if (rounding != nullptr) {
    const std::string& name = attributes.text("rounding");
    if (name != "up" && name != "down" && name != "nearest") throw op.fail("unknown rounding");
  }
  op.result(op.operand(0).shape, attributes.dtype("dtype"));
}

void bit_cast(Inference& op) {
  const DType from = op.operand(0).dtype, to = op.attributes().dtype("dtype");
  if (info(from).bits != info(to).bits) {
    throw op.fail(fmt::format("{} has other bits than {}", to_string(to), to_string(from)));
  }
  op.result(op.operand(0).shape, to);
}

void binary(Inference& op) {
  const TensorType &a = op.operand(0), &b = op.operand(1);
  check_same_dtype(op, 0, 1);
  check_dtype(op, a.dtype);
  op.result(op.broadcast(a.shape.dims(), b.shape.dims()),
            has(op.op(), kCompare) ? DType::Bool : a.dtype);
}

void bitwise(Inference& op) {
  if (!is_integer(op.operand(0).dtype)) throw op.fail("needs integer operands");
  binary(op);
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

void reduce_over(Inference& op) {
  const TensorType &x = op.operand(0), &axes = op.operand(1);
  const std::optional<Op> reduction = parse_op(op.attributes().text("op"));
  if (!reduction || !has(*reduction, kReduction)) throw op.fail("has no such reduction");
  if (!is_integer(axes.dtype) || axes.shape.rank() > 1) throw op.fail("axes must be integers");
  if (x.dtype == DType::Bool || (has(*reduction, kFloatOnly) && !is_float(x.dtype))) {
    throw op.fail("does not reduce this dtype");
  }
  const std::vector<Dim>& shape = op.attributes().dims("shape");
  const int rank = static_cast<int>(shape.size());
  if (rank > x.shape.rank() || (op.attributes().integer("keep") != 0 && rank != x.shape.rank())) {
    throw op.fail("the result has the wrong rank");
  }
  op.check_extents(shape);
  op.result(Shape(shape), x.dtype);
}

void arg_reduce(Inference& op) {
  const TensorType& x = op.operand(0);
  check_dtype(op, x.dtype);
  std::vector<Dim> dims = x.shape.dims();
  Dim& extent = dims[static_cast<size_t>(op.attributes().integer("axis"))];
  op.at_most(1, extent, "there is no element to choose");
  extent = 1;
  op.result(Shape(std::move(dims)), DType::I64);
}

void cumulate(Inference& op) {
  const TensorType& x = op.operand(0);
  check_dtype(op, x.dtype);
  const bool known = op.attributes().find("axis") != nullptr;
  if (known == (op.operand_count() == 2)) throw op.fail("needs one axis");
  if (!known && (!is_integer(op.operand(1).dtype) || op.operand(1).shape.rank() > 1)) {
    throw op.fail("the axis must be one integer");
  }
  op.result(x.shape, x.dtype);
}

void det(Inference& op) {
  const TensorType& x = op.operand(0);
  check_dtype(op, x.dtype);
  const int rank = x.shape.rank();
  if (rank < 2) throw op.fail("needs a matrix");
  op.same(x.shape[rank - 2], x.shape[rank - 1], "a matrix must be square");
  op.result(Shape({x.shape.begin(), x.shape.end() - 2}), x.dtype);
}

void random(Inference& op) {
  const DType dtype = op.attributes().dtype("dtype");
  if (!is_float(dtype) || is_storage_only(dtype)) throw op.fail("needs a floating-point dtype");
  op.check_extents(op.attributes().dims("shape"));
  op.result(Shape(op.attributes().dims("shape")), dtype);
}

void softmax(Inference& op) {
  check_dtype(op, op.operand(0).dtype);
  op.result(op.operand(0).shape, op.operand(0).dtype);
}

}  // namespace tenon::graph::rules
